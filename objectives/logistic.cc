// Logistic regression with a ridge: f(w) = (1/n) sum_i log(1 + exp(-y_i x_i . w)) + (l2/2)|w|^2.
// L = lambda_max(A^T A)/(4n) + l2 by Lanczos, mu = l2, f* and x* by Newton's method, kept on disk.
// With intercept = true the last coordinate is the intercept's weight, without ridge, and mu = 0.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <mutex>

#include "objectives/facts_cache.h"
#include "objectives/logistic_objective.h"
#include "objectives/newton.h"
#include "objectives/registry.h"

namespace residuum {
namespace {

class Logistic final : public LogisticObjective<RidgeRegulariser> {
 public:
  Logistic(ClassificationData data, double l2, std::filesystem::path cache_dir)
      : LogisticObjective(std::move(data), l2), cache_dir_(std::move(cache_dir)) {}

  Facts facts() const override {
    std::call_once(solved_, [this] { facts_ = solve(); });
    return facts_;
  }

 private:
  Facts solve() const {
    const auto& data = classification_data();
    const double l2 = regulariser().weight;
    Facts facts;
    facts.smoothness = data.train->smoothness() + l2;
    facts.strong_convexity = data.intercept ? 0.0 : l2;
    const auto minimum = find_minimum();
    if (minimum) {
      facts.minimum = minimum->value;
      facts.minimizer = minimum->point;
    } else {
      fmt::print(stderr,
                 "note: logistic regression on '{}' with l2 = {} has no minimum (some direction "
                 "separates the classes), so there is no f*\n",
                 data.info.name,
                 l2);
    }
    return facts;
  }

  std::optional<LogisticMinimum> find_minimum() const {
    const auto& data = classification_data();
    const FactsKey key{.fingerprint = data.info.fingerprint,
                       .l2 = regulariser().weight,
                       .intercept = data.intercept,
                       .scale = data.scale};
    if (auto stored = load_minimizer(cache_dir_, key, dimension())) {
      auto minimum = check(std::move(*stored));
      if (minimum.gradient_norm <= accepted_gradient_norm(*data.train)) {
        return minimum;
      }
    }
    auto minimum = minimise_ridge_logistic(*data.train, regulariser());
    if (minimum) {
      store_minimizer(cache_dir_, key, minimum->point, minimum->gradient_norm);
    }
    return minimum;
  }

  LogisticMinimum check(std::vector<double> point) const {
    std::vector<double> gradient(point.size(), 0.0);
    const double value =
        ridge_logistic_value(*classification_data().train, regulariser(), point, gradient);
    double norm_sq = 0;
    for (const double g_j : gradient) {
      norm_sq += g_j * g_j;
    }
    return {.point = std::move(point), .value = value, .gradient_norm = std::sqrt(norm_sq)};
  }

  std::filesystem::path cache_dir_;
  mutable std::once_flag solved_;
  mutable Facts facts_;
};

/// The number that all of `text` spells; NaN if it spells none.
double parse_number(std::string_view text) {
  double value = std::nan("");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : std::nan("");
}

/// A number, "1/n", or "L/NUMBER", where L is the smoothness of the data part.
double read_l2(const Section& section, const LogisticLoss& loss) {
  const auto value = section.any("l2", "1/n");
  if (value.is_number()) {
    const double l2 = section.number("l2");
    require(l2 >= 0, "{} must not be negative, got {}", section.where("l2"), l2);
    return l2;
  }
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text == "1/n") {
    return 1 / static_cast<double>(loss.samples());
  }
  const double divisor = text.starts_with("L/") ? parse_number(text.substr(2)) : std::nan("");
  require(divisor > 0 && std::isfinite(divisor),
          "{} must be a number, \"1/n\" or \"L/NUMBER\" such as \"L/1e4\", got {}",
          section.where("l2"),
          text);
  return loss.smoothness() / divisor;
}

}  // namespace

/// Keys: l2 ("1/n"), and those of read_classification_data.
std::unique_ptr<Objective> make_logistic(const Section& section, const ObjectiveContext& context) {
  auto data = read_classification_data(section, context);
  const double l2 = read_l2(section, *data.train);
  return std::make_unique<Logistic>(std::move(data), l2, context.cache_dir);
}

}  // namespace residuum
