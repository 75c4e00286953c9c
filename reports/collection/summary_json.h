#pragma once

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns summary.json.
Json to_json(const Summary& summary);

/// {"n", "median", "lower_quartile", "upper_quartile", "mean", "interval"}; what is undefined null.
Json to_json(const Spread& spread);

Json comparisons_json(const Summary& summary);
Json rates_json(const Summary& summary);

}  // namespace residuum::reports
