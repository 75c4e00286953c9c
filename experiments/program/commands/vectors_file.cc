#include "experiments/program/commands/vectors_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "objectives/data/byte_stream.h"
#include "objectives/data/npy.h"
#include "objectives/data/safetensors.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"

namespace residuum {
namespace {

using Vectors = std::vector<std::vector<double>>;

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const auto comma = line.find(',');
    cells.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) {
      return cells;
    }
    line.remove_prefix(comma + 1);
  }
}

/// Returns the number that all of `cell` spells; nothing if it spells none.
std::optional<double> number_of(std::string_view cell) {
  if (cell.starts_with('+') && !cell.starts_with("+-")) {
    cell.remove_prefix(1);
  }
  return parsed<double>(cell);
}

/// True if these are "first", "first + 1", ... in order, at least two.
bool counts_from(std::size_t first, const std::vector<std::string_view>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] != std::to_string(first + i)) {
      return false;
    }
  }
  return cells.size() >= 2;
}

/// Returns what parts the values of a row in the place of commas, as a word; empty for none.
std::string_view other_separator(std::string_view line) {
  if (line.find(';') != std::string_view::npos) {
    return "';'";
  }
  if (line.find('\t') != std::string_view::npos) {
    return "tabs";
  }
  const auto blank = line.find(' ');
  const bool has_blanks = blank != std::string_view::npos && number_of(line.substr(0, blank));
  return has_blanks && line.find(',') == std::string_view::npos ? "blanks" : "";
}

/// Refuses a first row of other tools that is no row of numbers, and says what to change.
void check_first_row(std::string_view line, const std::string& place) {
  const auto cells = cells_of(line);
  const auto separator = other_separator(line);
  require(separator.empty(),
          "{}: the values are parted by {}; write commas, and points in decimals",
          place,
          separator);
  require(!counts_from(0, cells),
          "{}: the first row counts the columns, as pandas' header does; write the file with "
          "header=False, index=False, or '0.0' if the row is a vector",
          place);
  const bool has_number = std::any_of(
      cells.begin(), cells.end(), [](auto cell) { return number_of(cell).has_value(); });
  const bool is_index = cells.size() >= 2 && cells.front().empty();
  require(has_number && !is_index,
          "{}: the first row '{}' has the names of columns; delete it, for every row is a vector "
          "(with pandas: header=False, index=False)",
          place,
          line);
}

std::vector<double> parse_row(std::string_view line, const std::string& file, std::size_t row) {
  std::vector<double> numbers;
  for (const std::string_view cell : cells_of(line)) {
    const auto number = number_of(cell);
    const std::size_t column = numbers.size() + 1;
    require(
        number.has_value(), "{}:{}: value {} is '{}', which is no number", file, row, column, cell);
    require(std::isfinite(*number), "{}:{}: value {} is not finite", file, row, column);
    numbers.push_back(*number);
  }
  return numbers;
}

bool has_fraction(std::string_view line) {
  return line.find_first_of(".eE") != std::string_view::npos;
}

/// Refuses whole numbers that count columns or rows beside values with fractions: other tools write
/// them as names.
void check_counts(const std::vector<std::string_view>& lines, const std::string& file) {
  if (lines.size() < 2 || !std::all_of(lines.begin() + 1, lines.end(), has_fraction)) {
    return;
  }
  require(
      !counts_from(1, cells_of(lines.front())),
      "{}: the first row counts the columns from 1; delete it, or write '1.0' if it is a vector",
      file);
  std::vector<std::string_view> first_cells;
  first_cells.reserve(lines.size());
  for (const std::string_view line : lines) {
    first_cells.push_back(line.substr(0, line.find(',')));
  }
  require(!counts_from(0, first_cells) && !counts_from(1, first_cells),
          "{}: the first column counts the rows; delete it (with pandas: index=False), or write "
          "'{}.0' if these are values",
          file,
          first_cells.front());
}

