#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "assumptions/estimators/intervals.h"
#include "core/error.h"
#include "core/output_file.h"
#include "core/text.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/page_tables.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/study/study_toml.h"
#include "reports/latex/kept_cell.h"
#include "reports/results/files.h"

namespace residuum {
namespace {

using reports::CellStatistic;
using reports::KeptCell;
using reports::RunKeys;
using reports::Take;

constexpr std::string_view kDescription = "tables.toml";
constexpr std::uint64_t kLongestPage = 10'000'000;
constexpr int kMostDigits = 15;

/// Returns a page's lines with their ends.
std::vector<std::string_view> lines_of_page(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto length = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

std::string_view without_line_end(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r' || line.back() == ' ')) {
    line.remove_suffix(1);
  }
  return line;
}

/// The folder and the words of a mark such as "<!-- table kept/r4-lstm ends -->".
struct TableMark {
  std::string folder;
  std::string name;
};

std::optional<TableMark> mark_in(std::string_view line, const std::string& place) {
  constexpr std::string_view kOpen = "<!-- table ";
  constexpr std::string_view kClose = " -->";
  line = without_line_end(line);
  if (!line.starts_with(kOpen)) {
    return std::nullopt;
  }
  const bool is_closed = line.size() >= kOpen.size() + kClose.size() && line.ends_with(kClose);
  require(is_closed, "{}: the mark must be <!-- table FOLDER NAME -->", place);
  line.remove_prefix(kOpen.size());
  line.remove_suffix(kClose.size());
  const auto space = line.find(' ');
  const bool has_two_words = space != std::string_view::npos && space > 0 &&
                             space + 1 < line.size() &&
                             line.find(' ', space + 1) == std::string_view::npos;
  require(has_two_words, "{}: the mark must be <!-- table FOLDER NAME -->", place);
  return TableMark{.folder = std::string(line.substr(0, space)),
                   .name = std::string(line.substr(space + 1))};
}

const toml::table& table_at(const toml::node& node, std::string_view what) {
  const auto* table = node.as_table();
  require(table != nullptr, "{} at {} must be a table", what, place_of(node.source()));
  return *table;
}

std::string text_at(const toml::node& node, std::string_view what) {
  const auto value = node.value_exact<std::string>();
  require(value.has_value(), "{} at {} must be a text", what, place_of(node.source()));
  require(is_utf8(*value) && value->find_first_of("|\n\r") == std::string::npos,
          "{} at {} must be one line of text without '|'",
          what,
          place_of(node.source()));
  return *value;
}

double number_at(const toml::node& node, std::string_view what) {
  const auto value = node.value<double>();
  require(node.is_number() && value && std::isfinite(*value),
          "{} at {} must be a number",
          what,
          place_of(node.source()));
  return *value;
}

int small_number_at(const toml::node& node, std::string_view what, int most) {
  const auto value = node.value_exact<std::int64_t>();
  require(value && *value >= 0 && *value <= most,
          "{} at {} must be from 0 to {}",
          what,
          place_of(node.source()),
          most);
  return static_cast<int>(*value);
}

bool flag_at(const toml::node& node, std::string_view what) {
  const auto value = node.value_exact<bool>();
  require(value.has_value(), "{} at {} must be true or false", what, place_of(node.source()));
  return *value;
}

RunKeys texts_at(const toml::node& node, std::string_view what) {
  RunKeys texts;
  for (const auto& [key, value] : table_at(node, what)) {
    texts[std::string(key.str())] = text_at(value, key.str());
  }
  return texts;
}

std::vector<std::string> heads_at(const toml::node& node, std::string_view what) {
  if (const auto* list = node.as_array()) {
    std::vector<std::string> heads;
    for (const auto& head : *list) {
      heads.push_back(text_at(head, what));
    }
    return heads;
  }
  return {text_at(node, what)};
}

template <typename Value, std::size_t n>
Value named_value(const toml::node& node,
                  std::string_view what,
                  const std::array<std::pair<std::string_view, Value>, n>& known) {
  const std::string name = text_at(node, what);
  std::vector<std::string> names;
  for (const auto& [word, value] : known) {
    if (word == name) {
      return value;
    }
    names.emplace_back(word);
  }
  usage_error(
      "'{}' at {} is no {}{}", name, place_of(node.source()), what, suggestion(name, names));
}

constexpr std::array<std::pair<std::string_view, CellStatistic>, 12> kCellStatistics{
    {{"mean", CellStatistic::mean},
     {"median", CellStatistic::median},
     {"p", CellStatistic::p_value},
     {"needed", CellStatistic::needed},
     {"average", CellStatistic::average},
     {"max", CellStatistic::max},
     {"min", CellStatistic::min},
     {"sum", CellStatistic::sum},
     {"count", CellStatistic::count},
     {"same", CellStatistic::same},
     {"text", CellStatistic::text},
     {"share", CellStatistic::share}}};

constexpr std::array<std::pair<std::string_view, Take>, 4> kTakes{
    {{"last", Take::last}, {"max", Take::max}, {"mean", Take::mean}, {"rate", Take::rate}}};

/// The names that a description has for methods.
using MethodNames = std::map<std::string, RunKeys>;

RunKeys keys_of_method(const toml::node& node, const MethodNames& methods) {
  const std::string name = text_at(node, "method");
  const auto found = methods.find(name);
  if (found == methods.end()) {
    std::vector<std::string> known;
    for (const auto& method : methods) {
      known.push_back(method.first);
    }
    usage_error("'{}' at {} is no name of [methods]{}",
                name,
                place_of(node.source()),
                suggestion(name, known));
  }
  return found->second;
}

void add_keys(RunKeys& keys, const RunKeys& more) {
  for (const auto& [key, value] : more) {
    keys[key] = value;
  }
}

/// Reads a table of one number, such as { bytes = 3.57e6 }.
std::pair<std::string, double> named_number_at(const toml::node& node, std::string_view what) {
  const auto& table = table_at(node, what);
  require(table.size() == 1, "{} at {} must have one number", what, place_of(node.source()));
  const auto only = table.begin();  // it holds what it points to
  return {std::string(only->first.str()), number_at(only->second, what)};
}

/// A CellKey is a key that tables, columns and rows may have, and what it does to a cell.
struct CellKey {
  std::string_view name;
  void (*set)(KeptCell& cell, const toml::node& node, const MethodNames& methods);
};

template <std::string KeptCell::*member>
void set_text(KeptCell& cell, const toml::node& node, const MethodNames& /*methods*/) {
  cell.*member = text_at(node, "the value");
}

template <bool KeptCell::*member>
void set_flag(KeptCell& cell, const toml::node& node, const MethodNames& /*methods*/) {
  cell.*member = flag_at(node, "the value");
}

constexpr int kMostTestsOfCell = 1'000'000;
constexpr std::array<CellKey, 21> kCellKeys{
    {{"folder", set_text<&KeptCell::folder>},
     {"table", set_text<&KeptCell::table>},
     {"column", set_text<&KeptCell::column>},
     {"over", set_text<&KeptCell::over>},
     {"low", set_text<&KeptCell::low>},
     {"high", set_text<&KeptCell::high>},
     {"unit", set_text<&KeptCell::unit>},
     {"missing", set_text<&KeptCell::missing>},
     {"interval", set_flag<&KeptCell::has_interval>},
     {"signed", set_flag<&KeptCell::is_signed>},
     {"text",
      [](KeptCell& cell, const toml::node& node, const MethodNames& /*methods*/) {
        cell.written = text_at(node, "text");
      }},
     {"where",
      [](KeptCell& cell, const toml::node& node, const MethodNames& /*methods*/) {
        add_keys(cell.where, texts_at(node, "where"));
      }},
     {"method",
      [](KeptCell& cell, const toml::node& node, const MethodNames& methods) {
        add_keys(cell.where, keys_of_method(node, methods));
      }},
     {"minus",
      [](KeptCell& cell, const toml::node& node, const MethodNames& methods) {
        cell.minus = node.is_string() ? keys_of_method(node, methods) : texts_at(node, "minus");
      }},
     {"take",
      [](KeptCell& cell, const toml::node& node, const MethodNames& /*methods*/) {
        cell.take = named_value(node, "take", kTakes);
      }},
     {"statistic",
      [](KeptCell& cell, const toml::node& node, const MethodNames& /*methods*/) {
        cell.statistic = named_value(node, "statistic", kCellStatistics);
      }},
     {"budget",
      [](KeptCell& cell, const toml::node& node, const MethodNames& /*methods*/) {
        const auto [cost, amount] = named_number_at(node, "budget");
        cell.budget = reports::Budget{.cost = cost, .amount = amount};
      }},
     {"until",
      [](KeptCell& cell, const toml::node& node, const MethodNames& /*methods*/) {
        cell.until = named_number_at(node, "until");
      }},
     {"scale",
      [](KeptCell& cell, const toml::node& node, const MethodNames& /*methods*/) {
        cell.scale = number_at(node, "scale");
      }},
     {"digits",
      [](KeptCell& cell, const toml::node& node, const MethodNames& /*methods*/) {
        cell.digits = small_number_at(node, "digits", kMostDigits);
      }},
     {"tests", [](KeptCell& cell, const toml::node& node, const MethodNames& /*methods*/) {
        cell.tests = small_number_at(node, "tests", kMostTestsOfCell);
      }}}};

/// Gives a cell one key of its table, column or row; false for a key that is not of cells.
bool set_cell_key(KeptCell& cell,
                  std::string_view key,
                  const toml::node& node,
                  const MethodNames& methods) {
  const auto* const found = std::find_if(
      kCellKeys.begin(), kCellKeys.end(), [&](const CellKey& known) { return known.name == key; });
  if (found != kCellKeys.end()) {
    found->set(cell, node, methods);
  }
  return found != kCellKeys.end();
}

/// A TableDescription is one [NAME] of tables.toml.
class TableDescription {
 public:
  TableDescription(std::string name, const toml::table& table, const MethodNames& methods)
      : name_(std::move(name)), methods_(&methods), table_(&table) {
    const auto* corner = table.get("corner");
    corner_ = corner == nullptr ? std::vector<std::string>{""} : heads_at(*corner, "corner");
    columns_ = entries("columns", 1);
    rows_ = entries("rows", corner_.size());
    const auto* holm = table.get("holm");
    is_family_ = holm != nullptr && flag_at(*holm, "holm");
    KeptCell none;
    give(none, table, true);
    for (const auto* list : {&columns_, &rows_}) {
      for (const auto& entry : *list) {
        give(none, *entry.keys, false);
      }
    }
  }

