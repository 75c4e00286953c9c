#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "reports/analysis/groups.h"
#include "reports/analysis/statistics.h"
#include "reports/analysis/words.h"
#include "reports/verdicts/remarks.h"
#include "reports/verdicts/verdict.h"

namespace residuum::reports {
namespace {

bool has_ended(const Reached& reached) {
  return reached.value.mean && std::isfinite(*reached.value.mean);
}

std::string mean_text(const Spread& value) {
  const std::string text = short_number(value.mean, digits_for(value.interval));
  return value.interval ? text + ' ' + short_interval(*value.interval) : text;
}

std::optional<double> mean_bytes(const GroupSummary& group) {
  const Spread* bytes = group.metric("sent_bytes");
  return bytes == nullptr ? std::nullopt : bytes->mean;
}

/// Returns ", although δ > 1 in 96 % of the measured iterations", "with" where they are not most of
/// them or the method is behind; empty where δ was not measured, or of empty messages, or of single
/// draws of a selection whose δ is an expectation.
std::string delta_words(const Summary& summary, const GroupSummary& group, bool is_behind) {
  const auto met = group.delta.fraction();
  if (!met || has_silent_worker(summary.folder, group.group) ||
      selects_at_random(summary.folder, group.group)) {
    return {};
  }
  if (*met == 1) {
    return ", with δ ≤ 1 in every measured iteration";
  }
  return fmt::format(", {} δ > 1 in {} of the measured iterations",
                     is_behind || *met >= 0.5 ? "with" : "although",
                     percent(1 - *met));
}

/// Returns in words where a method ended beside dense training: by the interval of their
/// difference, or by the difference itself where the runs of all seeds are identical.
std::string_view place_of(const Difference& difference,
                          const std::optional<Interval>& interval,
                          bool are_identical) {
  if (!interval && !are_identical) {
    return "not compared with";
  }
  if (interval ? interval->low > 0 : *difference.mean > 0) {
    return "above";
  }
  if (interval ? interval->high < 0 : *difference.mean < 0) {
    return "below";
  }
  return are_identical ? "exactly as" : "not distinguished from";
}

std::string seeds_words(const Difference& difference,
                        const std::optional<Interval>& interval,
                        bool are_identical,
                        std::size_t tried) {
  if (are_identical) {
    return ", the same in all seeds";
  }
  if (!interval) {
    return ", too few common seeds for an interval";
  }
  return fmt::format(", a difference of {} {} ({} seeds, 95 %{})",
                     short_number(difference.mean, digits_for(interval)),
                     short_interval(*interval),
                     difference.values.size(),
                     tried == 1 ? "" : fmt::format(" for all {} that compress", tried));
}

/// Names a quantity whose value over several seeds is their mean.
std::string named(std::string_view quantity, const Spread& value) {
  return fmt::format("{}{}", value.values.size() > 1 ? "mean " : "", quantity);
}

/// Returns in words how the method, the best of `tried`, stands to dense training. It was chosen by
/// its values, so that the interval is that of 95 % for all that were tried (Bonferroni).
std::string against_dense(const Summary& summary,
                          const Reached& method,
                          const Reached& dense,
                          std::string_view quantity,
                          std::size_t tried) {
  const GroupSummary& group = summary.groups[method.group];
  const GroupSummary& reference = summary.groups[dense.group];
  const Difference difference = difference_of(method, dense, IntervalKind::student);
  // Runs that are one have no interval, however many seeds a study names.
  const auto interval =
      difference.interval
          ? student_interval(difference.values, 1 - (1 - kConfidence) / static_cast<double>(tried))
          : std::nullopt;
  const bool are_identical = difference.is_paired && !difference.interval &&
                             are_one_run(method.value.values) && are_one_run(dense.value.values);
  std::string text = fmt::format("{} ended {} dense training ({}): {} {} against {}",
                                 group.group.label,
                                 place_of(difference, interval, are_identical),
                                 reference.group.label,
                                 named(quantity, method.value),
                                 short_number(method.value.mean, digits_for(method.value.interval)),
                                 short_number(dense.value.mean, digits_for(dense.value.interval)));
  text += seeds_words(difference, interval, are_identical, tried);
  if (method.bytes && dense.bytes && *dense.bytes > 0) {
    text += fmt::format(", for {} of the bytes", percent(*method.bytes / *dense.bytes));
  }
  return text + delta_words(summary, group, interval && interval->low > 0) + '.';
}

std::string of_one_method(const Summary& summary, const GroupSummary& group) {
  for (const auto& [metric, quantity] :
       {std::pair{"final_loss_gap", "loss gap"}, std::pair{"final_loss", "loss"}}) {
    const Spread* value = group.metric(metric);
    if (value == nullptr || !value->mean || !std::isfinite(*value->mean)) {
      continue;
    }
    const auto bytes = mean_bytes(group);
    return fmt::format("{} ended at {} {}{}{}.",
                       group.group.label,
                       named(quantity, *value),
                       mean_text(*value),
                       bytes ? ", for " + short_bytes(bytes) : std::string(),
                       delta_words(summary, group, /*is_behind=*/true));
  }
  return {};
}

std::string of_comparison(const Summary& summary, const Comparison& comparison) {
  const Standing& end = comparison.standings.front();  // at equal iterations
  const auto is_dense = [&](const Reached& one) {
    return sends_everything(summary.folder, summary.groups[one.group].group);
  };
  const auto best = std::find_if(end.methods.begin(), end.methods.end(), [&](const Reached& one) {
    return has_ended(one) && !is_dense(one);
  });
  if (best == end.methods.end()) {
    return {};
  }
  const std::string quantity = comparison.quantity == "loss_gap" ? "loss gap" : "loss";
  const auto dense = std::find_if(end.methods.begin(), end.methods.end(), is_dense);
  if (dense != end.methods.end() && has_ended(*dense)) {
    const auto all = std::count_if(end.methods.begin(), end.methods.end(), is_dense);
    return against_dense(
        summary, *best, *dense, quantity, end.methods.size() - static_cast<std::size_t>(all));
  }
  const GroupSummary& group = summary.groups[best->group];
  const auto& bytes = best->bytes;
  return fmt::format("{} ended {} of {} methods: {} {}{}{}.",
                     group.group.label,
                     best_is_decided(end, IntervalKind::student) ? "best" : "first, not decidedly,",
                     end.methods.size(),
                     named(quantity, best->value),
                     mean_text(best->value),
                     bytes ? ", for " + short_bytes(bytes) : std::string(),
                     delta_words(summary, group, /*is_behind=*/true));
}

}  // namespace

std::string outcome(const Summary& summary) {
  if (summary.comparisons.empty()) {
    return summary.groups.size() == 1 ? of_one_method(summary, summary.groups.front())
                                      : std::string();
  }
  const Comparison& first = summary.comparisons.front();
  std::string text = of_comparison(summary, first);
  if (const auto& unequal = first.standings.front().unequal; !text.empty() && !unequal.empty()) {
    text += fmt::format(" This is at equal iterations, and {}.", unequal);
  }
  if (summary.comparisons.size() > 1 && !text.empty()) {
    text = fmt::format("{}: {}", first.objective, text);
  }
  return text;
}

}  // namespace residuum::reports
