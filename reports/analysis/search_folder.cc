#include "reports/analysis/search_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/error.h"

namespace residuum::reports {
namespace {

constexpr std::size_t kMostLevels = 1000;
constexpr std::size_t kMostSeeds = 100000;

std::string_view path_of(std::string_view quantity) {
  if (quantity == "accuracy") {
    return "final.test_accuracy";
  }
  return quantity == "loss-gap" ? "final.loss_gap" : "final.loss";
}

std::vector<double> numbers_at(const Json& object, std::string_view key) {
  std::vector<double> numbers;
  for (const auto& one : value_at(object, key)) {
    numbers.push_back(one.is_number() ? one.get<double>() : std::nan(""));
  }
  return numbers;
}

SearchPlan plan_from(const Json& search) {
  SearchPlan plan{.levels = value_at(search, "values").size(),
                  .margin = number_at(search, "margin").value_or(-1),
                  .is_relative = flag_at(search, "relative", false),
                  .higher_is_better = text_at(search, "quantity") == "accuracy",
                  .alpha = number_at(search, "alpha").value_or(0),
                  .looks = {},
                  .ascends = text_at(search, "order") == "ascending"};
  for (const double n : numbers_at(search, "looks")) {
    plan.looks.push_back(n >= 2 && n <= kMostSeeds ? static_cast<std::size_t>(n) : 0);
  }
  return plan;
}

bool is_sound(const SearchPlan& plan, const CriticalRatio& search) {
  return plan.levels >= 1 && plan.levels <= kMostLevels && plan.margin >= 0 &&
         plan.alpha >= kLeastAlpha && plan.alpha < 1 && !plan.looks.empty() &&
         plan.looks.front() >= 2 &&
         std::is_sorted(plan.looks.begin(), plan.looks.end(), std::less_equal<>()) &&
         (search.ratios.empty() || search.ratios.size() == plan.levels);
}

/// The mean and the interval of a look: "0.03 [0.01, 0.05], n = 8".
std::string numbers_of(const SearchLook& look) {
  const auto interval =
      look.loss_interval
          ? fmt::format(" [{:.3g}, {:.3g}]", look.loss_interval->low, look.loss_interval->high)
          : std::string();
  return fmt::format("{:.3g}{}, n = {}", look.loss, interval, look.n);
}

std::string margin_text(const CriticalRatio& search) {
  const SearchPlan& plan = search.plan;
  if (plan.margin == 0) {
    return "no margin";
  }
  return plan.is_relative
             ? fmt::format("a margin of {:.3g} % of dense training's", 100 * plan.margin)
             : fmt::format("a margin of {:.3g}", plan.margin);
}

/// Returns the result, in words, of a run beyond the compression that was found.
std::string beyond(const CriticalRatio& search, const SearchLook& look) {
  const std::string at = "; at " + search.name(look.level);
  if (std::isinf(look.loss)) {
    return fmt::format("{} a run diverged, n = {}", at, look.n);
  }
  return fmt::format("{} {} loss is {}",
                     at,
                     look.decision == Decision::loss ? "the" : "it is not decided: the",
                     numbers_of(look));
}

/// The first compression from `level` on that is undecided, and the first with a loss.
std::string beyond(const CriticalRatio& search, std::size_t level) {
  std::string text;
  for (; level < search.plan.levels; ++level) {
    const auto* look = search.result.last_look(level);
    if (look == nullptr) {
      continue;
    }
    if (text.empty() || look->decision == Decision::loss) {
      text += beyond(search, *look);
    }
    if (look->decision == Decision::loss) {
      break;
    }
  }
  return text;
}

/// The skewness furthest from 0 that the last look at a level saw.
double largest_skewness(const CriticalRatio& search) {
  double largest = 0;
  for (std::size_t level = 0; level < search.plan.levels; ++level) {
    const auto* look = search.result.last_look(level);
    if (look != nullptr && std::abs(look->skewness) > std::abs(largest)) {
      largest = look->skewness;
    }
  }
  return largest;
}

std::string list_of(const CriticalRatio& search) {
  std::string list;
  for (std::size_t level = 0; level < search.plan.levels; ++level) {
    list += (level == 0 ? "" : ", ") +
            (search.ratios.empty() ? plain_text(search.values[level]) : search.name(level));
  }
  return list;
}

}  // namespace

std::string CriticalRatio::name(std::size_t level) const {
  return ratios.empty() ? fmt::format("{} = {}", key, plain_text(values[level]))
                        : fmt::format("{:.6g}", ratios[level]);
}

std::string_view word_of(Decision decision) {
  switch (decision) {
    case Decision::no_loss:
      return "no loss";
    case Decision::none_found:
      return "none found";
    case Decision::loss:
      return "loss";
    case Decision::undecided:
      break;
  }
  return "undecided";
}

Ending ending_of(const Run& run, std::string_view quantity) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (run.state == "finished") {
    return {.kind = Ending::Kind::finished,
            .value = number_at(run.status, path_of(quantity)).value_or(kNone)};
  }
  if (run.state == "diverged") {
    return {.kind = Ending::Kind::diverged, .value = kNone};
  }
  return {.kind = run.state == "failed" ? Ending::Kind::failed : Ending::Kind::missing,
          .value = kNone};
}

