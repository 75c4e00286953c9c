#pragma once
// Methods without names of the study's own are named by what tells them apart, in few enough
// characters for the legend of a figure.

#include <string>
#include <vector>

namespace residuum::reports {

/// The most characters of a method's name, where no number would have to be cut.
inline constexpr std::size_t kMostLabelCharacters = 40;

/// A LabelPart is the part of a name that one key gives: "rho=0.01", or a value without the key.
struct LabelPart {
  std::string word;  // the key or a short name of it; empty where the value speaks for itself
  std::string value;
  bool is_own = false;  // the study has given the value its name

  std::string text() const { return word.empty() ? value : word + '=' + value; }
  bool operator==(const LabelPart&) const = default;
};

using LabelParts = std::vector<LabelPart>;

/// Returns "gtopk-tree, top-k, rho=0.01".
std::string label_text(const LabelParts& parts);

/// Returns the names of methods. No two of them may have the same parts, and each needs a part. If
/// all names are short, they have all their parts. Else the parts are left out that all methods
/// share, also those in `named`, which have names already. Keys are then named by their last word.
/// A part that varies is never left out, or a name would be read wrongly. A name from the study
/// that only one method has needs no further parts. If a name is still too long, the longest values
/// are cut in their middle, in all names alike. Keys and numbers are never cut, because a part of a
/// number is another number: where many vary, a name is longer than kMostLabelCharacters.
std::vector<std::string> short_labels(std::vector<LabelParts> methods,
                                      const std::vector<LabelParts>& named = {});

/// Cuts each name to `most` characters, with … where characters were: in the middle if that keeps
/// different names different, else wherever it does, else with a number.
std::vector<std::string> cut_apart(const std::vector<std::string>& names, std::size_t most);

}  // namespace residuum::reports
