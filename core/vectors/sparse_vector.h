#pragma once
// Workers exchange sparse vectors: a uint32 index and a value per entry.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace residuum {

/// Indices increase strictly, values are non-zero. Real is float or double.
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
  /// Reserves a power of two of at least `entries` and 256 places, so that reallocation soon ends
  /// for lists that vary in length.
  void make_room(std::size_t entries) {
    constexpr std::size_t kLeast = 256;
    const std::size_t room = std::bit_ceil(std::max(entries, kLeast));
    indices.reserve(room);
    values.reserve(room);
  }
  void resize(std::size_t entries) {
    make_room(entries);
    indices.resize(entries);
    values.resize(entries);
  }
  void push_back(std::uint32_t index, Real value) {
    indices.push_back(index);
    values.push_back(value);
  }
  friend bool operator==(const SparseVector&, const SparseVector&) = default;
};

template <class Real>
void copy(const SparseVector<Real>& from, SparseVector<Real>& to) {
  to.make_room(from.size());
  to = from;
}

/// sum := a + b over the union of supports; entries that cancel to zero are dropped.
template <class Real>
void add(const SparseVector<Real>& a, const SparseVector<Real>& b, SparseVector<Real>& sum);

/// united := the entries of a, and those of b at other indices.
template <class Real>
void unite(const SparseVector<Real>& a, const SparseVector<Real>& b, SparseVector<Real>& united);

/// sparse := the non-zero entries of a dense vector.
template <class Real>
void to_sparse(std::span<const Real> dense, SparseVector<Real>& sparse);

/// Takes the entries whose value is zero out of the list.
template <class Real>
void drop_zeros(SparseVector<Real>& entries);

/// True if indices are strictly increasing and below `dimension`, and no value is zero.
template <class Real>
bool is_well_formed(const SparseVector<Real>& vector, std::size_t dimension);

}  // namespace residuum