Ending ending_of(const std::filesystem::path& result_dir,
                 const std::string& run_id,
                 std::string_view quantity) {
  try {
    return ending_of(read_run(result_dir / "runs" / run_id, run_id), quantity);
  } catch (const Error& error) {
    if (error.code() == ExitCode::resource) {
      throw;
    }
    return {};
  }
}

std::optional<CriticalRatio> critical_ratio(const ResultFolder& folder) {
  if (folder.search.is_null() || !folder.mixed_data.empty()) {
    return std::nullopt;
  }
  CriticalRatio search{.key = text_at(folder.search, "key"),
                       .quantity = text_at(folder.search, "quantity"),
                       .values = {},
                       .ratios = numbers_at(folder.search, "ratios"),
                       .plan = plan_from(folder.search),
                       .result = {}};
  for (const auto& value : value_at(folder.search, "values")) {
    search.values.push_back(value);
  }
  const Json& runs = value_at(folder.search, "runs");
  require(is_sound(search.plan, search) && runs.is_array() && runs.size() == 1 + search.plan.levels,
          "the search in '{}' is not one that this program has written",
          (folder.path / "study.resolved.json").string());
  std::map<std::string, const Run*> by_id;
  for (const auto& run : folder.runs) {
    by_id.emplace(run.id, &run);
  }
  search.result = follow_search(search.plan, [&](std::size_t method, std::size_t seed) {
    const Json& ids = runs[method];
    const auto found = seed < ids.size() ? by_id.find(plain_text(ids[seed])) : by_id.end();
    return found == by_id.end() ? Ending{} : ending_of(*found->second, search.quantity);
  });
  return search;
}

std::string sentence_of(const CriticalRatio& search) {
  const SearchResult& result = search.result;
  if (!result.is_over) {
    return result.trouble.empty()
               ? std::string("the search for the largest compression is not over")
               : fmt::format("the search for the largest compression is not decided: {}",
                             result.trouble);
  }
  std::string text;
  if (result.largest) {
    text = fmt::format("largest compression with no significant loss: {} of {}",
                       search.name(*result.largest),
                       list_of(search));
    if (const auto* look = result.last_look(*result.largest)) {
      text +=
          fmt::format("; there {} is {}",
                      look->decision == Decision::no_loss ? "the loss" : "none was found: the loss",
                      numbers_of(*look));
    }
    text += beyond(search, *result.largest + 1);
  } else {
    text = fmt::format("no compression of {} is without significant loss", list_of(search));
    text += beyond(search, 0);
  }
  text += fmt::format(
      " ({}, {}; all intervals hold together with probability {:.4g} if differences are normal; "
      "the largest skewness seen is {:.2g})",
      search.quantity,
      margin_text(search),
      1 - search.plan.alpha,
      largest_skewness(search));
  return result.is_monotone
             ? text
             : text +
                   "; a weaker compression lost more than a stronger one, so that ratios which "
                   "were passed over may be otherwise";
}

}  // namespace residuum::reports
