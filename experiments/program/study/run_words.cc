#include "experiments/program/study/run_words.h"

#include <fmt/format.h>

#include <cmath>

namespace residuum {

std::string label_of(const nlohmann::json& varying, std::uint64_t seed) {
  std::string label;
  for (const auto& [key, value] : varying.items()) {
    const auto dot = key.find('.');
    const std::string name = key.substr(dot + 1);
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const bool speaks_for_itself = name == "kind" || name == "putback";
    label += fmt::format("{}{} ", speaks_for_itself ? "" : name + "=", text);
  }
  return label + "seed=" + std::to_string(seed);
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
