#pragma once
// The keys of a study, for `residuum list keys` and the page that is made of it. A component reads
// its own keys; a test compares what all of them read, and their defaults, with this list.

#include <span>
#include <string_view>

namespace residuum {

struct StudyKey {
  std::string_view section;  // empty: a key of the study itself
  std::string_view name;
  std::string_view fallback;  // as it is written in a study; empty where the key has none
  std::string_view meaning;
};

/// In the order of the sections of a study.
std::span<const StudyKey> study_keys();

}  // namespace residuum
