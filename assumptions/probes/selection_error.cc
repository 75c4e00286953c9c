#include "assumptions/probes/selection_error.h"

#include <algorithm>
#include <limits>

namespace residuum {
namespace {

SelectionError sparse_error(const StepView& view, std::size_t begin, std::size_t end) {
  SelectionError error;
  const SparseVector<double>& update = *view.exchange.update;
  const auto first = std::lower_bound(update.indices.begin(), update.indices.end(), begin);
  auto next = static_cast<std::size_t>(first - update.indices.begin());
  for (std::size_t i = begin; i < end; ++i) {
    const double mean = view.mean.accumulator[i];
    if (next < update.size() && update.indices[next] == i) {
      const double difference = mean - update.values[next] / view.divisor();
      error.inside += difference * difference;
      ++next;
    } else {
      error.outside += mean * mean;
    }
  }
  return error;
}

/// A dense update has no list of selected indices: its non-zero entries stand for them.
SelectionError dense_error(const StepView& view, std::size_t begin, std::size_t end) {
  SelectionError error;
  for (std::size_t i = begin; i < end; ++i) {
    const double difference =
        view.mean.accumulator[i] - view.exchange.dense_update[i] / view.divisor();
    (view.exchange.dense_update[i] != 0 ? error.inside : error.outside) += difference * difference;
  }
  return error;
}

}  // namespace

SelectionError selection_error(const StepView& view, std::size_t begin, std::size_t size) {
  return view.exchange.is_dense ? dense_error(view, begin, begin + size)
                                : sparse_error(view, begin, begin + size);
}

double over_random(double lost, double random) {
  if (random > 0) {
    return lost / random;
  }
  return lost > 0 ? std::numeric_limits<double>::infinity() : 0;
}

double rounding_of_sum_sq(const StepView& view) {
  double sum = 0;
  for (const auto& scalars : view.contributions()) {
    sum += scalars.accumulator_norm_sq;
  }
  const auto workers = static_cast<double>(view.contributions().size());
  const double part = workers * view.run.unit_roundoff;
  return part * part * sum / workers;
}

}  // namespace residuum
