#include "objectives/logistic_objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/elementary.h"
#include "core/notes.h"
#include "core/text.h"
#include "objectives/data/synthetic.h"
#include "objectives/prepared_rows.h"
#include "objectives/spectrum.h"

namespace residuum {

namespace {

/// Returns exp(-|m|) of each margin, in the memory given.
std::span<const double> decays_of(std::span<const double> margins, std::span<double> memory) {
  assert(margins.size() <= memory.size());
  const auto decays = memory.first(margins.size());
  std::transform(
      margins.begin(), margins.end(), decays.begin(), [](double m) { return -std::abs(m); });
  elementary_kernels().exp(decays.data(), decays.size());
  return decays;
}

/// Returns 1 / (1 + exp(m)) without an exponential that overflows.
double weight_of(double margin, double decay) { return (margin > 0 ? decay : 1.0) / (1.0 + decay); }

}  // namespace

void to_logistic_weights(std::span<double> margins) {
  std::array<double, kRowsAtOnce> memory;  // NOLINT(*-member-init): written before read
  const auto decays = decays_of(margins, memory);
  std::transform(margins.begin(), margins.end(), decays.begin(), margins.begin(), weight_of);
}

void to_logistic_values(std::span<double> margins, std::span<double> values) {
  std::array<double, kRowsAtOnce> memory;  // NOLINT(*-member-init): written before read
  const auto decays = decays_of(margins, memory);
  assert(values.size() == margins.size());
  std::copy(decays.begin(), decays.end(), values.begin());
  elementary_kernels().log_one_plus(values.data(), values.size());
  for (std::size_t i = 0; i < margins.size(); ++i) {
    values[i] += std::max(-margins[i], 0.0);
    margins[i] = weight_of(margins[i], decays[i]);
  }
}

LogisticLoss::LogisticLoss(std::unique_ptr<const FeatureMatrix> rows,
                           std::vector<std::int32_t> labels)
    : rows_(std::move(rows)), labels_(std::move(labels)), all_rows_(labels_.size()) {
  assert(rows_->rows() == labels_.size());
  std::iota(all_rows_.begin(), all_rows_.end(), 0U);
}

double LogisticLoss::evaluate(std::span<const std::uint32_t> shard,
                              std::span<const double> w,
                              std::span<double> gradient) const {
  assert(w.size() == dimension() && (gradient.empty() || gradient.size() == dimension()));
  const auto rows = rows_->view<double>();
  const double share = 1 / static_cast<double>(samples());
  double sum = 0;
  for_margins<double>(shard, w, [&](auto part, std::span<double> margins) {
    std::array<double, kRowsAtOnce> memory;  // NOLINT(*-member-init): written before read
    const auto values = std::span(memory).first(margins.size());
    to_logistic_values(margins, values);
    sum = std::accumulate(values.begin(), values.end(), sum);
    if (!gradient.empty()) {
      add_rows<double>(rows, part, share, margins, gradient);
    }
  });
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
