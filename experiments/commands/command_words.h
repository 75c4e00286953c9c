#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace residuum {

/// Parts a command line into its words, as a shell does with blanks, '...', "..." and backslashes.
/// Nothing else is a shell's: an operator or an expansion that is not quoted is a usage error, and
/// so is a quote that does not end, or no word at all. `option` is what messages call the line.
std::vector<std::string> command_words(std::string_view line, std::string_view option);

}  // namespace residuum
