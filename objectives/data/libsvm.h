#pragma once
// The text format of LIBSVM (Chang and Lin, ACM TIST 2011) has one sample per line, "label
// index:value index:value ...", indices from 1 and increasing. Labels are two classes, many classes
// or the targets of a regression.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objectives/data/dataset.h"

namespace residuum {

/// The kinds of labels in a file: two classes, -1 and +1; classes 0, 1, ... in the order of their
/// labels, whole numbers; or real numbers.
enum class LabelKind { two_classes, many_classes, targets };

struct LibsvmOptions {
  LabelKind labels = LabelKind::two_classes;
  std::size_t minimum_features = 0;
  /// Of the first feature: 1, or 0 as scikit-learn's dump_svmlight_file writes by default.
  std::uint64_t first_index = 1;
  /// Rows of this label become +1 and all others -1, however many classes the file has.
  std::optional<int> positive = std::nullopt;
  /// The labels of the training data, for a held-out file: it has these labels or one of them, and
  /// they are mapped in the same way. Without them a file must have two labels.
  std::optional<LabelPair> classes = std::nullopt;
  /// The labels of many classes, increasing; empty: those of the file.
  std::vector<std::int32_t> known_classes = {};
};

/// Reads a plain or packed file (byte_stream.h). Labels -1/+1, 0/1 or 1/2 become -1/+1, many
/// classes their places in the order of their labels, and the note says so; zeros are not stored;
/// `#` starts a comment; a name such as " |f" after the label, as Vowpal Wabbit writes it, is
/// skipped, and so is "qid:7", and the note says so. Anything else in the file is a usage error
/// "file:line:column: what is wrong and what was expected".
SparseDataset read_libsvm(const std::filesystem::path& path, const LibsvmOptions& options = {});

/// Parses text in memory; `file` is its name in messages.
SparseDataset parse_libsvm(std::string_view text,
                           const std::string& file,
                           const LibsvmOptions& options = {});

}  // namespace residuum
