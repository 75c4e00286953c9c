#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/optimisers/optimiser.h"

namespace residuum {

std::unique_ptr<Optimiser> make_local_momentum(const Section& section);
std::unique_ptr<Optimiser> make_adamw(const Section& section);
std::unique_ptr<Optimiser> make_lion(const Section& section);
std::unique_ptr<Optimiser> make_muon(const Section& section);

namespace {

constexpr auto kOptimisers = std::to_array<Entry<Optimiser>>({
    {"momentum",
     "heavy ball, or Nesterov's form of it, on each worker's own gradients",
     "Sutskever et al., ICML 2013",
     "{}",
     make_local_momentum},
    {"adamw",
     "means of gradients over roots of means of squares, with decay of weights apart",
     "Loshchilov, Hutter, ICLR 2019",
     "{}",
     make_adamw},
    {"lion",
     "signs of a mean of gradients, with decay of weights apart",
     "Chen et al., NeurIPS 2023",
     "{}",
     make_lion},
    {"muon",
     "momentum, made orthogonal layer by layer by Newton-Schulz steps; AdamW for vectors",
     "Jordan et al. 2024; Liu et al. 2025 (arXiv 2502.16982)",
     "{}",
     make_muon},
});

}  // namespace

std::span<const Entry<Optimiser>> optimisers() { return registry_of<Optimiser>(kOptimisers); }

std::unique_ptr<Optimiser> make_optimiser(const Section& section) {
  return make_optional_from(optimisers(), {.key = "optimiser", .none = "sgd"}, section);
}

std::vector<std::uint64_t> memory_periods_from(const Section& section, const Optimiser& optimiser) {
  constexpr const char* kKey = "average_every";
  constexpr std::int64_t kMost = 1'000'000;
  if (!section.has(kKey)) {
    return {};
  }
  const auto given = section.given()[kKey];
  const auto is_period = [](const nlohmann::json& period) {
    return period.is_number_integer() && period >= 0 && period <= kMost;
  };
  require(given.is_array() && given.size() == optimiser.vectors() &&
              std::all_of(given.begin(), given.end(), is_period),
          "{} must be a list of {} whole numbers in 0..{}, the exchanges between two averages of "
          "each vector that the optimiser remembers, or 0; got {}",
          section.where(kKey),
          optimiser.vectors(),
          kMost,
          shown(given));
  const bool stay =
      std::all_of(given.begin(), given.end(), [](auto& period) { return period == 0; });
  if (stay) {  // as without the key, so that runs have one id
    return {};
  }
  return section.any(kKey).get<std::vector<std::uint64_t>>();
}

double optimiser_decay_from(const Section& section, double fallback) {
  const double decay = section.number("weight_decay", fallback);
  require(decay >= 0 && std::isfinite(decay),
          "{} must be at least 0, got {}",
          section.where("weight_decay"),
          decay);
  return decay;
}

double optimiser_factor_from(const Section& section, const char* key, double fallback) {
  const double factor = section.number(key, fallback);
  require(factor >= 0 && factor < 1, "{} must lie in [0, 1), got {}", section.where(key), factor);
  return factor;
}

}  // namespace residuum
