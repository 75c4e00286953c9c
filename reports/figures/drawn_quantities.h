#pragma once
// The quantities that the report draws, in its order.

#include <optional>
#include <span>
#include <string_view>

#include "core/record/columns.h"

namespace residuum::reports {

/// The part of the page that a figure stands in.
enum class FigureSection { headline, assumptions, distributions };

struct DrawnQuantity {
  std::string_view name;
  Column column;
  std::string_view title;
  std::string_view y_label;
  std::string_view caption;
  double log_span;  // drawn on a logarithmic axis beyond this ratio of largest to least
  FigureSection section = FigureSection::headline;
  std::optional<Column> against = std::nullopt;  // one of kTotals; absent: the iteration
  bool only_if_positive = false;
  std::optional<double> reference = std::nullopt;
  std::string_view reference_label = {};
};

/// Returns the quantities in the page's order. Loss and loss gap exclude each other.
std::span<const DrawnQuantity> drawn_quantities();

}  // namespace residuum::reports
