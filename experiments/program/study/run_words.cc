#include "experiments/program/study/run_words.h"

#include <fmt/format.h>

#include <cmath>

#include "reports/results/result_folder.h"

namespace residuum {

namespace {

std::string words_of(const nlohmann::json& varying, const nlohmann::json& names) {
  std::string words;
  for (const auto& [key, value] : varying.items()) {
    const auto dot = key.find('.');
    const std::string name = key.substr(dot + 1);
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const auto of_key = names.value(key, nlohmann::json::object());
    const std::string label = of_key.value(reports::plain_text(value), std::string());
    const bool speaks_for_itself = !label.empty() || name == "kind" || name == "putback";
    words +=
        fmt::format("{}{} ", speaks_for_itself ? "" : name + "=", label.empty() ? text : label);
  }
  return words;
}

}  // namespace

std::string label_of(const nlohmann::json& varying, std::uint64_t seed) {
  return words_of(varying, nlohmann::json::object()) + "seed=" + std::to_string(seed);
}

std::string label_of(const RunSpec& run, const Study& study) {
  const std::string words =
      run.label.empty() ? words_of(run.varying, study.labels) : run.label + ' ';
  return words + "seed=" + std::to_string(run.seed);
}

Notice notice_of(const Outcome& outcome) {
  constexpr double kLong = 5;
  if (outcome.state == Outcome::State::diverged) {
    return Notice::trouble;
  }
  const bool is_short = outcome.state == Outcome::State::finished && outcome.wall_s <= kLong;
  return is_short ? Notice::quiet : Notice::progress;
}

std::string describe(const Outcome& outcome) {
  if (outcome.state != Outcome::State::finished) {
    return outcome.message;
  }
  std::string text = fmt::format("{:.2f} s", outcome.wall_s);
  if (outcome.evaluation) {
    text += fmt::format(", loss {:.6g}", outcome.evaluation->loss);
  }
  if (outcome.test) {
    if (outcome.test->perplexity) {
      text += fmt::format(", test perplexity {:.2f}", *outcome.test->perplexity);
    } else if (std::isnan(outcome.test->accuracy)) {
      text += fmt::format(", test loss {:.6g}", outcome.test->loss);
    } else {
      text += fmt::format(", test accuracy {:.4f}", outcome.test->accuracy);
    }
  }
  return text;
}

}  // namespace residuum
