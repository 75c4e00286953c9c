#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "assumptions/testing/laws.h"
#include "core/random/random.h"
#include "core/vectors/dense.h"

namespace residuum::laws {
namespace {

/// Relative room for the rounding of two sums of squares.
constexpr double kRounding = 1e-12;
constexpr std::uint64_t kDraws = 2000;

struct NamedVector {
  std::string name;
  std::vector<double> values;
};

std::vector<double> drawn(std::size_t d, std::uint32_t position, double (*shape)(RandomStream&)) {
  RandomStream random(1, Purpose::test, 0, position);
  std::vector<double> values(d);
  for (double& value : values) {
    value = shape(random);
  }
  return values;
}

std::vector<double> one_hot(std::size_t d, std::size_t at) {
  std::vector<double> values(d);
  values[at] = -3;
  return values;
}

/// Accumulators that strain different rules: energy spread evenly, on one entry, in a tail.
std::vector<NamedVector> accumulators(std::size_t d) {
  std::vector<double> alternating(d);
  std::vector<double> decaying(d);
  for (std::size_t i = 0; i < d; ++i) {
    alternating[i] = i % 2 == 0 ? 0.75 : -0.75;
    decaying[i] = std::pow(0.8, static_cast<double>(d - i));
  }
  std::vector<NamedVector> all{{"all of one magnitude", alternating},
                               {"first entry alone", one_hot(d, 0)},
                               {"last entry alone", one_hot(d, d - 1)},
                               {"geometric, largest last", decaying},
                               {"zero", std::vector<double>(d)}};
  for (std::uint32_t n = 1; n <= 3; ++n) {
    all.push_back({"normal " + std::to_string(n),
                   drawn(d, n, [](RandomStream& random) { return random.normal(); })});
    all.push_back({"heavy-tailed " + std::to_string(n),
                   drawn(d, n, [](RandomStream& random) { return std::pow(random.normal(), 5); })});
    all.push_back({"of few values " + std::to_string(n),
                   drawn(d, n, [](RandomStream& random) { return random.below(3) - 1.0; })});
  }
  return all;
}

template <class Real>
constexpr const char* precision_name() {
  return sizeof(Real) == sizeof(float) ? "float32" : "float64";
}

/// A sparsifier at work in one precision.
template <class Real>
class Selection {
 public:
  explicit Selection(const Sparsifier& sparsifier) : sparsifier_(sparsifier) {}

  const Message<Real>& message(std::span<const Real> a, std::uint64_t seed) {
    sparsifier_.sparsify(
        a, {.seed = seed, .worker = 0, .iteration = 0, .step_size = 1}, workspace_, message_);
    return message_;
  }

  /// a - C(a).
  std::span<const double> dropped(std::span<const Real> a, std::uint64_t seed) {
    dropped_.assign(a.begin(), a.end());
    const Message<Real>& sent = message(a, seed);
    if (sent.everything) {
      std::fill(dropped_.begin(), dropped_.end(), 0);
      return dropped_;
    }
    for (std::size_t i = 0; i < sent.entries.size(); ++i) {
      dropped_.at(sent.entries.indices[i]) -= static_cast<double>(sent.entries.values[i]);
    }
    return dropped_;
  }

  /// Whether the seed decides what is sent of an accumulator without zeros.
  bool is_random(std::size_t d) {
    constexpr std::uint64_t kTries = 32;
    std::vector<Real> a(d);
    for (std::size_t i = 0; i < d; ++i) {
      a[i] = static_cast<Real>(i + 1);
    }
    const Message<Real> first = message(a, 0);
    for (std::uint64_t seed = 1; seed < kTries; ++seed) {
      if (!(message(a, seed).entries == first.entries)) {
        return true;
      }
    }
    return false;
  }

