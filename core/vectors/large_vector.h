#pragma once
// Vectors of d numbers on huge pages, where the system gives them on request (Linux, madvise): what
// touches a few far entries of such a vector, as put-back does, otherwise waits for page tables.

#include <cstddef>
#include <vector>

namespace residuum {

/// Asks for huge pages for the memory; nothing is said if there are none.
void ask_for_huge_pages(void* memory, std::size_t bytes);

/// `size` zeros.
template <class Real>
std::vector<Real> large_vector(std::size_t size) {
  std::vector<Real> vector;
  vector.reserve(size);
  ask_for_huge_pages(vector.data(), size * sizeof(Real));  // before the first touch
  vector.resize(size);
  return vector;
}

}  // namespace residuum
