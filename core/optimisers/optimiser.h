#pragma once
// An optimiser turns a worker's gradient into the direction along which the worker steps,
//   w^p <- w^p - eta u,  u = u(G^p(w^p), what the worker remembers).
// Its memory stays with the worker, unless a study has it averaged over the workers from time to
// time. The worker hands in the sum of its directions, which is how far its model has moved. There
// is one file for each optimiser.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/config/registry.h"
#include "core/messages/traffic.h"

namespace residuum {

/// A gradient becomes a direction in its place.
template <class Real>
struct OptimiserStep {
  std::uint64_t before = 0;                  // gradients that the worker has taken before this one
  std::span<const Real> model;               // at which it was taken
  std::span<Real> gradient;                  // d numbers, and then the direction
  std::span<Real> memory;                    // vectors() times d numbers, 0 at first
  std::span<const MatrixPlace> layers = {};  // of the model; empty where it has no parts
  std::vector<Real>* room = nullptr;         // scratch that lasts; null: it is allocated anew
};

class Optimiser {
 public:
  Optimiser() = default;
  Optimiser(const Optimiser&) = delete;
  Optimiser& operator=(const Optimiser&) = delete;
  Optimiser(Optimiser&&) = delete;
  Optimiser& operator=(Optimiser&&) = delete;
  virtual ~Optimiser() = default;

  /// Returns how many vectors of d numbers a worker remembers.
  virtual std::size_t vectors() const = 0;
  /// Returns how far one gradient moves the worker in the end, in units of eta times the gradient;
  /// 1 where directions are not proportional to gradients.
  virtual double gain() const { return 1; }
  /// Reports a usage error for layers of a model that the optimiser cannot work with.
  virtual void check(std::span<const MatrixPlace> /*layers*/) const {}
  virtual void direct(const OptimiserStep<float>& step) const = 0;
  virtual void direct(const OptimiserStep<double>& step) const = 0;
};

/// Implements the overloads by the member template make_direction<Real>(step) of Derived.
template <class Derived>
class OptimiserFor : public Optimiser {
 public:
  void direct(const OptimiserStep<float>& step) const final {
    self().template make_direction<float>(step);
  }
  void direct(const OptimiserStep<double>& step) const final {
    self().template make_direction<double>(step);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

std::span<const Entry<Optimiser>> optimisers();

/// Builds what the section's `optimiser` names; null for "sgd", which is the default and steps
/// along the gradient. The caller finishes the section.
std::unique_ptr<Optimiser> make_optimiser(const Section& section);

/// Reads `average_every`: for each vector that the optimiser remembers, the number of exchanges
/// from one average over the workers to the next, 0 for a vector that stays with its worker. Absent
/// or all 0, nothing is averaged, and the list is empty. (DES-LOC: Iacob et al., ICLR 2026, arXiv
/// 2505.22549.)
std::vector<std::uint64_t> memory_periods_from(const Section& section, const Optimiser& optimiser);

/// Reads `weight_decay`, which is at least 0.
double optimiser_decay_from(const Section& section, double fallback);

/// Reads a factor of an average, which lies in [0, 1).
double optimiser_factor_from(const Section& section, const char* key, double fallback);

}  // namespace residuum