Vectors read_csv(std::string_view text, const std::string& file) {
  refuse_byte_order_mark(text, file);
  Vectors vectors;
  std::vector<std::string_view> lines;
  std::size_t row = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++row;
    if (line.empty()) {
      continue;
    }
    if (vectors.empty()) {
      check_first_row(line, fmt::format("{}:{}", file, row));
    }
    lines.push_back(line);
    vectors.push_back(parse_row(line, file, row));
    require(vectors.back().size() == vectors.front().size(),
            "{}:{}: {} values, but the first row has {}",
            file,
            row,
            vectors.back().size(),
            vectors.front().size());
  }
  check_counts(lines, file);
  return vectors;
}

/// The numbers of an array, in the order of its rows.
NamedTensor flat_npy(std::string_view bytes, const std::string& file) {
  const NpyHeader header = parse_npy_header(bytes, file);
  const auto type = npy_type(header.type);
  const auto shape = parse_npy_shape(header.shape);
  const std::string_view data = bytes.substr(header.size);
  require(type && *type != NpyType::uint8,
          "{}: type {} is not supported; save float16, float32 or float64, little-endian",
          file,
          header.type);
  const auto entries =
      shape ? npy_entries(*shape, npy_width(*type), data.size()) : std::optional<std::size_t>();
  require(entries.has_value(), "{}: its numbers do not make shape {}", file, header.shape);
  require(!header.by_column || shape->size() < 2,
          "{}: is in Fortran order; save numpy.ascontiguousarray of it",
          file);
  std::vector<double> numbers(*entries);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = npy_number(*type, data, i);
  }
  return {.name = file, .shape = *shape, .numbers = std::move(numbers)};
}

/// Returns which step of an array of this shape is meant; 0 of a shape (P, d), which has one.
std::size_t step_in(const NpyHeader& header,
                    const std::vector<std::size_t>& shape,
                    const std::string& file,
                    std::optional<std::int64_t> step) {
  require(shape.size() == 2 || shape.size() == 3,
          "{}: shape {} is not (P, d) or (T, P, d)",
          file,
          header.shape);
  if (shape.size() == 2) {
    require(!step, "{}: shape {} is (P, d) and has no steps; leave out --step", file, header.shape);
    return 0;
  }
  require(step.has_value() && *step >= 0 && static_cast<std::size_t>(*step) < shape.front(),
          "{}: shape {} is (T, P, d): name a step by --step, from 0 to T - 1",
          file,
          header.shape);
  return static_cast<std::size_t>(*step);
}

Vectors read_npy(std::string_view bytes,
                 const std::string& file,
                 std::optional<std::int64_t> step) {
  const NpyHeader header = parse_npy_header(bytes, file);
  const auto type = npy_type(header.type);
  require(type && *type != NpyType::uint8,
          "{}: type {} is not supported; save float16, float32 or float64, little-endian",
          file,
          header.type);
  const auto shape = parse_npy_shape(header.shape);
  require(shape.has_value(), "{}: shape {} is not (P, d) or (T, P, d)", file, header.shape);
  const std::size_t at = step_in(header, *shape, file, step);
  const std::string_view data = bytes.substr(header.size);
  const std::size_t steps = shape->size() == 3 ? shape->front() : 1;
  const std::size_t rows = (*shape)[shape->size() - 2];
  const std::size_t columns = shape->back();
  require(npy_entries(*shape, npy_width(*type), data.size()).has_value(),
          "{}: {} bytes of numbers do not make shape {}",
          file,
          data.size(),
          header.shape);
  Vectors vectors(rows, std::vector<double>(columns));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t position =
          header.by_column ? (j * rows + i) * steps + at : (at * rows + i) * columns + j;
      const double value = npy_number(*type, data, position);
      require(std::isfinite(value), "{}: entry ({}, {}) is not finite", file, i, j);
      vectors[i][j] = value;
    }
  }
  return vectors;
}

