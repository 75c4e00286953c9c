#include "objectives/classification_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "objectives/data/catalogue.h"
#include "objectives/data/synthetic.h"

namespace residuum {
namespace {

constexpr const char* kSynthetic = "synthetic-logistic";

struct Split {
  SparseDataset train;
  SparseDataset test;  // has no rows if there is no held-out data
};

std::int64_t positive(const Section& section, const char* key, std::int64_t fallback) {
  const std::int64_t value = section.integer(key, fallback);
  require(value >= 1 && value < (std::int64_t{1} << 32),
          "{} must be from 1 to 2^32 - 1, got {}",
          section.where(key),
          value);
  return value;
}

/// Makes synthetic data; the defaults are those of the catalogue's data set of this name. The
/// held-out part has a quarter as many rows.
Split make_synthetic(const Section& section) {
  LogisticModel model{.rows = static_cast<std::size_t>(positive(section, "rows", 4000)),
                      .features = static_cast<std::size_t>(positive(section, "features", 200)),
                      .seed = static_cast<std::uint64_t>(positive(section, "data_seed", 1)),
                      .noise = 0.05};
  Split split;
  split.train = make_logistic_data(model).data;
  model.rows = (model.rows + 3) / 4;
  model.part = Part::held_out;
  split.test = make_logistic_data(model).data;
  return split;
}

/// Gives held-out data the features of the training data. Entries of further features are left out:
/// their weights would stay 0, since training starts at 0 and no sample moves them.
void fit_features(SparseDataset& test, std::size_t features) {
  const std::size_t entries = test.columns.size();
  std::size_t kept = 0;
  std::size_t entry = 0;
  for (std::size_t row = 0; row < test.rows(); ++row) {
    for (; entry < test.row_begin[row + 1]; ++entry) {
      if (test.columns[entry] < features) {
        test.columns[kept] = test.columns[entry];
        test.values[kept++] = test.values[entry];
      }
    }
    test.row_begin[row + 1] = kept;
  }
  test.columns.resize(kept);
  test.values.resize(kept);
  test.features = features;
  if (kept < entries) {
    test.note += fmt::format("; {} entries of features beyond the training data's {} left out",
                             entries - kept,
                             features);
  }
}

/// Reads the keys of files: zero_based, and classes = "one-vs-rest:LABEL". Runs without them keep
/// their ids.
LibsvmWishes read_wishes(const Section& section) {
  section.knows("zero_based");
  section.knows("classes");
  LibsvmWishes wishes;
  if (section.has("zero_based") && section.flag("zero_based")) {
    wishes.first_index = 0;
  }
  if (section.has("classes") && section.text("classes") != "two") {
    constexpr std::string_view kRule = "one-vs-rest:";
    const std::string text = section.text("classes");
    int label = 0;
    const char* const end = text.data() + text.size();
    const char* const begin = text.data() + std::min(text.size(), kRule.size());
    const auto [stopped, error] = std::from_chars(begin, end, label);
    require(text.starts_with(kRule) && error == std::errc() && stopped == end,
            "{} must be \"two\" or \"one-vs-rest:LABEL\" with a whole number, got \"{}\"",
            section.where("classes"),
            text);
    wishes.positive = label;
  }
  return wishes;
}

Split load(const Section& section, const ObjectiveContext& context) {
  const std::string name = section.text("data", kSynthetic);
  if (name == kSynthetic) {
    return make_synthetic(section);
  }
  LibsvmWishes wishes = read_wishes(section);
  Split split;
  split.train = load_sparse(name, context.data_dir, wishes);
  wishes.classes = split.train.classes;
  if (auto test = load_sparse_test(name, context.data_dir, wishes)) {
    split.test = std::move(*test);
  }
  fit_features(split.test, split.train.features);
  return split;
}

void check_training_data(const SparseDataset& data) {
  require(data.rows() > 0, "data '{}' has no samples; name a file with some", data.name);
  require(data.features > 0,
          "data '{}' has no features: no row has an entry such as 3:0.5; name another file",
          data.name);
  const bool two_classes = std::all_of(
      data.labels.begin(), data.labels.end(), [](auto label) { return label == -1 || label == 1; });
  require(two_classes, "data '{}' must have two classes, labelled -1 and +1", data.name);
}

/// Returns the largest magnitude of every feature; 1 for a feature that is always zero.
std::vector<double> largest_magnitudes(const SparseDataset& data) {
  std::vector<double> largest(data.features, 0.0);
  for (std::size_t entry = 0; entry < data.columns.size(); ++entry) {
    double& of_column = largest[data.columns[entry]];
    of_column = std::max(of_column, std::abs(data.values[entry]));
  }
  std::replace(largest.begin(), largest.end(), 0.0, 1.0);
  return largest;
}

void divide_columns(SparseDataset& data, const std::vector<double>& divisors) {
  for (std::size_t entry = 0; entry < data.columns.size(); ++entry) {
    data.values[entry] /= divisors[data.columns[entry]];
  }
}

/// Appends one feature, which is 1 in every row.
void append_ones(SparseDataset& data) {
  const auto intercept = static_cast<std::uint32_t>(data.features++);
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  columns.reserve(data.columns.size() + data.rows());
  values.reserve(columns.capacity());
  for (std::size_t row = 0; row < data.rows(); ++row) {
    const std::uint64_t begin = data.row_begin[row];
    const std::uint64_t end = data.row_begin[row + 1];
    for (std::uint64_t entry = begin; entry < end; ++entry) {
      columns.push_back(data.columns[entry]);
      values.push_back(data.values[entry]);
    }
    columns.push_back(intercept);
    values.push_back(1.0);
    data.row_begin[row] = begin + row;
  }
  data.row_begin.back() += data.rows();
  data.columns = std::move(columns);
  data.values = std::move(values);
}

std::unique_ptr<const LogisticLoss> make_loss(SparseDataset&& data) {
  std::vector<std::int32_t> labels = data.labels;  // the matrix counts its rows by them
  return std::make_unique<LogisticLoss>(std::make_unique<FeatureMatrix>(std::move(data)),
                                        std::move(labels));
}

DataInfo describe(const SparseDataset& data) {
  return {.name = data.name,
          .samples = data.rows(),
          .features = data.features,
          .fingerprint = fingerprint(data),
          .note = data.note};
}

}  // namespace

ClassificationData read_classification_data(const Section& section,
                                            const ObjectiveContext& context) {
  ClassificationData result;
  result.intercept = section.flag("intercept", false);
  result.scale = section.choice("scale", {"none", "max-abs"}, "none");

  Split split = load(section, context);
  check_training_data(split.train);
  result.info = describe(split.train);
  result.train_fingerprint = result.info.fingerprint;
  if (split.test.rows() > 0) {
    result.info.fingerprint =
        fingerprint_of_both(result.train_fingerprint, fingerprint(split.test));
  }
  if (!split.test.note.empty()) {
    result.info.note += (result.info.note.empty() ? "" : "; ") + ("test: " + split.test.note);
  }
  if (result.scale == "max-abs") {
    const auto divisors = largest_magnitudes(split.train);
    divide_columns(split.train, divisors);
    divide_columns(split.test, divisors);
  }
  if (result.intercept) {
    append_ones(split.train);
    append_ones(split.test);
  }
  result.train = make_loss(std::move(split.train));
  if (split.test.rows() > 0) {
    result.test = make_loss(std::move(split.test));
  }
  return result;
}

}  // namespace residuum
