#pragma once
// Vectors of d numbers are put on huge pages, if the system provides them on request (Linux,
// madvise). On small pages, code that touches a few distant entries, as put-back does, waits for
// page tables.

#include <cstddef>
#include <vector>

namespace residuum {

/// Asks for huge pages for the memory; if there are none, nothing happens.
void ask_for_huge_pages(void* memory, std::size_t bytes);

/// Returns `size` zeros.
template <class Real>
std::vector<Real> large_vector(std::size_t size) {
  std::vector<Real> vector;
  vector.reserve(size);
  ask_for_huge_pages(vector.data(), size * sizeof(Real));  // before the first touch
  vector.resize(size);
  return vector;
}

}  // namespace residuum
