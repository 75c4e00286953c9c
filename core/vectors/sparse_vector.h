#pragma once
// A sparse vector as the workers exchange it: uint32 index and value per entry.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace residuum {

/// Indices strictly increasing, values non-zero. Real is float or double.
template <class Real>
struct SparseVector {
  std::vector<std::uint32_t> indices;
  std::vector<Real> values;

  std::size_t size() const { return indices.size(); }
  bool empty() const { return indices.empty(); }
  void clear() {
    indices.clear();
    values.clear();
  }
  void push_back(std::uint32_t index, Real value) {
    indices.push_back(index);
    values.push_back(value);
  }
  friend bool operator==(const SparseVector&, const SparseVector&) = default;
};

/// Bytes of one entry on the wire: 8 for float, 12 for double.
template <class Real>
constexpr std::size_t entry_bytes() {
  return sizeof(std::uint32_t) + sizeof(Real);
}

/// sum := a + b over the union of supports; entries that cancel to zero are dropped.
template <class Real>
void add(const SparseVector<Real>& a, const SparseVector<Real>& b, SparseVector<Real>& sum);

/// The entries of `vector` whose index is in `support` (increasing) go to `inside`, the others to
/// `outside`; either may be null.
template <class Real>
void split(const SparseVector<Real>& vector,
           std::span<const std::uint32_t> support,
           SparseVector<Real>* inside,
           SparseVector<Real>* outside);

/// The non-zero entries of a dense vector.
template <class Real>
void to_sparse(std::span<const Real> dense, SparseVector<Real>& sparse);

/// True if indices are strictly increasing and below `dimension`, and no value is zero.
template <class Real>
bool is_well_formed(const SparseVector<Real>& vector, std::size_t dimension);

}  // namespace residuum
