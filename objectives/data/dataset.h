#pragma once
// A data set in memory has compressed sparse rows or dense rows, and labels.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace residuum {

struct TextDataset;

/// Two labels of a file, of which the lower stands for -1 and the higher for +1.
struct LabelPair {
  int low = -1;
  int high = 1;
};

/// Holds rows in CSR form, the shape that LIBSVM files have. Feature indices start at 0 and
/// increase strictly within a row.
struct SparseDataset {
  std::string name;
  std::size_t features = 0;
  std::vector<std::uint64_t> row_begin{0};  // rows + 1 offsets
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  std::vector<std::int32_t> labels;             // one per row, mapped to -1 / +1 for two classes
  LabelPair classes;                            // the labels as they were before
  std::vector<std::int32_t> class_labels = {};  // of many classes: what labels 0, 1, ... were
  std::vector<double> targets = {};             // of a regression, one per row; labels are 0 then
  std::string note;  // how labels were mapped, e.g. "labels 1, 2 mapped to -1, +1"

  std::size_t rows() const { return labels.size(); }
};

/// Holds images as bytes, which are scaled to [0, 1] on use; the pixel order is that of the file
/// (IDX: row by row).
struct ImageDataset {
  std::string name;
  std::size_t channels = 1;
  std::size_t height = 0;
  std::size_t width = 0;
  int classes = 0;
  std::vector<std::uint8_t> pixels;  // rows * channels * height * width
  std::vector<std::int32_t> labels;  // 0 .. classes-1
  std::string note;

  std::size_t rows() const { return labels.size(); }
  std::size_t features() const { return channels * height * width; }
};

/// Returns 16 hexadecimal digits over all values, labels and the shape; they do not depend on the
/// file that the data came from. FNV-1a with 64 bits tells data sets apart; it is no protection
/// against deliberate changes.
std::string fingerprint(const SparseDataset& data);
std::string fingerprint(const ImageDataset& data);
std::string fingerprint(const TextDataset& text);
/// Returns the fingerprint of data to train on together with held-out data, from theirs.
std::string fingerprint_of_both(const std::string& train, const std::string& held_out);
/// Returns the fingerprint of bytes.
std::string fingerprint(std::string_view bytes);

}  // namespace residuum
