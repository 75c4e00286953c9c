#include "objectives/logistic_objective.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "objectives/data/synthetic.h"
#include "objectives/prepared_rows.h"

namespace residuum {
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
LibsvmWishes read_wishes(const Section& section) {
  LibsvmWishes wishes;
  const std::string text = section.text("classes", "two");
  if (text != "two") {
    constexpr std::string_view kRule = "one-vs-rest:";
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
                                     .wishes = is_file ? read_wishes(section) : LibsvmWishes{}});
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
