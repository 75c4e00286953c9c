#include "core/vectors/sparse_vector.h"

#include <cassert>

namespace residuum {
namespace {

template <class Real>
void push_non_zero(SparseVector<Real>& vector, std::uint32_t index, Real value) {
  if (value != 0) {
    vector.push_back(index, value);
  }
}

template <class Real>
void push_to(SparseVector<Real>* vector, std::uint32_t index, Real value) {
  if (vector != nullptr) {
    vector->push_back(index, value);
  }
}

}  // namespace

template <class Real>
void add(const SparseVector<Real>& a, const SparseVector<Real>& b, SparseVector<Real>& sum) {
  assert(&sum != &a && &sum != &b);
  sum.clear();
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a.indices[i] < b.indices[j]) {
      sum.push_back(a.indices[i], a.values[i]);
      ++i;
    } else if (b.indices[j] < a.indices[i]) {
      sum.push_back(b.indices[j], b.values[j]);
      ++j;
    } else {
      push_non_zero(sum, a.indices[i], a.values[i] + b.values[j]);
      ++i;
      ++j;
    }
  }
  for (; i < a.size(); ++i) {
    sum.push_back(a.indices[i], a.values[i]);
  }
  for (; j < b.size(); ++j) {
    sum.push_back(b.indices[j], b.values[j]);
  }
}

template <class Real>
void split(const SparseVector<Real>& vector,
           std::span<const std::uint32_t> support,
           SparseVector<Real>* inside,
           SparseVector<Real>* outside) {
  if (inside != nullptr) {
    inside->clear();
  }
  if (outside != nullptr) {
    outside->clear();
  }
  std::size_t s = 0;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const std::uint32_t index = vector.indices[i];
    while (s < support.size() && support[s] < index) {
      ++s;
    }
    const bool is_inside = s < support.size() && support[s] == index;
    push_to(is_inside ? inside : outside, index, vector.values[i]);
  }
}

template <class Real>
void to_sparse(std::span<const Real> dense, SparseVector<Real>& sparse) {
  sparse.clear();
  for (std::size_t i = 0; i < dense.size(); ++i) {
    push_non_zero(sparse, static_cast<std::uint32_t>(i), dense[i]);
  }
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
template void split<float>(const SparseVector<float>&,
                           std::span<const std::uint32_t>,
                           SparseVector<float>*,
                           SparseVector<float>*);
template void split<double>(const SparseVector<double>&,
                            std::span<const std::uint32_t>,
                            SparseVector<double>*,
                            SparseVector<double>*);
template void to_sparse<float>(std::span<const float>, SparseVector<float>&);
template void to_sparse<double>(std::span<const double>, SparseVector<double>&);
template bool is_well_formed<float>(const SparseVector<float>&, std::size_t);
template bool is_well_formed<double>(const SparseVector<double>&, std::size_t);

}  // namespace residuum