  /// Returns the table in Markdown, of results in `folder`.
  std::vector<std::string> lines(const std::filesystem::path& folder,
                                 reports::KeptFolders& folders) const {
    std::vector<std::string> heads = corner_;
    for (const auto& column : columns_) {
      heads.push_back(column.heads.front());
    }
    std::vector<std::string> lines{row_of(heads)};
    std::string rule = "|";
    for (std::size_t i = 0; i < heads.size(); ++i) {
      rule += i < corner_.size() ? "---|" : "---:|";
    }
    lines.push_back(rule + '\n');
    auto cells = cells_of(folder);
    if (is_family_) {
      decide_as_family(cells, folders);
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      std::vector<std::string> texts = rows_[row].heads;
      for (std::size_t column = 0; column < columns_.size(); ++column) {
        texts.push_back(reports::kept_cell(cells[row * columns_.size() + column], folders));
      }
      lines.push_back(row_of(texts));
    }
    return lines;
  }

 private:
  struct Entry {
    std::vector<std::string> heads;
    const toml::table* keys = nullptr;
  };

  static std::string row_of(const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
  }

  std::vector<Entry> entries(const char* key, std::size_t heads) const {
    const auto* node = table_->get(key);
    require(node != nullptr, "[{}] at {} has no {}", name_, place_of(table_->source()), key);
    const auto* list = node->as_array();
    require(list != nullptr && !list->empty(),
            "{} at {} must be a list of tables",
            key,
            place_of(node->source()));
    std::vector<Entry> found;
    for (const auto& one : *list) {
      const auto& table = table_at(one, key);
      const auto* head = table.get("head");
      require(head != nullptr, "an entry of {} at {} has no head", key, place_of(one.source()));
      Entry entry{.heads = heads_at(*head, "head"), .keys = &table};
      require(entry.heads.size() == heads,
              "head at {} has {} texts, and 'corner' {}",
              place_of(head->source()),
              entry.heads.size(),
              heads);
      found.push_back(std::move(entry));
    }
    return found;
  }

