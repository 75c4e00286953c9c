#pragma once
// NormalStream draws standard normal numbers at a quarter of Box-Muller's cost, for objectives
// whose gradient is little more than its noise. Source: the ziggurat of Marsaglia and Tsang (2000),
// 128 layers, in the form of Doornik (2005), whose layer and abscissa come from different bits.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/config/section.h"
#include "core/objective.h"
#include "core/random/random.h"
#include "objectives/registry.h"

namespace residuum {

class NormalStream {
 public:
  explicit NormalStream(const RandomStream& bits) : bits_(bits) {}

  /// Returns a draw of N(0, 1), exact up to the 53 bits of its uniform numbers.
  double next();

 private:
  double tail(bool negative);

  RandomStream bits_;
};

// NoisyFunction is the base of a problem of your own that has no data set: f with its gradient, and
// the noise of a stochastic gradient. All workers have the same f. An example is
// tests/package/pseudo_huber.cc.

class NoisyFunction : public Objective {
 public:
  /// d must be from 1 to 2^32 - 1; anything else is a usage error.
  explicit NoisyFunction(std::int64_t dimension);

  /// Returns f(w); gradient := grad f(w), d numbers.
  virtual double value(std::span<const double> w, std::span<double> gradient) const = 0;
  /// Adds noise of expectation 0 to a gradient at w, d numbers; none by default.
  virtual void add_noise(RandomStream& /*random*/,
                         std::span<const double> /*w*/,
                         std::span<double> /*gradient*/) const {}
  /// By default nothing is known of f.
  Facts facts() const override { return {}; }

  std::size_t dimension() const override { return dimension_; }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override;
  std::optional<double> shard_smoothness(std::span<const std::uint32_t> shard) const override;
  void initial_point(std::uint64_t seed, std::span<double> w) const override;
  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override;
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override;
  double evaluate(int worker,
                  int workers,
                  std::span<const std::uint32_t> shard,
                  const Point& at,
                  std::span<double> gradient) const override;
  std::optional<TestResult> test(const Point& at) const override;

 private:
  std::size_t dimension_;
};

/// Adds an objective to those of the library. It must be a static object, because the registry is
/// complete from its first use (in main) on.
struct RegisteredObjective {
  explicit RegisteredObjective(const ObjectiveEntry& entry);
};

/// Makes an objective that its section alone describes, for ObjectiveEntry.
template <class Own>
std::unique_ptr<Objective> make_own(const Section& section, const ObjectiveContext& /*context*/) {
  return std::make_unique<Own>(section);
}

}  // namespace residuum
