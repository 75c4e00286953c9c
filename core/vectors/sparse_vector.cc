#include "core/vectors/sparse_vector.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <type_traits>

#include "core/vectors/list_kernels.h"

namespace residuum {
namespace {

template <class Real>
void push_non_zero(SparseVector<Real>& vector, std::uint32_t index, Real value) {
  if (value != 0) {
    vector.push_back(index, value);
  }
}

/// Returns the value if `keep`, else +0.
template <class Real>
Real masked(Real value, bool keep) {
  using Bits = list_kernels::Bits<Real>;
  const auto all_or_none = static_cast<Bits>(-static_cast<std::make_signed_t<Bits>>(keep));
  return std::bit_cast<Real>(std::bit_cast<Bits>(value) & all_or_none);
}

struct Sum {
  /// Adding +0 to an entry keeps its bits, since no entry is -0.
  template <class Real>
  static Real of(Real a, bool from_a, Real b, bool from_b) {
    return masked(a, from_a) + masked(b, from_b);
  }
};

struct First {
  template <class Real>
  static Real of(Real a, bool from_a, Real b, bool /*from_b*/) {
    return from_a ? a : b;
  }
};

/// The positions of one merge: in a, in b, and in the result.
struct Cursor {
  std::size_t a, a_end;
  std::size_t b, b_end;
  std::size_t out;
  /// Returns a number of steps that cannot run beyond the end of either list.
  std::size_t safe_steps() const { return std::min(a_end - a, b_end - b); }
};

/// Merges without branches on the data, because a processor cannot predict which list goes on. Each
/// step waits for the one before it, so two merges, of the lower halves and of the upper,
/// alternate.
template <class Real, class Combine>
class Merger {
 public:
  Merger(const SparseVector<Real>& a, const SparseVector<Real>& b, SparseVector<Real>& result)
      : a_indices_(a.indices.data()),
        a_values_(a.values.data()),
        b_indices_(b.indices.data()),
        b_values_(b.values.data()),
        indices_(result.indices.data()),
        values_(result.values.data()) {}

  /// Returns the number of entries of the result.
  std::size_t merge(Cursor lower, Cursor upper) const {
    const std::size_t upper_begin = upper.out;
    while (const std::size_t steps = std::min(lower.safe_steps(), upper.safe_steps())) {
      for (std::size_t s = 0; s < steps; ++s) {
        step(lower);
        step(upper);
      }
    }
    finish(lower);
    finish(upper);
    if (lower.out < upper_begin) {
      std::copy(indices_ + upper_begin, indices_ + upper.out, indices_ + lower.out);
      std::copy(values_ + upper_begin, values_ + upper.out, values_ + lower.out);
    }
    return lower.out + (upper.out - upper_begin);
  }

 private:
  void step(Cursor& c) const {
    const std::uint32_t a = a_indices_[c.a];
    const std::uint32_t b = b_indices_[c.b];
    const bool from_a = a <= b;
    const bool from_b = b <= a;
    const Real value = Combine::of(a_values_[c.a], from_a, b_values_[c.b], from_b);
    indices_[c.out] = std::min(a, b);
    values_[c.out] = value;
    // These are sums because a compiler turns conditionals into branches.
    c.out += static_cast<std::size_t>(list_kernels::magnitude(value) != 0);
    c.a += static_cast<std::size_t>(from_a);
    c.b += static_cast<std::size_t>(from_b);
  }

  void finish(Cursor& c) const {
    while (const std::size_t steps = c.safe_steps()) {
      for (std::size_t s = 0; s < steps; ++s) {
        step(c);
      }
    }
    std::copy(a_indices_ + c.a, a_indices_ + c.a_end, indices_ + c.out);
    std::copy(a_values_ + c.a, a_values_ + c.a_end, values_ + c.out);
    c.out += c.a_end - c.a;
    std::copy(b_indices_ + c.b, b_indices_ + c.b_end, indices_ + c.out);
    std::copy(b_values_ + c.b, b_values_ + c.b_end, values_ + c.out);
    c.out += c.b_end - c.b;
  }

  const std::uint32_t* a_indices_;
  const Real* a_values_;
  const std::uint32_t* b_indices_;
  const Real* b_values_;
  std::uint32_t* indices_;
  Real* values_;
};

template <class Combine, class Real>
void merge(const SparseVector<Real>& a, const SparseVector<Real>& b, SparseVector<Real>& result) {
  assert(&result != &a && &result != &b);
  result.resize(a.size() + b.size());
  const std::size_t a_half = a.size() / 2;
  std::size_t b_half = 0;
  if (a_half > 0) {
    const auto half = std::lower_bound(b.indices.begin(), b.indices.end(), a.indices[a_half]);
    b_half = static_cast<std::size_t>(half - b.indices.begin());
  }
  const std::size_t size =
      Merger<Real, Combine>(a, b, result)
          .merge({0, a_half, 0, b_half, 0}, {a_half, a.size(), b_half, b.size(), a_half + b_half});
  result.resize(size);
}

}  // namespace

template <class Real>
void add(const SparseVector<Real>& a, const SparseVector<Real>& b, SparseVector<Real>& sum) {
  merge<Sum>(a, b, sum);
}

template <class Real>
void unite(const SparseVector<Real>& a, const SparseVector<Real>& b, SparseVector<Real>& united) {
  merge<First>(a, b, united);
}

template <class Real>
void to_sparse(std::span<const Real> dense, SparseVector<Real>& sparse) {
  sparse.clear();
  for (std::size_t i = 0; i < dense.size(); ++i) {
    push_non_zero(sparse, static_cast<std::uint32_t>(i), dense[i]);
  }
}

template <class Real>
void drop_zeros(SparseVector<Real>& entries) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries.indices[kept] = entries.indices[i];
    entries.values[kept] = entries.values[i];
    kept += entries.values[i] != 0 ? 1 : 0;
  }
  entries.indices.resize(kept);
  entries.values.resize(kept);
}

template <class Real>
bool is_well_formed(const SparseVector<Real>& vector, std::size_t dimension) {
  if (vector.indices.size() != vector.values.size()) {
    return false;
  }
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const bool increases = i == 0 || vector.indices[i - 1] < vector.indices[i];
    if (!increases || vector.indices[i] >= dimension || vector.values[i] == 0) {
      return false;
    }
  }
  return true;
}

template void add<float>(const SparseVector<float>&,
                         const SparseVector<float>&,
                         SparseVector<float>&);
template void add<double>(const SparseVector<double>&,
                          const SparseVector<double>&,
                          SparseVector<double>&);
template void unite<float>(const SparseVector<float>&,
                           const SparseVector<float>&,
                           SparseVector<float>&);
template void unite<double>(const SparseVector<double>&,
                            const SparseVector<double>&,
                            SparseVector<double>&);
template void to_sparse<float>(std::span<const float>, SparseVector<float>&);
template void to_sparse<double>(std::span<const double>, SparseVector<double>&);
template void drop_zeros<float>(SparseVector<float>&);
template void drop_zeros<double>(SparseVector<double>&);
template bool is_well_formed<float>(const SparseVector<float>&, std::size_t);
template bool is_well_formed<double>(const SparseVector<double>&, std::size_t);

}  // namespace residuum