/// Refuses the formats of PyTorch and NumPy that are archives, with what converts them.
void refuse_archives(const std::filesystem::path& file) {
  const auto ending = file.extension();
  require(ending != ".pt" && ending != ".pth" && ending != ".bin",
          "{}: PyTorch's own files can run code; convert it: python3 -c \"import numpy, torch; "
          "numpy.save('a.npy', torch.load('{}', weights_only=True).numpy())\"",
          file.string(),
          file.filename().string());
}

/// Leaves the array that is named, or all.
template <class Array>
void choose(std::vector<Array>& arrays,
            const std::string& file,
            const std::optional<std::string>& wanted) {
  if (!wanted) {
    return;
  }
  std::vector<std::string> names;
  names.reserve(arrays.size());
  for (const Array& array : arrays) {
    names.push_back(array.name);
  }
  std::erase_if(arrays, [&](const Array& array) { return array.name != *wanted; });
  require(!arrays.empty(), "{}: has no array '{}'{}", file, *wanted, suggestion(*wanted, names));
}

std::string array_name(const std::string& file, const std::string& name) {
  return fmt::format("{}, array '{}'", file, name);
}

/// Each array has the workers as its first dimension, and a worker's vector is its part of every
/// array, in their order.
Vectors rows_of_workers(const std::vector<NamedTensor>& arrays, const std::string& file) {
  Vectors vectors;
  for (const NamedTensor& array : arrays) {
    const std::string name = array_name(file, array.name);
    const std::size_t workers = array.shape.empty() ? 0 : array.shape.front();
    require(workers > 0, "{}: has no rows: its first dimension is that of the workers", name);
    vectors.resize(vectors.empty() ? workers : vectors.size());
    require(
        workers == vectors.size(),
        "{}: has {} rows, and array '{}' has {}: each array has a row for each worker; --member "
        "takes one",
        name,
        workers,
        arrays.front().name,
        vectors.size());
    const std::size_t count = array.numbers.size() / workers;
    for (std::size_t i = 0; i < array.numbers.size(); ++i) {
      require(std::isfinite(array.numbers[i]),
              "{}: entry ({}, {}) is not finite",
              name,
              i / count,
              i % count);
      vectors[i / count].push_back(array.numbers[i]);
    }
  }
  require(vectors.empty() || !vectors.front().empty(), "{}: its arrays have no numbers", file);
  return vectors;
}

std::vector<NamedTensor> arrays_of_npz(std::string_view bytes,
                                       const std::string& file,
                                       const std::optional<std::string>& wanted) {
  auto members = read_npz(bytes, file);
  choose(members, file, wanted);
  std::vector<NamedTensor> arrays;
  for (const NpzMember& member : members) {
    arrays.push_back(flat_npy(member.bytes, array_name(file, member.name)));
    arrays.back().name = member.name;
  }
  return arrays;
}

std::vector<NamedTensor> arrays_of_safetensors(std::string_view bytes,
                                               const std::string& file,
                                               const std::optional<std::string>& wanted) {
  auto arrays = read_safetensors(bytes, file);
  choose(arrays, file, wanted);
  return arrays;
}

/// Reads one array as a .npy file is read, and several by their rows.
Vectors read_npz_vectors(std::string_view bytes,
                         const std::string& file,
                         std::optional<std::int64_t> step,
                         const std::optional<std::string>& wanted) {
  auto members = read_npz(bytes, file);
  choose(members, file, wanted);
  if (members.size() == 1) {
    return read_npy(members.front().bytes, array_name(file, members.front().name), step);
  }
  require(!step, "{}: has {} arrays; name the one with steps by --member", file, members.size());
  return rows_of_workers(arrays_of_npz(bytes, file, wanted), file);
}

