#pragma once
// ClassificationData is two-class data as the section of a logistic objective describes it.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "core/config/section.h"
#include "core/objective.h"
#include "objectives/logistic_loss.h"
#include "objectives/registry.h"

namespace residuum {

struct ClassificationData {
  DataInfo info;
  std::string train_fingerprint;  // of the data to train on alone, which decide the minimum
  std::string scale;              // "none" or "max-abs"
  bool intercept = false;         // true: the last column of the rows is all ones
  std::unique_ptr<const LogisticLoss> train;
  std::unique_ptr<const LogisticLoss> test;  // null without held-out data

  /// Returns how many coordinates a regulariser acts on: all but the intercept.
  std::size_t penalised() const { return train->dimension() - (intercept ? 1U : 0U); }
};

/// Reads the keys data ("synthetic-logistic"; or a known name, or the path of a LIBSVM file), for
/// synthetic data rows (4000), features (200) and data_seed (1), for files zero_based (false) and
/// classes (two; or "one-vs-rest:LABEL"); intercept (false); scale ("none",
/// or "max-abs": every feature is divided by its largest magnitude in the training data). A feature
/// that occurs in held-out data alone is left out there: its weight would stay 0.
ClassificationData read_classification_data(const Section& section,
                                            const ObjectiveContext& context);

}  // namespace residuum
