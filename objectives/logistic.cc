// This is logistic regression with a ridge: f(w) = (1/n) sum_i log(1 + exp(-y_i x_i . w)) +
// (l2/2)|w|^2. L = lambda_max(A^T A)/(4n) + l2, mu = l2, f* and x* by Newton's method,
// kept on disk. With intercept = true the last coordinate is the intercept's weight, without ridge,
// and mu = 0.
//
// As in Sahu et al. (NeurIPS 2021), start = "minimizer + c" begins at x* + c (1, ..., 1), and
// shifted = true subtracts grad f_p(x*) from the gradients of worker p (EF-GD*): these vectors add
// up to 0 over the workers, and at x* nothing is left to compress.

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/notes.h"
#include "objectives/facts_cache.h"
#include "objectives/logistic_objective.h"
#include "objectives/newton.h"
#include "objectives/prepared_rows.h"
#include "objectives/registry.h"

namespace residuum {
namespace {

/// The start is w_0 = base + shift (1, ..., 1), the base being 0 or x*.
struct Start {
  bool from_minimizer = false;
  double shift = 0;
};

struct LogisticSettings {
  double l2 = 0;
  Start start;
  bool shifted = false;
  std::filesystem::path cache_dir;
  std::size_t workers = 1;  // P
};

class Logistic final : public LogisticObjective<RidgeRegulariser> {
 public:
  Logistic(ClassificationData data, LogisticSettings settings)
      : LogisticObjective(std::move(data), settings.l2),
        settings_(std::move(settings)),
        shifts_(settings_.shifted ? settings_.workers : 0) {}

  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const override {
    std::fill(w.begin(), w.end(), settings_.start.shift);
    if (settings_.start.from_minimizer) {
      const Facts known = facts();
      for (std::size_t j = 0; j < w.size(); ++j) {
        w[j] += known.minimizer[j];
      }
    }
  }

  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override {
    LogisticObjective::stochastic_gradient(draw, w, gradient);
    shift(draw, gradient);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    LogisticObjective::stochastic_gradient(draw, w, gradient);
    shift(draw, gradient);
  }

  Facts facts() const override {
    std::call_once(solved_, [this] { facts_ = solve(); });
    return facts_;
  }

 private:
  /// The gradient grad f_p(x*) of one worker. Trainings may share the objective and not the shards,
  /// so the shard that it was computed for is kept with it.
  struct ShardGradient {
    std::mutex guard;
    std::vector<std::uint32_t> shard;
    std::vector<double> gradient;
  };

  template <class Real>
  void shift(const Draw& draw, std::span<Real> gradient) const {
    if (!settings_.shifted) {
      return;
    }
    assert(!draw.shard.empty());
    auto& of_worker = shifts_[static_cast<std::size_t>(draw.worker)];
    const std::lock_guard lock(of_worker.guard);
    if (!std::equal(
            draw.shard.begin(), draw.shard.end(), of_worker.shard.begin(), of_worker.shard.end())) {
      set_shift(draw, of_worker);
    }
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      gradient[j] -= static_cast<Real>(of_worker.gradient[j]);
    }
  }

  void set_shift(const Draw& draw, ShardGradient& of_worker) const {
    const Facts known = facts();
    of_worker.shard.assign(draw.shard.begin(), draw.shard.end());
    of_worker.gradient.resize(known.minimizer.size());
    Draw whole = draw;
    whole.samples = draw.shard;
    LogisticObjective::stochastic_gradient(
        whole, std::span<const double>(known.minimizer), std::span<double>(of_worker.gradient));
  }

  Facts solve() const {
    const auto& data = rows();
    const double l2 = regulariser().weight;
    Facts facts;
    facts.smoothness = data.train->smoothness() + l2;
    facts.strong_convexity = data.intercept ? 0.0 : l2;
    facts.convex = true;
    facts.lower_bound = 0;
    const auto minimum = find_minimum();
    if (minimum) {
      facts.minimum = minimum->value;
      facts.minimizer = minimum->point;
    } else {
      tell(NoteKind::note,
           fmt::format("logistic regression on '{}' with l2 = {} has no minimum (some direction "
                       "separates the classes), so there is no f*",
                       data.info.name,
                       l2));
    }
    return facts;
  }

