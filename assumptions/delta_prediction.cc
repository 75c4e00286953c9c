#include "assumptions/delta_prediction.h"

#include <map>
#include <mutex>
#include <tuple>

#include "assumptions/iid_prediction.h"
#include "assumptions/overlap_prediction.h"

namespace residuum {
namespace {

/// Returns what compute() gave at the first call with this key.
template <class Key, class Compute>
std::optional<double> remembered(const Key& key, const Compute& compute) {
  static std::mutex guard;
  static std::map<Key, std::optional<double>> memory;
  const std::lock_guard lock(guard);
  const auto found = memory.find(key);
  return found != memory.end() ? found->second : memory.emplace(key, compute()).first->second;
}

DeltaPrediction predict_exact(double rho, double workers, const EntryLaw& entries) {
  constexpr double kMostWorkers = 1e6;
  const int count = workers <= kMostWorkers ? static_cast<int>(workers) : 0;
  return {.delta = remembered(std::tuple(entries.kind, rho, count),
                              [&] { return overlapping_delta_iid(rho, count, entries); }),
          .largest_workers = remembered(std::tuple(entries.kind, rho), [&] {
            const auto limit = largest_workers_overlapping(rho, entries);
            return limit ? std::optional<double>(*limit) : std::nullopt;
          })};
}

DeltaPrediction predict_largest(const SelectionLaws& laws,
                                double rho,
                                double workers,
                                const EntryLaw& entries) {
  if (laws.applies_whole_messages) {
    return {.delta = predicted_delta_iid(Combination::whole, rho, workers, entries),
            .largest_workers = std::nullopt};
  }
  if (!laws.selects_largest) {
    return {};
  }
  if (laws.completes_support) {
    return {.delta = predicted_delta_iid(Combination::completed, rho, workers, entries),
            .largest_workers = std::nullopt};
  }
  if (laws.cuts_in_merges) {
    return {.delta = predicted_delta_iid(Combination::selected, rho, workers, entries),
            .largest_workers = largest_workers_iid(rho, entries)};
  }
  return predict_exact(rho, workers, entries);
}

}  // namespace

DeltaPrediction predict_delta(const SelectionLaws& laws,
                              double rho,
                              double workers,
                              const EntryLaw& entries) {
  if (!(rho > 0 && rho < 1)) {
    return {};
  }
  const bool is_never_cut = laws.applies_whole_messages || laws.selects_largest;
  if (laws.shares_support && laws.exact_contraction && is_never_cut) {
    return {.delta = (1 - *laws.exact_contraction) / (1 - rho), .largest_workers = std::nullopt};
  }
  if (!laws.keeps_largest || !laws.remembers_residuals) {
    return {};
  }
  return predict_largest(laws, rho, workers, entries);
}

}  // namespace residuum
