#include "reports/typeset/expected_table.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace residuum::reports {
namespace {

std::string quantity_words(const Expected& expected) {
  if (is_one_number(expected.quantity)) {
    return expected.quantity;
  }
  const bool is_word = expected.at == "end" || expected.at == "max" || expected.at == "mean";
  return fmt::format("{}, {}{}", expected.quantity, is_word ? "" : "t = ", expected.at);
}

/// Says whether what the paper has lies within our interval, or its interval meets ours.
std::string within_words(const Expected& expected, const std::optional<Interval>& ours) {
  if (!ours || (!expected.value && !expected.interval)) {
    return "–";
  }
  const double low = expected.interval ? expected.interval->low : *expected.value;
  const double high = expected.interval ? expected.interval->high : *expected.value;
  return low <= ours->high && ours->low <= high ? "yes" : "no";
}

}  // namespace

std::optional<TableSpec> expected_spec(const std::vector<ExpectedResult>& results,
                                       const std::vector<Group>& groups,
                                       IntervalKind kind) {
  if (results.empty()) {
    return std::nullopt;
  }
  const auto of_mean = kind == IntervalKind::quartiles ? IntervalKind::student : kind;
  TableSpec spec{.name = "expected",
                 .title = "Published values and ours",
                 .caption =
                     "Published values and ours. They meet where the published value, or "
                     "its interval, which may be its rounding, overlaps our interval; this "
                     "is over our seeds and says nothing of the source's own spread.",
                 .interval = std::string(interval_words(of_mean)),
                 .columns = {{.key = "quantity", .title = "quantity"},
                             {.key = "method", .title = "method"},
                             {.key = "published", .title = "published", .is_number = true},
                             {.key = "ours", .title = "ours", .is_number = true},
                             {.key = "seeds", .title = "n", .is_number = true},
                             {.key = "meets", .title = "meets"},
                             {.key = "source", .title = "source"}},
                 .rows = {}};
  for (const auto& [expected, group, values] : results) {
    TableCell theirs = number_of(expected.value);
    theirs.interval = expected.interval;
    const Centre ours = centre_with_misses(values, of_mean);
    TableCell mean = centre_cell(ours);
    spec.rows.push_back({text_of(quantity_words(expected)),
                         text_of(group ? groups[*group].label : "no such method"),
                         std::move(theirs),
                         std::move(mean),
                         number_of(static_cast<double>(values.size())),
                         text_of(within_words(expected, ours.interval)),
                         text_of(expected.source)});
  }
  return spec;
}

}  // namespace residuum::reports
