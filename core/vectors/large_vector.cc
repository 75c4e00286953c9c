#include "core/vectors/large_vector.h"

#include <memory>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace residuum {

void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  constexpr std::size_t kHugePage = std::size_t{1} << 21;
  if (bytes < 2 * kHugePage) {
    return;
  }
  // Only huge pages that lie wholly in the memory are asked for: the others are shared with other
  // data.
  std::size_t room = bytes;
  void* begin = std::align(kHugePage, kHugePage, memory, room);
  if (begin != nullptr) {
    madvise(begin, room - room % kHugePage, MADV_HUGEPAGE);
  }
#endif
}

}  // namespace residuum