  /// Gives a cell the keys of a table, a column or a row. A method comes before `where`, which may
  /// say more.
  void give(KeptCell& cell, const toml::table& table, bool is_whole) const {
    if (const auto* method = table.get("method")) {
      set_cell_key(cell, "method", *method, *methods_);
    }
    for (const auto& [key, node] : table) {
      const bool is_own =
          is_whole ? key == "corner" || key == "columns" || key == "rows" || key == "holm"
                   : key == "head";
      const bool is_known = is_own || set_cell_key(cell, key.str(), node, *methods_);
      require(is_known, "unknown key '{}' at {}", key.str(), place_of(key.source()));
    }
    if (const auto* where = table.get("where")) {
      set_cell_key(cell, "where", *where, *methods_);
    }
  }

  std::vector<KeptCell> cells_of(const std::filesystem::path& folder) const {
    std::vector<KeptCell> cells;
    for (const auto& row : rows_) {
      for (const auto& column : columns_) {
        cells.push_back(cell_of(row, column, folder));
      }
    }
    return cells;
  }

  /// All mean differences of the table are one family of tests, by Holm at 5 %.
  static void decide_as_family(std::vector<KeptCell>& cells, reports::KeptFolders& folders) {
    std::vector<KeptCell*> family;
    std::vector<double> p_values;
    for (auto& cell : cells) {
      if (cell.minus && !cell.written && cell.statistic == CellStatistic::mean) {
        family.push_back(&cell);
        p_values.push_back(reports::p_value_of(cell, folders));
      }
    }
    const auto rejected = holm_rejects(p_values, 1 - kConfidence);
    for (std::size_t i = 0; i < family.size(); ++i) {
      family[i]->is_rejected = rejected[i];
    }
  }

