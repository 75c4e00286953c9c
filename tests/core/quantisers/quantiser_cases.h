#pragma once
// The quantisers of the registry with variants that have laws of their own, and vectors that strain
// them.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/quantisers/quantiser.h"
#include "tests/core/support.h"

namespace residuum::test {

struct NamedQuantiser {
  std::string name;
  std::unique_ptr<Quantiser> rule;
};

inline std::vector<NamedQuantiser> quantiser_cases() {
  std::vector<NamedQuantiser> all;
  for (const auto& entry : quantisers()) {
    all.push_back({std::string(entry.name), entry.make(example_section("quantiser", entry))});
  }
  for (const Json& variant : {Json{{"kind", "qsgd"}, {"bits", 2}},
                              Json{{"kind", "qsgd"}, {"bits", 5}, {"bucket", 7}},
                              Json{{"kind", "qsgd"}, {"bits", 16}},
                              Json{{"kind", "qsgd"}, {"bits", 2}, {"shrink", true}},
                              Json{{"kind", "qsgd"}, {"bits", 2}, {"levels", "natural"}},
                              Json{{"kind", "qsgd"}, {"bits", 4}, {"levels", "natural"}},
                              Json{{"kind", "qsgd"}, {"bits", 8}, {"levels", "natural"}},
                              Json{{"kind", "terngrad"}, {"shrink", true}},
                              Json{{"kind", "linear"}, {"bits", 1}},
                              Json{{"kind", "linear"}, {"bits", 1}, {"shrink", true}},
                              Json{{"kind", "linear"}, {"bits", 8}},
                              Json{{"kind", "linear"}, {"bits", 11}},
                              Json{{"kind", "linear"}, {"bits", 16}}}) {
    all.push_back({variant.dump(), quantiser(variant)});
  }
  return all;
}

template <class Real>
struct NamedVector {
  std::string name;
  std::vector<Real> values;
};

template <class Real, class ValueAt>
NamedVector<Real> filled(const std::string& name, std::size_t n, const ValueAt& value_at) {
  NamedVector<Real> vector{name, std::vector<Real>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    vector.values[i] = static_cast<Real>(value_at(i));
  }
  return vector;
}

/// Vectors of n values: none of energy, one entry's, evenly spread, in a tail; very small and very
/// large; and the worst of some quantisers.
template <class Real>
std::vector<NamedVector<Real>> quantiser_vectors(std::size_t n) {
  const double smallest = std::numeric_limits<Real>::min();
  const double large = sizeof(Real) == sizeof(float) ? 1e36 : 1e150;
  const auto normal = normal_vector(n, 3);
  const double root = std::sqrt(static_cast<double>(n));
  const auto sign = [](std::size_t i) { return i % 3 == 0 ? -1.0 : 1.0; };
  return {
      filled<Real>("zeros", n, [](std::size_t) { return 0; }),
      filled<Real>("one spike", n, [](std::size_t i) { return i == 0 ? -5.0 : 0.0; }),
      filled<Real>("last alone", n, [&](std::size_t i) { return i + 1 == n ? 0.3 : 0.0; }),
      filled<Real>("equal magnitudes", n, [&](std::size_t i) { return 0.7 * sign(i); }),
      filled<Real>("all equal", n, [](std::size_t) { return -0.7; }),
      filled<Real>("normal", n, [&](std::size_t i) { return normal[i]; }),
      filled<Real>("heavy-tailed", n, [&](std::size_t i) { return std::pow(normal[i], 5); }),
      filled<Real>("geometric", n, [&](std::size_t i) { return sign(i) * std::pow(0.7, i); }),
      filled<Real>("subnormal", n, [&](std::size_t i) { return normal[i] * smallest / 300; }),
      filled<Real>("around the smallest normal number",
                   n,
                   [&](std::size_t i) { return normal[i] * smallest; }),
      filled<Real>("huge", n, [&](std::size_t i) { return normal[i] * large; }),
      filled<Real>(
          "huge and tiny", n, [&](std::size_t i) { return i % 2 == 0 ? large : smallest; }),
      filled<Real>(
          "worst of terngrad", n, [&](std::size_t i) { return i == 0 ? 1 : sign(i) / (root + 1); }),
      // All values but the ends lie half way between the two levels of one bit.
      filled<Real>("worst of linear", n, [&](std::size_t i) { return i == 0 ? -1.0 : i == 1; }),
      // About sqrt(n) values just outside the bin of the mean share a bin with one that is far out.
      filled<Real>("bad for table", n, [&](std::size_t i) {
        const double at = static_cast<double>(i);
        return i == 0 ? root : at < root ? 1.1 : i % 2 == 0 ? 0.7 : -0.75;
      })};
}

}  // namespace residuum::test
