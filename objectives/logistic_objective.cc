#include "objectives/logistic_objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/notes.h"
#include "core/text.h"
#include "objectives/data/synthetic.h"
#include "objectives/prepared_rows.h"
#include "objectives/spectrum.h"

namespace residuum {

LogisticLoss::LogisticLoss(std::unique_ptr<const FeatureMatrix> rows,
                           std::vector<std::int32_t> labels)
    : rows_(std::move(rows)), labels_(std::move(labels)), all_rows_(labels_.size()) {
  assert(rows_->rows() == labels_.size());
  std::iota(all_rows_.begin(), all_rows_.end(), 0U);
}

/// Returns f_i(w) and adds (1/n) grad f_i(w) to `gradient` unless that is empty.
double LogisticLoss::add_sample(const RowsView<double>& rows,
                                std::size_t i,
                                std::span<const double> w,
                                std::span<double> gradient) const {
  const double label = labels_[i];
  const double margin = label * rows.dot(i, w.data());
  if (!gradient.empty()) {
    const double share = 1 / static_cast<double>(samples());
    rows.add(i, -share * label * logistic_weight(margin), gradient.data());
  }
  return logistic_value(margin);
}

double LogisticLoss::evaluate(std::span<const std::uint32_t> shard,
                              std::span<const double> w,
                              std::span<double> gradient) const {
  assert(w.size() == dimension() && (gradient.empty() || gradient.size() == dimension()));
  const auto rows = rows_->view<double>();
  double sum = 0;
  for (const std::uint32_t i : shard) {
    sum += add_sample(rows, i, w, gradient);
  }
  return sum / static_cast<double>(samples());
}

double LogisticLoss::mean(std::span<const double> w, std::span<double> gradient) const {
  assert(w.size() == dimension() && (gradient.empty() || gradient.size() == dimension()));
  const auto rows = rows_->view<double>();
  double sum = 0;
  for (std::size_t i = 0; i < samples(); ++i) {
    sum += add_sample(rows, i, w, gradient);
  }
  return sum / static_cast<double>(samples());
}

double LogisticLoss::smoothness() const {
  std::call_once(smoothness_known_, [this] { smoothness_ = smoothness(all_rows()); });
  return smoothness_;
}

double LogisticLoss::smoothness(std::span<const std::uint32_t> shard) const {
  assert(!shard.empty());
  const LargestEigenvalue largest = largest_gram_eigenvalue(*rows_, shard);
  if (largest.is_bound) {
    tell(NoteKind::note,
         fmt::format("many eigenvalues of the Gram matrix of {} rows lie close to the largest; L "
                     "uses an upper bound, at most 0.01 % too large, {}",
                     shard.size(),
                     largest.value));
  }
  return largest.value / (4 * static_cast<double>(shard.size()));
}

double LogisticLoss::accuracy(std::span<const double> w) const {
  const auto rows = rows_->view<double>();
  std::size_t right = 0;
  for (std::size_t i = 0; i < samples(); ++i) {
    const int predicted = rows.dot(i, w.data()) > 0 ? 1 : -1;
    right += predicted == labels_[i] ? 1U : 0U;
  }
  return static_cast<double>(right) / static_cast<double>(samples());
}

namespace {

/// Makes synthetic data; the defaults are those of the catalogue's data set of this name. The
/// held-out part has a quarter as many rows.
RowsSplit make_synthetic(const Section& section) {
  LogisticModel model{.rows = static_cast<std::size_t>(read_positive(section, "rows", 4000)),
                      .features = static_cast<std::size_t>(read_positive(section, "features", 200)),
                      .seed = static_cast<std::uint64_t>(read_positive(section, "data_seed", 1)),
                      .noise = 0.05};
  RowsSplit split;
  split.train = make_logistic_data(model).data;
  model.rows = (model.rows + 3) / 4;
  model.part = Part::held_out;
  split.test = make_logistic_data(model).data;
  return split;
}

/// Reads classes = "two" or "one-vs-rest:LABEL".
LibsvmOptions read_options(const Section& section) {
  LibsvmOptions options;
  const std::string text = section.text("classes", "two");
  if (text != "two") {
    constexpr std::string_view kRule = "one-vs-rest:";
    const auto label =
        parsed<int>(std::string_view(text).substr(std::min(text.size(), kRule.size())));
    require(text.starts_with(kRule) && label,
            "{} must be \"two\" or \"one-vs-rest:LABEL\" with a whole number, got \"{}\"",
            section.where("classes"),
            text);
    options.positive = *label;
  }
  return options;
}

void check_training_data(const SparseDataset& data) {
  const bool two_classes = std::all_of(
      data.labels.begin(), data.labels.end(), [](auto label) { return label == -1 || label == 1; });
  require(two_classes, "data '{}' must have two classes, labelled -1 and +1", data.name);
}

std::unique_ptr<const LogisticLoss> make_loss(SparseDataset&& data) {
  std::vector<std::int32_t> labels = data.labels;  // the matrix counts its rows by them
  return std::make_unique<LogisticLoss>(std::make_unique<FeatureMatrix>(std::move(data)),
                                        std::move(labels));
}

}  // namespace

ClassificationData read_classification_data(const Section& section,
                                            const ObjectiveContext& context) {
  constexpr const char* kSynthetic = "synthetic-logistic";
  const bool is_file = section.has("data") && section.text("data") != kSynthetic;
  PreparedRows prepared = read_rows(section,
                                    context,
                                    {.synthetic = kSynthetic,
                                     .make = make_synthetic,
                                     .options = is_file ? read_options(section) : LibsvmOptions{}});
  check_training_data(prepared.rows.train);
  ClassificationData result{.info = std::move(prepared.info),
                            .train_fingerprint = std::move(prepared.train_fingerprint),
                            .scale = std::move(prepared.scale),
                            .intercept = prepared.intercept,
                            .train = make_loss(std::move(prepared.rows.train)),
                            .test = nullptr};
  if (prepared.rows.test.rows() > 0) {
    result.test = make_loss(std::move(prepared.rows.test));
  }
  return result;
}

}  // namespace residuum