  KeptCell cell_of(const Entry& row,
                   const Entry& column,
                   const std::filesystem::path& folder) const {
    KeptCell cell;
    give(cell, *table_, true);
    give(cell, *column.keys, false);
    give(cell, *row.keys, false);
    cell.folder = (folder / cell.folder).lexically_normal().string();
    cell.place = fmt::format("table {} of {}, row '{}', column '{}'",
                             name_,
                             (folder / kDescription).string(),
                             row.heads.front(),
                             column.heads.front());
    return cell;
  }

  std::string name_;
  const MethodNames* methods_;
  const toml::table* table_;
  std::vector<std::string> corner_;
  std::vector<Entry> columns_;
  std::vector<Entry> rows_;
  bool is_family_ = false;
};

/// A DescriptionFile is a tables.toml.
class DescriptionFile {
 public:
  DescriptionFile(const std::string& text, const std::string& file)
      : root_(std::make_unique<toml::table>(parse_toml(text, file))), file_(file) {
    if (const auto* methods = root_->get("methods")) {
      for (const auto& [name, keys] : table_at(*methods, "methods")) {
        methods_[std::string(name.str())] = texts_at(keys, name.str());
      }
    }
    for (const auto& [name, node] : *root_) {
      if (name != "methods") {
        names_.emplace_back(name.str());
        table_at(node, name.str());
      }
    }
  }

  const std::vector<std::string>& names() const { return names_; }

  TableDescription table(const std::string& name, const std::string& place) const {
    const auto* node = root_->get(name);
    require(node != nullptr && name != "methods",
            "{}: {} has no table '{}'{}",
            place,
            file_,
            name,
            suggestion(name, names_));
    return TableDescription(name, *node->as_table(), methods_);
  }

