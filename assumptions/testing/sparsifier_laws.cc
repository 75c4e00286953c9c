#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "assumptions/estimators/intervals.h"
#include "assumptions/testing/laws.h"
#include "core/random/random.h"
#include "core/vectors/dense.h"

namespace residuum::laws {
namespace {

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

}  // namespace

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

namespace {

/// Relative room for the rounding of two sums of squares.
constexpr double kRounding = 1e-12;
constexpr std::uint64_t kDraws = 2000;

template <class Real>
constexpr const char* precision_name() {
  return sizeof(Real) == sizeof(float) ? "float32" : "float64";
}

/// 1, 2, ..., d: without zeros.
template <class Real>
std::vector<Real> rising(std::size_t d) {
  std::vector<Real> a(d);
  std::iota(a.begin(), a.end(), Real{1});
  return a;
}

/// A sparsifier at work in one precision.
template <class Real>
class Selection {
 public:
  explicit Selection(const Sparsifier& sparsifier) : sparsifier_(sparsifier) {}

  const Message<Real>& message(std::span<const Real> a,
                               std::uint64_t seed,
                               int worker = 0,
                               std::uint64_t iteration = 0) {
    sparsifier_.select(a,
                       {.seed = seed, .worker = worker, .iteration = iteration, .step_size = 1},
                       workspace_,
                       message_);
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

  /// Returns whether the seed decides which entries of an accumulator without zeros are sent.
  bool is_random(std::size_t d) {
    constexpr std::uint64_t kTries = 32;
    const auto a = rising<Real>(d);
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

/// The promise is E|a - C(a)|^2 <= (1 - share) |a|^2, with equality if it is exact.
struct Promise {
  double share = 0;
  bool exact = false;
};

/// The mean over the draws of |a - C(a)|^2/|a|^2, |a| > 0.
template <class Real>
DrawnMean dropped_share(Selection<Real>& selection, std::span<const Real> a, std::uint64_t draws) {
  const double total = norm_sq<Real>(a);
  std::vector<double> ratios;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    ratios.push_back(norm_sq<double>(selection.dropped(a, seed)) / total);
  }
  return drawn_mean(ratios);
}

/// True if more is dropped than the promise allows, or less than an exact promise says.
bool breaks(const Promise& promise, const DrawnMean& ratio) {
  const double expected = 1 - promise.share;
  const bool is_more = !(ratio.value - ratio.room <= expected * (1 + kRounding));
  const bool is_less = ratio.value + ratio.room < expected * (1 - kRounding);
  return is_more || (promise.exact && is_less);
}

template <class Real>
std::optional<Finding> contraction_fault(const Sparsifier& sparsifier,
                                         const Promise& promise,
                                         std::size_t dimension) {
  Selection<Real> selection(sparsifier);
  const std::uint64_t draws = selection.is_random(dimension) ? kDraws : 1;
  for (const auto& [name, values] : accumulators(dimension)) {
    const std::vector<Real> a(values.begin(), values.end());
    if (norm_sq<Real>(a) == 0) {
      if (norm_sq<double>(selection.dropped(a, 1)) != 0) {
        return Finding{false, "a message of the zero vector has entries"};
      }
      continue;
    }
    const DrawnMean ratio = dropped_share<Real>(selection, a, draws);
    if (breaks(promise, ratio)) {
      return Finding{false,
                     fmt::format("vector '{}' of {} entries in {}: |a - C(a)|^2 = {:.6g} |a|^2{}, "
                                 "{} is {:.6g} |a|^2",
                                 name,
                                 dimension,
                                 precision_name<Real>(),
                                 ratio.value,
                                 draws > 1 ? fmt::format(" in the mean of {} draws", draws) : "",
                                 promise.exact ? "required" : "allowed",
                                 1 - promise.share)};
    }
  }
  return std::nullopt;
}

/// Returns whether every draw that could enter leaves the message as it is.
template <class Real>
bool is_the_same_always(Selection<Real>& selection, std::span<const Real> a) {
  constexpr int kTries = 8;
  const Message<Real> first = selection.message(a, 1);
  for (int other = 1; other < kTries; ++other) {
    const auto iteration = static_cast<std::uint64_t>(other);
    const auto& again = selection.message(a, iteration + 1, other, iteration);
    if (again.everything != first.everything || !(again.entries == first.entries)) {
      return false;
    }
  }
  return true;
}

/// Returns whether every entry that is sent is that of the accumulator.
template <class Real>
bool keeps_the_values(Selection<Real>& selection, std::span<const Real> a) {
  const Message<Real>& sent = selection.message(a, 1);
  for (std::size_t i = 0; i < sent.entries.size(); ++i) {
    if (sent.entries.values[i] != a[sent.entries.indices[i]]) {
      return false;
    }
  }
  return true;
}

/// Returns whether no choice of k entries loses less.
template <class Real>
bool keeps_the_largest(Selection<Real>& selection, std::span<const Real> a, std::size_t k) {
  std::vector<double> squares;
  for (const Real value : a) {
    squares.push_back(static_cast<double>(value) * static_cast<double>(value));
  }
  std::sort(squares.begin(), squares.end());
  const auto rest = static_cast<std::ptrdiff_t>(squares.size() - k);
  const double least = std::accumulate(squares.begin(), squares.begin() + rest, 0.0);
  return norm_sq<double>(selection.dropped(a, 1)) <= least * (1 + kRounding);
}

/// Returns whether workers with different accumulators send the same indices.
template <class Real>
bool support_is_shared(Selection<Real>& selection, std::size_t d) {
  constexpr std::uint64_t kTries = 8;
  const auto one = rising<Real>(d);
  const std::vector<Real> other(one.rbegin(), one.rend());
  for (std::uint64_t seed = 1; seed <= kTries; ++seed) {
    const Message<Real> sent = selection.message(one, seed, 0, seed);
    const auto& by_other = selection.message(other, seed, 3, seed);
    if (sent.everything != by_other.everything ||
        sent.entries.indices != by_other.entries.indices) {
      return false;
    }
  }
  return true;
}

/// Returns whether the mean of 2000 draws of C(a) is within six standard errors of a, entry by
/// entry.
template <class Real>
bool is_unbiased(Selection<Real>& selection, std::span<const Real> a) {
  constexpr double kErrors = 6;
  std::vector<double> sum(a.size());
  std::vector<double> squares(a.size());
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    const auto lost = selection.dropped(a, seed);
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum[i] += lost[i];
      squares[i] += lost[i] * lost[i];
    }
  }
  const auto n = static_cast<double>(kDraws);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double room = kErrors * std::sqrt(squares[i]) / n;
    if (std::abs(sum[i] / n) > room + kRounding * std::abs(static_cast<double>(a[i]))) {
      return false;
    }
  }
  return true;
}

/// Names the claim of the law that the vector contradicts; empty: none.
template <class Real>
std::string claim_fault(const Sparsifier& sparsifier,
                        const SparsifierLaw& law,
                        std::span<const Real> a) {
  Selection<Real> selection(sparsifier);
  if (law.deterministic && !is_the_same_always(selection, a)) {
    return "messages differ with seed, worker or iteration, though the law is 'deterministic'";
  }
  if (law.keeps_values && !keeps_the_values(selection, a)) {
    return "entries are not sent as they are, though the law is 'keeps_values'";
  }
  const auto k = sparsifier.k(a.size());
  if (law.keeps_largest && !(k && keeps_the_largest(selection, a, *k))) {
    return "other k entries lose less, though the law is 'keeps_largest'";
  }
  if (law.unbiased && !is_unbiased(selection, a)) {
    return "the mean of 2000 messages is not the vector, though the law is 'unbiased'";
  }
  return "";
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
    std::string fault = message_fault(selection, a, k, law.threshold);
    if (fault.empty()) {
      fault = claim_fault<Real>(sparsifier, law, a);
    }
    if (!fault.empty()) {
      return Finding{false,
                     fmt::format("vector '{}' of {} entries in {}: {}",
                                 name,
                                 dimension,
                                 precision_name<Real>(),
                                 fault)};
    }
  }
  if (law.shares_support && !support_is_shared(selection, dimension)) {
    return Finding{false, "two workers send different indices, though the law is 'shares_support'"};
  }
  return std::nullopt;
}

