// A name becomes data by a look-up in the table and in the data directory; it is never parsed as a
// path.

#include "objectives/data/catalogue.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "objectives/data/byte_stream.h"
#include "objectives/data/image_files.h"
#include "objectives/data/libsvm.h"
#include "objectives/data/synthetic.h"

namespace residuum {
namespace {

using Path = std::filesystem::path;

const DatasetEntry* find_entry(const std::string& name) {
  const auto known = datasets();
  const auto entry =
      std::find_if(known.begin(), known.end(), [&](const auto& e) { return e.name == name; });
  return entry == known.end() ? nullptr : &*entry;
}

std::vector<std::string> names_of(DataKind kind) {
  std::vector<std::string> names;
  for (const auto& entry : datasets()) {
    if (entry.kind == kind) {
      names.push_back(entry.name);
    }
  }
  return names;
}

bool is_file(const Path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

/// Returns whether a value of the key `data` is a path and not a name.
bool is_data_path(const std::string& name_or_path) {
  return name_or_path.find_first_of("./") != std::string::npos &&
         find_entry(name_or_path) == nullptr;
}

/// Returns the path of a file that must be there.
Path need_path(const std::string& path) {
  std::error_code ignored;
  require(std::filesystem::exists(path, ignored),
          "{}: no such file. A path in a study begins at the folder of the study file",
          path);
  return path;
}

/// Refuses a name that could lead out of the data directory or that would garble a message: names
/// come from studies.
void check_name(const std::string& name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_+-").find(c) != std::string_view::npos;
  };
  constexpr std::size_t kLongest = 100;
  require(
      !name.empty() && name.size() <= kLongest && std::all_of(name.begin(), name.end(), is_allowed),
      "a data set's name is 1 to {} letters, digits and _ + -; a path has a '.' or a '/'",
      kLongest);
}

/// Finds the file in `folder`, plain or packed.
std::optional<Path> find_packed(const Path& folder, const std::string& file) {
  if (is_file(folder / file)) {
    return folder / file;
  }
  for (const std::string_view packing : kPackings) {
    Path path = folder / (file + std::string(packing));
    if (is_file(path)) {
      return path;
    }
  }
  return std::nullopt;
}

/// Names a file of a data set; `file` is as published, or without its packing.
struct Wanted {
  std::string name;
  std::string file;
};

std::optional<Path> find_file(const Path& data_dir, const Wanted& wanted) {
  const std::string plain = data_file_name(wanted.file);
  const auto found = find_packed(data_dir / wanted.name, plain);
  return found ? found : find_packed(data_dir, plain);
}

[[noreturn]] void not_found(const Path& data_dir, const Wanted& wanted) {
  const std::string plain = data_file_name(wanted.file);
  const std::string places = fmt::format("looked for '{}' and '{}', plain and {}",
                                         (data_dir / wanted.name / plain).string(),
                                         (data_dir / plain).string(),
                                         fmt::join(kPackings, ", "));
  if (find_entry(wanted.name) != nullptr) {
    usage_error(
        "data set '{}' is not there ({}); run experiments/fetch_data {}, or say where it "
        "is with --data-dir or RESIDUUM_DATA",
        wanted.name,
        places,
        wanted.name);
  }
  usage_error("unknown data set '{}' ({}; a path has a '.' or a '/', such as './{}'){}",
              wanted.name,
              places,
              wanted.name,
              suggestion(wanted.name, names_of(DataKind::sparse)));
}

Path need_file(const Path& data_dir, const Wanted& wanted) {
  const auto found = find_file(data_dir, wanted);
  if (!found) {
    not_found(data_dir, wanted);
  }
  return *found;
}

const char* content_of(DataKind kind) {
  switch (kind) {
    case DataKind::sparse:
      return "feature vectors";
    case DataKind::images:
      return "images";
    case DataKind::text:
      break;
  }
  return "text";
}

void check_kind(const DatasetEntry* entry, DataKind kind) {
  require(entry == nullptr || entry->kind == kind,
          "data set '{}' holds {}; this objective takes one of: {}",
          entry == nullptr ? "" : entry->name,
          entry == nullptr ? "" : content_of(entry->kind),
          fmt::join(names_of(kind), ", "));
}

SparseDataset synthetic(const std::string& name, Part part) {
  if (name == "synthetic-gisette") {
    return make_gisette_twin({.rows = part == Part::training ? 6000U : 1000U, .part = part});
  }
  const std::size_t rows = part == Part::training ? 2000 : 500;
  return make_logistic_data({.rows = rows, .features = 100, .part = part}).data;
}

ImageDataset synthetic_images(Part part) {
  const std::size_t rows = part == Part::training ? 6000 : 1000;
  return make_teacher_images({.rows = rows, .part = part});
}

std::optional<Path> find_sparse_test(const std::string& name, const Path& data_dir) {
  if (is_data_path(name)) {
    const Path path(name);
    return find_packed(path.parent_path(), data_file_name(path) + ".t");
  }
  check_name(name);
  const DatasetEntry* const entry = find_entry(name);
  check_kind(entry, DataKind::sparse);
  if (entry != nullptr && entry->test.empty()) {
    return std::nullopt;
  }
  const std::string file = entry == nullptr ? name + ".t" : entry->test.at(0).file;
  return find_file(data_dir, {.name = name, .file = file});
}

/// Returns the table's entry of this name and kind. Images and texts can be named only if they are
/// in the table.
const DatasetEntry& known_entry(const std::string& name, DataKind kind) {
  require(kind != DataKind::images || !is_data_path(name),
          "images are taken by name, not from a path; known: {}",
          fmt::join(names_of(kind), ", "));
  check_name(name);
  const DatasetEntry* const entry = find_entry(name);
  check_kind(entry, kind);
  require(entry != nullptr,
          "unknown data set '{}': none of that name holds {}{}",
          name,
          content_of(kind),
          suggestion(name, names_of(kind)));
  return *entry;
}

/// True if labels and pixels are in the same files, as in CIFAR-10; false if each has its own file,
/// as in MNIST.
bool has_records(const DatasetEntry& entry) { return entry.train.at(0).file.ends_with(".bin"); }

ImageDataset named(ImageDataset data, const std::string& name) {
  data.name = name;
  return data;
}

/// Reads a text; `note` names the parts that were left out of it.
std::string read_text(const Path& path, std::string& note) {
  std::string bytes = read_bytes(path);
  check_text(bytes, path);
  note += take_out_marks(bytes);
  return bytes;
}

TextSource synthetic_text() {
  return {.name = "synthetic-text",
          .train = make_markov_text({.characters = 20000}),
          .test = make_markov_text({.characters = 4000, .part = Part::held_out})};
}

}  // namespace

std::string data_in_study(const std::string& name_or_path, const Path& study_dir) {
  return is_data_path(name_or_path) ? (study_dir / name_or_path).string() : name_or_path;
}

Path data_directory(const std::optional<std::string>& flag) {
  if (flag) {
    require(!flag->empty(), "--data-dir is empty; name a folder");
    return *flag;
  }
  const char* const variable = std::getenv("RESIDUUM_DATA");  // NOLINT(concurrency-mt-unsafe)
  return variable == nullptr || *variable == '\0' ? Path("data") : Path(variable);
}

SparseDataset load_sparse(const std::string& name_or_path,
                          const Path& data_dir,
                          LibsvmOptions options) {
  if (is_data_path(name_or_path)) {
    return read_libsvm(need_path(name_or_path), options);
  }
  check_name(name_or_path);
  const DatasetEntry* const entry = find_entry(name_or_path);
  check_kind(entry, DataKind::sparse);
  if (entry != nullptr && entry->train.empty()) {
    return synthetic(name_or_path, Part::training);
  }
  if (entry == nullptr) {
    return read_libsvm(need_file(data_dir, {.name = name_or_path, .file = name_or_path}), options);
  }
  options.minimum_features = entry->features;
  auto data = read_libsvm(
      need_file(data_dir, {.name = name_or_path, .file = entry->train.at(0).file}), options);
  data.name = entry->name;
  return data;
}

std::optional<SparseDataset> load_sparse_test(const std::string& name_or_path,
                                              const Path& data_dir,
                                              const LibsvmOptions& options) {
  const DatasetEntry* const entry = find_entry(name_or_path);
  if (entry != nullptr && entry->kind == DataKind::sparse && entry->train.empty()) {
    return synthetic(name_or_path, Part::held_out);
  }
  const auto path = find_sparse_test(name_or_path, data_dir);
  return path ? std::optional(read_libsvm(*path, options)) : std::nullopt;
}

ImageDataset load_images(const std::string& name, const Path& data_dir) {
  const DatasetEntry& entry = known_entry(name, DataKind::images);
  if (entry.train.empty()) {
    return synthetic_images(Part::training);
  }
  std::vector<Path> files;
  for (const DataFile& file : entry.train) {
    files.push_back(need_file(data_dir, {.name = name, .file = file.file}));
  }
  return named(has_records(entry) ? read_cifar10(files) : read_idx(files.at(0), files.at(1)), name);
}

std::optional<ImageDataset> load_images_test(const std::string& name, const Path& data_dir) {
  const DatasetEntry& entry = known_entry(name, DataKind::images);
  if (entry.train.empty()) {
    return synthetic_images(Part::held_out);
  }
  std::vector<Path> files;
  for (const DataFile& file : entry.test) {
    if (auto found = find_file(data_dir, {.name = name, .file = file.file})) {
      files.push_back(std::move(*found));
    }
  }
  if (files.size() < (has_records(entry) ? 1 : 2)) {
    return std::nullopt;
  }
  return named(has_records(entry) ? read_cifar10({files.data(), 1}) : read_idx(files[0], files[1]),
               name + " test");
}

TextSource load_text(const std::string& name_or_path, const Path& data_dir) {
  if (is_data_path(name_or_path)) {
    TextSource text{.name = data_file_name(name_or_path), .train = {}};
    text.train = read_text(need_path(name_or_path), text.note);
    return text;
  }
  const DatasetEntry& entry = known_entry(name_or_path, DataKind::text);
  if (entry.train.empty()) {
    return synthetic_text();
  }
  const Wanted wanted{.name = entry.name, .file = entry.train.at(0).file};
  TextSource text{.name = entry.name, .train = {}};
  text.train = read_text(need_file(data_dir, wanted), text.note);
  if (!entry.test.empty()) {
    text.usual_level = TextLevel::word;
    const auto test = find_file(data_dir, {.name = entry.name, .file = entry.test.at(0).file});
    require(test.has_value(),
            "the held-out text of '{}' is not there ('{}'); run experiments/fetch_data {}",
            entry.name,
            entry.test.at(0).file,
            entry.name);
    text.test = read_text(*test, text.note);
  }
  return text;
}

}  // namespace residuum
