#pragma once
// The catalogue lists the data sets that a study can name and where their files come from, and
// loads them by name.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "objectives/data/dataset.h"
#include "objectives/data/libsvm.h"
#include "objectives/data/text.h"

namespace residuum {

/// DataFile is one published file of a data set.
struct DataFile {
  std::string file;               ///< Its name under the data directory, as published.
  std::string sha256;             ///< That of the published bytes; empty if unknown.
  std::vector<std::string> urls;  ///< Mirrors, first choice first; empty: not fetched.
};

enum class DataKind { sparse, images, text };

struct DatasetEntry {
  std::string name;
  DataKind kind;
  std::string summary;
  std::string terms;
  std::vector<DataFile> train;  ///< One LIBSVM file, images and labels, records of images, or a
                                ///< text; empty: made from a seed.
  std::vector<DataFile> test;   ///< Held-out data in the same form; may be empty. Of several files
                                ///< of records the first that is there.
  std::size_t features = 0;     ///< The least number, if the last ones occur in no sample.
  std::optional<DataFile> archive = std::nullopt;  ///< Published in place of the single files.
};

/// Returns all known data sets, in the order in which `residuum list datasets` shows them.
std::span<const DatasetEntry> datasets();

/// Returns the data directory: `flag` (--data-dir) if given, else $RESIDUUM_DATA, else "data".
std::filesystem::path data_directory(const std::optional<std::string>& flag);

/// Returns what a study in `study_dir` means by its key `data`: a name as it is. A relative path,
/// which has a dot or a slash and is no known name, begins at the study's folder.
std::string data_in_study(const std::string& name_or_path, const std::filesystem::path& study_dir);

/// Loads the data that a study's key `data` names: a known name, another file's name in the data
/// directory, or the path of a LIBSVM file. A name is looked for as NAME/FILE and FILE, each plain
/// and packed. If nothing is found, a usage error names the places, the nearest known name and the
/// cure.
SparseDataset load_sparse(const std::string& name_or_path,
                          const std::filesystem::path& data_dir,
                          LibsvmOptions options = {});

/// Loads the held-out data of the same name or path: the known test file, or by LIBSVM's convention
/// the file NAME.t beside NAME. The result is absent if there is none. The options are those of the
/// training data, with its classes: held-out data has both or one of them. Its largest feature, and
/// so its number of features, may differ from the training data's.
std::optional<SparseDataset> load_sparse_test(const std::string& name_or_path,
                                              const std::filesystem::path& data_dir,
                                              const LibsvmOptions& options = {
                                                  .classes = LabelPair{}});

/// Loads images by a known name, with the same places and messages as above.
ImageDataset load_images(const std::string& name, const std::filesystem::path& data_dir);
std::optional<ImageDataset> load_images_test(const std::string& name,
                                             const std::filesystem::path& data_dir);

/// Loads a text by a known name, or by the path of a file.
TextSource load_text(const std::string& name_or_path, const std::filesystem::path& data_dir);

}  // namespace residuum
