#pragma once
// What of its accumulator a worker sends. One file and one registry line per sparsifier.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/config/registry.h"
#include "core/vectors/message.h"
#include "core/vectors/select.h"

namespace residuum {

/// Who selects, when, and with which step size; keys the random streams.
struct SelectionContext {
  std::uint64_t seed = 0;
  int worker = 0;
  std::uint64_t iteration = 0;
  double step_size = 1;
};

/// What holds for every accumulator a of d entries; absent where no such bound exists.
struct SparsifierLaw {
  std::optional<double> contraction;  // delta_c: E|a - C(a)|^2 <= (1 - delta_c) |a|^2
  bool pathwise = true;               // the bound holds for each draw, not only in expectation
  std::optional<double> threshold;    // |a_i - C(a)_i| < threshold for every i
};

class Sparsifier {
 public:
  Sparsifier() = default;
  Sparsifier(const Sparsifier&) = delete;
  Sparsifier& operator=(const Sparsifier&) = delete;
  Sparsifier(Sparsifier&&) = delete;
  Sparsifier& operator=(Sparsifier&&) = delete;
  virtual ~Sparsifier() = default;

  virtual void sparsify(std::span<const float> accumulator,
                        const SelectionContext& context,
                        SelectWorkspace& workspace,
                        Message<float>& message) const = 0;
  virtual void sparsify(std::span<const double> accumulator,
                        const SelectionContext& context,
                        SelectWorkspace& workspace,
                        Message<double>& message) const = 0;

  /// k: how many of d entries a worker may send; absent where the data decide (thresholds).
  /// A k above d is a usage error.
  virtual std::optional<std::size_t> k(std::size_t dimension) const = 0;
  virtual SparsifierLaw law(std::size_t dimension, double step_size) const = 0;
};

/// Implements both overloads of `sparsify` by the member template `select<Real>` of Derived.
template <class Derived>
class SparsifierFor : public Sparsifier {
 public:
  void sparsify(std::span<const float> accumulator,
                const SelectionContext& context,
                SelectWorkspace& workspace,
                Message<float>& message) const final {
    static_cast<const Derived&>(*this).template select<float>(
        accumulator, context, workspace, message);
  }
  void sparsify(std::span<const double> accumulator,
                const SelectionContext& context,
                SelectWorkspace& workspace,
                Message<double>& message) const final {
    static_cast<const Derived&>(*this).template select<double>(
        accumulator, context, workspace, message);
  }
};

std::span<const Entry<Sparsifier>> sparsifiers();

/// Builds what the section's `kind` names; the caller finishes the section.
std::unique_ptr<Sparsifier> make_sparsifier(const Section& section);

}  // namespace residuum