  std::optional<LogisticMinimum> find_minimum() const {
    const auto& data = rows();
    const FactsKey key{.fingerprint = data.train_fingerprint,
                       .l2 = regulariser().weight,
                       .intercept = data.intercept,
                       .scale = data.scale};
    if (auto stored = load_minimizer(settings_.cache_dir, key, dimension())) {
      auto minimum = check(std::move(*stored));
      if (minimum.gradient_norm <= accepted_gradient_norm(*data.train)) {
        return minimum;
      }
    }
    auto minimum = minimise_ridge_logistic(*data.train, regulariser());
    if (minimum) {
      store_minimizer(settings_.cache_dir, key, minimum->point, minimum->gradient_norm);
    }
    return minimum;
  }

  LogisticMinimum check(std::vector<double> point) const {
    std::vector<double> gradient(point.size(), 0.0);
    const double value = ridge_logistic_value(*rows().train, regulariser(), point, gradient);
    double norm_sq = 0;
    for (const double g_j : gradient) {
      norm_sq += g_j * g_j;
    }
    return {.point = std::move(point), .value = value, .gradient_norm = std::sqrt(norm_sq)};
  }

  LogisticSettings settings_;
  mutable std::vector<ShardGradient> shifts_;
  mutable std::once_flag solved_;
  mutable Facts facts_;
};

/// Returns what follows `prefix` and blanks, or nothing if `text` does not start with it.
std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return std::nullopt;
  }
  text.remove_prefix(prefix.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

/// Returns the signed number of "+ 0.005" or "- 1e-4"; 0 for an empty text, NaN for any other.
double parse_shift(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  if (const auto added = after(text, "+")) {
    return parse_number(*added);
  }
  const auto taken = after(text, "-");
  return taken ? -parse_number(*taken) : std::nan("");
}

/// Reads `start`: "zero", a number for all coordinates, "minimizer", or "minimizer + NUMBER".
Start read_start(const Section& section) {
  const auto value = section.any("start", "zero");
  if (value.is_number()) {
    return {.from_minimizer = false, .shift = section.number("start")};
  }
  const std::string text = value.is_string() ? value.get<std::string>() : shown(value);
  if (text == "zero") {
    return {};
  }
  const auto rest = after(text, "minimizer");
  const double shift = rest ? parse_shift(*rest) : std::nan("");
  require(std::isfinite(shift),
          "{} must be \"zero\", a number, \"minimizer\" or \"minimizer + NUMBER\" such as "
          "\"minimizer + 0.005\", got {}",
          section.where("start"),
          text);
  return {.from_minimizer = true, .shift = shift};
}

}  // namespace

/// Reads the keys l2 ("1/n"), start ("zero"), shifted (false), and those of
/// read_classification_data.
std::unique_ptr<Objective> make_logistic(const Section& section, const ObjectiveContext& context) {
  auto data = read_classification_data(section, context);
  const bool shifted = section.flag("shifted", false);
  const LogisticSettings settings{
      .l2 = read_l2(section, data.train->samples(), [&data] { return data.train->smoothness(); }),
      .start = read_start(section),
      .shifted = shifted,
      .cache_dir = context.cache_dir,
      .workers = shifted ? static_cast<std::size_t>(context.workers.get()) : 0};
  auto objective = std::make_unique<Logistic>(std::move(data), settings);
  if (settings.start.from_minimizer || settings.shifted) {
    require(!objective->facts().minimizer.empty(),
            "{}: this objective has no minimum; use a larger 'l2'",
            section.where(settings.shifted ? "shifted" : "start"));
  }
  return objective;
}

}  // namespace residuum