/// Returns all numbers of one file as a vector, whatever their shape.
std::vector<double> read_worker(const std::filesystem::path& file,
                                const std::optional<std::string>& member) {
  const std::string bytes = reports::read_file(file);
  if (file.extension() == ".npy") {
    return flat_npy(bytes, file.string()).numbers;
  }
  const auto arrays = file.extension() == ".npz"
                          ? arrays_of_npz(bytes, file.string(), member)
                          : arrays_of_safetensors(bytes, file.string(), member);
  std::vector<double> numbers;
  for (const NamedTensor& array : arrays) {
    numbers.insert(numbers.end(), array.numbers.begin(), array.numbers.end());
  }
  return numbers;
}

/// Returns the last number in a file's name; nothing without one.
std::optional<std::uint64_t> number_in(const std::string& name) {
  constexpr const char* kDigits = "0123456789";
  const auto last = name.find_last_of(kDigits);
  if (last == std::string::npos) {
    return std::nullopt;
  }
  const auto before = name.find_last_not_of(kDigits, last);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  return parsed<std::uint64_t>(std::string_view(name).substr(first, last + 1 - first));
}

Vectors read_folder(const std::filesystem::path& folder, const std::optional<std::string>& member) {
  std::map<std::uint64_t, std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto ending = entry.path().extension();
    const std::string name = entry.path().stem().string();
    const bool is_known = ending == ".npy" || ending == ".npz" || ending == ".safetensors";
    if (!is_known || name.starts_with('.')) {
      continue;
    }
    const auto number = number_in(name);
    require(number.has_value(), "{}: has no number of a worker in its name", entry.path().string());
    const auto [at, is_new] = files.emplace(*number, entry.path());
    require(is_new,
            "{} and {} are both worker {}",
            at->second.string(),
            entry.path().string(),
            *number);
  }
  require(!files.empty(), "{}: has no .npy, .npz and .safetensors files", folder.string());
  Vectors vectors;
  for (const auto& [number, file] : files) {
    vectors.push_back(read_worker(file, member));
    require(vectors.back().size() == vectors.front().size() && !vectors.back().empty(),
            "{}: has {} numbers, and {} has {}",
            file.string(),
            vectors.back().size(),
            files.begin()->second.string(),
            vectors.front().size());
    const auto bad = std::find_if_not(
        vectors.back().begin(), vectors.back().end(), [](double x) { return std::isfinite(x); });
    require(bad == vectors.back().end(),
            "{}: entry {} is not finite",
            file.string(),
            bad - vectors.back().begin());
  }
  return vectors;
}

}  // namespace

void write_vectors(const std::filesystem::path& file,
                   std::span<const double> vectors,
                   std::size_t dimension) {
  const std::array shape{vectors.size() / dimension, dimension};
  std::string bytes = npy_header(NpyType::float64, shape);
  const std::size_t start = bytes.size();
  bytes.resize(start + vectors.size_bytes());
  std::memcpy(bytes.data() + start, vectors.data(), vectors.size_bytes());
  remove_leftovers_beside(file);
  write_file_atomically(file, bytes);
}

std::vector<std::vector<double>> read_vectors(const std::filesystem::path& file,
                                              std::optional<std::int64_t> step,
                                              const std::optional<std::string>& member) {
  const std::string name = file.string();
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    require(!step, "{}: a folder has one step; leave out --step", name);
    return read_folder(file, member);
  }
  refuse_archives(file);
  const bool is_array = file.extension() == ".npy";
  const bool is_archive = file.extension() == ".npz";
  const bool is_tensors = file.extension() == ".safetensors";
  require(
      is_array || is_archive || !step, "{}: only a .npy array of shape (T, P, d) has steps", name);
  require(is_archive || is_tensors || !member,
          "{}: only .npz and .safetensors files have arrays for --member",
          name);
  const std::string bytes = reports::read_file(file);
  auto vectors = is_archive   ? read_npz_vectors(bytes, name, step, member)
                 : is_tensors ? rows_of_workers(arrays_of_safetensors(bytes, name, member), name)
                 : is_array   ? read_npy(bytes, name, step)
                              : read_csv(bytes, name);
  require(!vectors.empty(), "{}: no vectors in the file", name);
  return vectors;
}

}  // namespace residuum