 private:
  const Sparsifier& sparsifier_;
  SelectWorkspace workspace_;
  Message<Real> message_;
  std::vector<double> dropped_;
};

/// A mean of draws and what it may exceed its expectation by.
struct Mean {
  double value = 0;
  double room = 0;
};

Mean mean_of(const std::vector<double>& draws) {
  const auto n = static_cast<double>(draws.size());
  double sum = 0;
  double largest = 1;
  for (const double draw : draws) {
    sum += draw;
    largest = std::max(largest, draw);
  }
  const double mean = sum / n;
  if (draws.size() == 1) {
    return {.value = mean, .room = 0};
  }
  double squares = 0;
  for (const double draw : draws) {
    squares += (draw - mean) * (draw - mean);
  }
  constexpr double kRisk = 1e-9;
  const double variance = squares / (n - 1);
  const double log_risk = std::log(2 / kRisk);
  return {.value = mean,
          .room = std::sqrt(2 * variance * log_risk / n) + 7 * largest * log_risk / (3 * (n - 1))};
}

template <class Real>
std::optional<Finding> contraction_fault(const Sparsifier& sparsifier,
                                         double delta_c,
                                         std::size_t dimension) {
  Selection<Real> selection(sparsifier);
  const std::uint64_t draws = selection.is_random(dimension) ? kDraws : 1;
  for (const auto& [name, values] : accumulators(dimension)) {
    const std::vector<Real> a(values.begin(), values.end());
    const double total = norm_sq<Real>(a);
    if (total == 0) {
      if (norm_sq<double>(selection.dropped(a, 1)) != 0) {
        return Finding{false, "a message of the zero vector has entries"};
      }
      continue;
    }
    std::vector<double> ratios;
    for (std::uint64_t seed = 1; seed <= draws; ++seed) {
      ratios.push_back(norm_sq<double>(selection.dropped(a, seed)) / total);
    }
    const Mean ratio = mean_of(ratios);
    if (!(ratio.value - ratio.room <= (1 - delta_c) * (1 + kRounding))) {
      return Finding{false,
                     fmt::format("vector '{}' of {} entries in {}: |a - C(a)|^2 = {:.6g} |a|^2{}, "
                                 "allowed is {:.6g} |a|^2",
                                 name,
                                 dimension,
                                 precision_name<Real>(),
                                 ratio.value,
                                 draws > 1 ? fmt::format(" in the mean of {} draws", draws) : "",
                                 1 - delta_c)};
    }
  }
  return std::nullopt;
}

template <class Real>
std::string message_fault(Selection<Real>& selection,
                          const std::vector<Real>& a,
                          const std::optional<std::size_t>& k,
                          const std::optional<double>& threshold) {
  const auto sent = selection.message(a, 1);
  if (!sent.everything && !is_well_formed(sent.entries, a.size())) {
    return "entries must be sorted by index, without zeros, duplicates or indices out of range";
  }
  const std::size_t entries = sent.everything ? a.size() : sent.entries.size();
  if (entries > k.value_or(a.size())) {
    return fmt::format("{} entries are sent, but k is {}", entries, *k);
  }
  const auto again = selection.message(a, 1);
  if (again.everything != sent.everything || !(again.entries == sent.entries)) {
    return "the same seed, worker and iteration gave two different messages";
  }
  const auto dropped = norm_inf<double>(selection.dropped(a, 1));
  if (threshold && dropped != 0 && dropped >= static_cast<double>(static_cast<Real>(*threshold))) {
    return fmt::format(
        "an entry of magnitude {:.6g} is not sent, the threshold is {:.6g}", dropped, *threshold);
  }
  return "";
}

template <class Real>
std::optional<Finding> law_fault(const Sparsifier& sparsifier, std::size_t dimension) {
  Selection<Real> selection(sparsifier);
  const auto k = sparsifier.k(dimension);
  const SparsifierLaw law = sparsifier.law(dimension, 1);
  for (const auto& [name, values] : accumulators(dimension)) {
    const std::vector<Real> a(values.begin(), values.end());
    const std::string fault = message_fault(selection, a, k, law.threshold);
    if (!fault.empty()) {
      return Finding{false,
                     fmt::format("vector '{}' of {} entries in {}: {}",
                                 name,
                                 dimension,
                                 precision_name<Real>(),
                                 fault)};
    }
  }
  return std::nullopt;
}

}  // namespace

Finding is_contractive(const Sparsifier& sparsifier, double delta_c, std::size_t dimension) {
  if (const auto fault = contraction_fault<double>(sparsifier, delta_c, dimension)) {
    return *fault;
  }
  if (const auto fault = contraction_fault<float>(sparsifier, delta_c, dimension)) {
    return *fault;
  }
  return {true, fmt::format("no vector of {} entries exceeds 1 - {:.6g}", dimension, delta_c)};
}

Finding keeps_its_law(const Sparsifier& sparsifier, std::size_t dimension) {
  if (const auto fault = law_fault<double>(sparsifier, dimension)) {
    return *fault;
  }
  if (const auto fault = law_fault<float>(sparsifier, dimension)) {
    return *fault;
  }
  if (const auto contraction = sparsifier.law(dimension, 1).contraction) {
    return is_contractive(sparsifier, *contraction, dimension);
  }
  return {true, "its messages are well formed and repeat themselves; it claims no contraction"};
}

}  // namespace residuum::laws