/// Finds an exactness without a number, or a threshold that does not follow the step size.
std::optional<Finding> constants_fault(const Sparsifier& sparsifier, std::size_t dimension) {
  const SparsifierLaw law = sparsifier.law(dimension, 1);
  if (law.exact && !law.contraction) {
    return Finding{false, "the law is 'exact', but has no contraction"};
  }
  if (!law.threshold_scales || !law.threshold) {
    return std::nullopt;
  }
  if (sparsifier.law(dimension, 2).threshold != 2 * *law.threshold) {
    return Finding{false, "twice the step size is not twice the threshold: 'threshold_scales'"};
  }
  return std::nullopt;
}

Finding keeps(const Promise& promise, const Sparsifier& sparsifier, std::size_t dimension) {
  if (const auto fault = contraction_fault<double>(sparsifier, promise, dimension)) {
    return *fault;
  }
  if (const auto fault = contraction_fault<float>(sparsifier, promise, dimension)) {
    return *fault;
  }
  return {true,
          fmt::format("no vector of {} entries exceeds 1 - {:.6g}", dimension, promise.share)};
}

}  // namespace

Finding is_contractive(const Sparsifier& sparsifier, double alpha, std::size_t dimension) {
  return keeps({.share = alpha, .exact = false}, sparsifier, dimension);
}

Finding keeps_its_law(const Sparsifier& sparsifier, std::size_t dimension) {
  if (const auto fault = law_fault<double>(sparsifier, dimension)) {
    return *fault;
  }
  if (const auto fault = law_fault<float>(sparsifier, dimension)) {
    return *fault;
  }
  if (const auto fault = constants_fault(sparsifier, dimension)) {
    return *fault;
  }
  const SparsifierLaw law = sparsifier.law(dimension, 1);
  if (law.contraction) {
    return keeps({.share = *law.contraction, .exact = law.exact}, sparsifier, dimension);
  }
  return {true, "its messages are well formed and repeat themselves; it claims no contraction"};
}

}  // namespace residuum::laws
