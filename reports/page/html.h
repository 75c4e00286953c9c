#pragma once
// These are the few things that a page made by hand needs. All text of others goes through
// `escape`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residuum::reports {

/// Returns the text with & < > " ' as entities, for element content and quoted attributes alike.
std::string escape(std::string_view text);

/// A Cell is one cell of a table; its `html` is used as it is.
struct Cell {
  std::string html;
  bool is_number = false;
  std::optional<double> value = std::nullopt;  // what it is sorted by, where its text will not do
};

/// The text, escaped, as a cell; numbers stand at the right.
Cell text_cell(std::string_view text);
Cell number_cell(std::string_view text);

/// A key such as "feedback.putback" as a cell, in which a line may break after dots.
Cell key_cell(std::string_view key);

/// The text, escaped, in small print.
std::string small(std::string_view text);

/// TableUse says what a reader can do with a table.
struct TableUse {
  std::string id;            // of a table that can be sorted; empty: it cannot
  std::string caption;       // escaped
  bool is_searched = false;  // a field above it finds rows by their text
  /// The method of each row, by which rows are filtered; empty: they are not.
  std::vector<std::optional<std::size_t>> methods;
  bool has_cards = false;  // on a phone a row is a card: every cell says its column
};

/// A table with a header row, in a box of its own that scrolls when the page is narrow. The first
/// cell of a row is its header.
std::string table(const std::vector<Cell>& header,
                  const std::vector<std::vector<Cell>>& rows,
                  const TableUse& use = {});

// The frame of a page: its head with the security policy, and the texts that the policy lets in.

/// An asset is a text of reports/page/web that every page holds. The build embeds them.
struct Asset {
  std::string_view text;
  std::string_view sha256;  // in hexadecimal digits
};

Asset page_style();
Asset page_script();

/// Returns the library that the script draws figures with; its text is empty in a program that was
/// built where npm had not fetched it, and figures are then the static ones.
Asset page_library();

/// Returns the licences of the library, one after the other.
Asset page_library_licences();

/// Returns "sha256-..." in base 64, as security policies write it, of 64 hexadecimal digits.
std::string policy_hash(std::string_view hexadecimal);

/// Returns all up to the body. The page may load nothing from anywhere, and may run and apply only
/// the program's own script and style: what a name smuggles in stays dead.
std::string page_head(std::string_view title);

/// Returns the data as an element that is not run. No '<' is left in it.
std::string data_element(std::string_view json);

/// Returns the scripts, which stand at the end of the body.
std::string page_scripts();

}  // namespace residuum::reports
