#include "objectives/prepared_rows.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/text.h"
#include "objectives/data/catalogue.h"

namespace residuum {
namespace {

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

RowsSplit load_rows(const Section& section,
                    const ObjectiveContext& context,
                    const RowsSource& source) {
  const std::string name = data_in_study(section.text("data", source.synthetic), context.study_dir);
  if (name == source.synthetic) {
    return source.make(section);
  }
  LibsvmOptions options = source.options;
  if (section.flag("zero_based", false)) {
    options.first_index = 0;
  }
  RowsSplit split;
  split.train = load_sparse(name, context.data_dir, options);
  options.classes = split.train.classes;
  options.known_classes = split.train.class_labels;
  if (auto test = load_sparse_test(name, context.data_dir, options)) {
    split.test = std::move(*test);
  }
  fit_features(split.test, split.train.features);
  return split;
}

void check_rows(const SparseDataset& data) {
  require(data.rows() > 0, "data '{}' has no samples; name a file with some", data.name);
  require(data.features > 0,
          "data '{}' has no features: no row has an entry such as 3:0.5; name another file",
          data.name);
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

DataInfo describe(const SparseDataset& data) {
  return {.name = data.name,
          .samples = data.rows(),
          .features = data.features,
          .fingerprint = fingerprint(data),
          .note = data.note};
}

}  // namespace

PreparedRows read_rows(const Section& section,
                       const ObjectiveContext& context,
                       const RowsSource& source) {
  PreparedRows result;
  result.intercept = section.flag("intercept", false);
  result.scale = section.choice("scale", {"none", "max-abs"}, "none");

  result.rows = load_rows(section, context, source);
  auto& [train, test] = result.rows;
  check_rows(train);
  result.info = describe(train);
  result.train_fingerprint = result.info.fingerprint;
  if (test.rows() > 0) {
    result.info.fingerprint = fingerprint_of_both(result.train_fingerprint, fingerprint(test));
  }
  if (!test.note.empty()) {
    result.info.note += (result.info.note.empty() ? "" : "; ") + ("test: " + test.note);
  }
  if (result.scale == "max-abs") {
    const auto divisors = largest_magnitudes(train);
    divide_columns(train, divisors);
    divide_columns(test, divisors);
  }
  if (result.intercept) {
    append_ones(train);
    append_ones(test);
  }
  return result;
}

std::int64_t read_positive(const Section& section, const char* key, std::int64_t fallback) {
  const std::int64_t value = section.integer(key, fallback);
  require(value >= 1 && value < (std::int64_t{1} << 32),
          "{} must be from 1 to 2^32 - 1, got {}",
          section.where(key),
          value);
  return value;
}

double parse_number(std::string_view text) { return parsed<double>(text).value_or(std::nan("")); }

double read_l2(const Section& section,
               std::size_t samples,
               const std::function<double()>& smoothness) {
  const auto value = section.any("l2", "1/n");
  if (value.is_number()) {
    const double l2 = section.number("l2");
    require(l2 >= 0, "{} must not be negative, got {}", section.where("l2"), l2);
    return l2;
  }
  const std::string text = value.is_string() ? value.get<std::string>() : shown(value);
  if (text == "1/n") {
    return 1 / static_cast<double>(samples);
  }
  const double divisor = text.starts_with("L/") ? parse_number(text.substr(2)) : std::nan("");
  require(divisor > 0 && std::isfinite(divisor),
          "{} must be a number, \"1/n\" or \"L/NUMBER\" such as \"L/1e4\", got {}",
          section.where("l2"),
          text);
  return smoothness() / divisor;
}

}  // namespace residuum
