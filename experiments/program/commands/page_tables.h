#pragma once
// Tables of pages are made from kept results. A page marks the place of each:
//
//   <!-- table FOLDER NAME -->
//   | ... |
//   <!-- end -->
//
// FOLDER lies beside the page and has the tables' description, tables.toml, in which [NAME] says
// what the rows and columns are:
//
//   [methods]
//   mask = { aggregator_kind = "gtopk-mask" }     # names for texts of columns and varied keys
//
//   [ends]
//   corner = ["P"]                                # heads of the columns that have the rows' heads
//   column = "final_loss"                         # keys of KeptCell, for all cells
//   columns = [{ head = "mask", method = "mask" }, { head = "all-gather", where = { ... } }]
//   rows = [{ head = ["4"], where = { workers_count = "4" } }]
//
// A cell has the keys of its table, its column and its row, the later ones first; those of `where`
// are joined. `minus` is a method's name or a table of texts, and subtracts the runs of the same
// seeds that have them. `holm = true` of a table makes its mean differences one family of tests;
// those that Holm's procedure rejects at 5 % have an asterisk; statistic = "p" writes a p-value.

#include <filesystem>
#include <string>
#include <vector>

namespace residuum {

/// A table that a page shows otherwise than the kept results say.
struct StaleTable {
  std::string place;  // "README.md:12: table ends"
  std::string is;     // the first line that differs, as it is
  std::string must;   // and as it must be; each empty where a line is missing
};

struct PageTables {
  std::string text;  // of the page, with the tables made anew
  std::size_t tables = 0;
  std::vector<StaleTable> stale;
};

/// Makes the tables of a page anew. A mark without an end, a table that is not described, a
/// description that means nothing, and results that do not have what it asks for are usage errors
/// that name the place.
PageTables tables_of_page(const std::filesystem::path& page);

/// Reads the text of a tables.toml and checks every table, without results. A value without meaning
/// is a usage error that names the place.
void check_table_description(const std::string& text, const std::string& file);

}  // namespace residuum