 private:
  std::unique_ptr<toml::table> root_;
  std::string file_;
  MethodNames methods_;
  std::vector<std::string> names_;
};

void compare_table(const std::vector<std::string_view>& is,
                   const std::vector<std::string>& must,
                   const std::string& place,
                   PageTables& page) {
  const auto at = [](const auto& lines, std::size_t i) {
    return i < lines.size() ? std::string(without_line_end(lines[i])) : std::string();
  };
  for (std::size_t i = 0; i < std::max(is.size(), must.size()); ++i) {
    if (at(is, i) != at(must, i)) {
      page.stale.push_back({.place = place, .is = at(is, i), .must = at(must, i)});
      return;
    }
  }
}

}  // namespace

void check_table_description(const std::string& text, const std::string& file) {
  const DescriptionFile description(text, file);
  for (const auto& name : description.names()) {
    description.table(name, file);
  }
}

PageTables tables_of_page(const std::filesystem::path& page) {
  const std::string text = reports::read_file(page, kLongestPage);
  require(is_utf8(text), "{} is no UTF-8 text", page.string());
  PageTables made;
  std::map<std::string, DescriptionFile> descriptions;
  reports::KeptFolders folders;
  const auto lines = lines_of_page(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    made.text += lines[i];
    const std::string place = fmt::format("{}:{}", page.string(), i + 1);
    const auto mark = mark_in(lines[i], place);
    if (!mark) {
      continue;
    }
    std::vector<std::string_view> old;
    for (++i; i < lines.size() && without_line_end(lines[i]) != "<!-- end -->"; ++i) {
      require(!mark_in(lines[i], place), "{}: no <!-- end --> comes before the next table", place);
      old.push_back(lines[i]);
    }
    require(i < lines.size(), "{}: the table has no <!-- end -->", place);
    const auto folder = page.parent_path() / mark->folder;
    const std::string file = (folder / kDescription).string();
    auto found = descriptions.find(file);
    if (found == descriptions.end()) {
      found =
          descriptions.emplace(file, DescriptionFile(reports::read_file(file, kLongestPage), file))
              .first;
    }
    const auto must = found->second.table(mark->name, place).lines(folder, folders);
    compare_table(old, must, fmt::format("{}: table {}", place, mark->name), made);
    for (const auto& line : must) {
      made.text += line;
    }
    made.text += lines[i];
    ++made.tables;
  }
  return made;
}

// `residuum page` makes the tables of pages from kept results, or says which are stale.

namespace {

void print_stale_table(const StaleTable& stale) {
  fmt::print("{} is stale\n  is:      {}\n  must be: {}\n",
             harmless(stale.place),
             stale.is.empty() ? "(no line)" : harmless(stale.is),
             stale.must.empty() ? "(no line)" : harmless(stale.must));
}

void write_page(const std::filesystem::path& file, const std::string& text) {
  AtomicFile out{OutputPath(file)};
  out.append(text);
  out.commit();
}

/// Returns whether tables of the page are stale.
bool makes_or_checks(const std::filesystem::path& file, bool checks) {
  const PageTables page = tables_of_page(file);
  if (checks) {
    std::for_each(page.stale.begin(), page.stale.end(), print_stale_table);
  } else if (!page.stale.empty()) {
    write_page(file, page.text);
  }
  fmt::print("{}: {} table{}, {} {}\n",
             harmless(file.string()),
             page.tables,
             page.tables == 1 ? "" : "s",
             page.stale.size(),
             checks ? "stale" : "made anew");
  return !page.stale.empty();
}

}  // namespace

ExitCode page_command(const Options& options) {
  bool any_stale = false;
  std::optional<Error> refused;
  for (const auto& file : options.pages) {
    try {
      any_stale = makes_or_checks(file, options.check_pages) || any_stale;
    } catch (const Error& error) {  // the other pages are looked at all the same
      if (refused) {
        say(fmt::format("error: {}", refused->what()));
      }
      refused = error;
    }
  }
  if (refused) {
    throw Error(*refused);
  }
  return options.check_pages && any_stale ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace residuum
