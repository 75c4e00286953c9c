#pragma once
// Rows of features and their labels, as the sections of the objectives on A w describe them:
// loaded, scaled, with a column of ones for an intercept.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/config/section.h"
#include "core/objective.h"
#include "objectives/data/dataset.h"
#include "objectives/data/libsvm.h"
#include "objectives/registry.h"

namespace residuum {

/// Rows to train on, and held-out ones; no rows if there are none.
struct RowsSplit {
  SparseDataset train;
  SparseDataset test;
};

/// The source of rows: the name and the maker of synthetic ones, and the way in which files are
/// read.
struct RowsSource {
  std::string synthetic;
  std::function<RowsSplit(const Section&)> make;
  LibsvmOptions options = {};
};

struct PreparedRows {
  DataInfo info;
  std::string train_fingerprint;  // of the data to train on alone, which decide the minimum
  std::string scale;              // "none" or "max-abs"
  bool intercept = false;         // true: the last column of the rows is all ones
  RowsSplit rows;
};

/// Reads the keys data (the synthetic ones; or a known name, or the path of a LIBSVM file), for
/// files zero_based (false); intercept (false); scale ("none", or "max-abs": every feature is
/// divided by its largest magnitude in the training data). A feature that occurs in held-out data
/// alone is left out there: its weight would stay 0. Data without samples or features are a usage
/// error.
PreparedRows read_rows(const Section& section,
                       const ObjectiveContext& context,
                       const RowsSource& source);

/// Reads a whole number from 1 to 2^32 - 1.
std::int64_t read_positive(const Section& section, const char* key, std::int64_t fallback);

/// Reads `l2`: a number, "1/n", or "L/NUMBER", where L is the smoothness of the data part.
double read_l2(const Section& section,
               std::size_t samples,
               const std::function<double()>& smoothness);

/// Returns the number that all of `text` spells; NaN if it spells none.
double parse_number(std::string_view text);

}  // namespace residuum
