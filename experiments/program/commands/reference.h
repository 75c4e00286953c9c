#pragma once
// A reference is the list of columns, keys, commands and components that `residuum list` prints: as
// text, as JSON, or as the pages of experiments/reference. A test compares these pages with its
// output.

#include <string>
#include <vector>

namespace residuum {

struct ReferencePart {
  std::string head;  // as a word: "Law"
  std::vector<std::string> points;
  bool in_one_line = false;  // on a page: symbols; else a list
};

struct ReferenceLine {
  std::string name;
  std::string summary;
  std::string source;  // or unit, default, and so on, by the reference
  /// More of it, each with a head: a law, the columns of a probe, the preconditions of a theorem.
  std::vector<ReferencePart> parts = {};
};

/// Lines that belong together: a table of columns, a section of keys, a command.
struct ReferenceGroup {
  std::string prefix;  // before each name where lines of all groups stand together
  std::string title;   // on a page; empty where there is one group
  std::string text;    // below the title
  std::vector<ReferenceLine> lines;
};

struct Reference {
  std::string name;                // residuum list NAME
  std::string title;               // of the page
  std::vector<std::string> heads;  // of the columns of its tables: name, source, summary
  std::string text = {};           // below the title of the page
  std::vector<ReferenceGroup> groups;
};

/// Returns the reference as a page of Markdown, which says how it is made.
std::string as_markdown(const Reference& reference);

}  // namespace residuum
