// The key `value` is a number, "live" (the learning rate of the training that a run is attached
// to), "C/L" or "C/mu" with the objective's constants, "C/sqrt(T)" or "C*sqrt(P/T)" with the run's
// length and workers (the step sizes of the rates), "tight" for a constant step, the eta* of
// tight_rate.h, or "theory":
//   constant  alpha/(4 L) with the contraction alpha = k/d: the largest step of mean-contraction
//             (error feedback without bounded gradients), 1/(4 L) when nothing is dropped;
//   inv-time  8/mu, with shift (a + 2) d/k, a = 5 (alpha in the paper): Mem-SGD (Stich et al.,
//   NeurIPS 2018).
// A warm-up raises the first step sizes linearly from a fraction, 1/P as in the gTop-k papers
// (Goyal et al., 2017), to the full step size of the rule.

#include "core/schedules/step_rule.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/elementary.h"
#include "core/schedules/tight_rate.h"
#include "core/text.h"

namespace residuum {
namespace {

double fact(const std::optional<double>& known, std::string_view symbol, const std::string& where) {
  require(known.has_value() && *known > 0,
          "{} refers to {}, which is not known for this objective; give a number",
          where,
          symbol);
  return *known;
}

/// Returns T, which must not be open.
double length_of_run(const StepContext& context, const std::string& where) {
  require(context.iterations > 0,
          "{} refers to T, the number of iterations, which is open; give a number, or "
          "'budget.iterations'",
          where);
  return context.iterations;
}

double scaled_value(const std::string& value, const Section& section, const StepContext& context) {
  const auto multiple = leading_number<double>(value);
  const bool is_finite = multiple && std::isfinite(multiple->number);
  const double factor = is_finite ? multiple->number : 0;
  const std::string_view rest = is_finite ? multiple->rest : std::string_view();
  const std::string where = section.where("value");
  if (rest == "/sqrt(T)") {
    return factor / std::sqrt(length_of_run(context, where));
  }
  if (rest == "*sqrt(P/T)") {
    return factor * std::sqrt(context.workers / length_of_run(context, where));
  }
  require(rest == "/L" || rest == "/mu",
          "{} must be a number, \"theory\", \"tight\" with a constant step, or a multiple such as "
          "\"1/L\", \"8/mu\", "
          "\"0.5/sqrt(T)\" or \"0.5*sqrt(P/T)\"; got \"{}\"",
          where,
          value);
  const Facts facts = context.facts();
  return rest == "/L" ? factor / fact(facts.smoothness, "L", where)
                      : factor / fact(facts.strong_convexity, "mu", where);
}

double read_value(const Section& section, const StepContext& context, double theory) {
  const auto value = section.any("value");
  double step = 0;
  if (value.is_number()) {
    step = section.number("value");
  } else if (value == "theory") {
    require(theory > 0, "{}: this rule has no theoretical value", section.where("value"));
    step = theory;
  } else {
    step = scaled_value(section.text("value"), section, context);
  }
  require(
      step > 0 && std::isfinite(step), "{} must be positive, got {}", section.where("value"), step);
  return step;
}

bool wants_theory(const Section& section) {
  return section.has("value") && section.any("value") == "theory";
}

class Constant final : public StepRule {
 public:
  explicit Constant(double value) : value_(value) {}
  double at(std::uint64_t /*iteration*/, double /*epoch*/) const override { return value_; }
  std::optional<double> constant() const override { return value_; }

 private:
  double value_;
};

/// The learning rate of the training outside whose gradients these are.
class Live final : public StepRule {
 public:
  explicit Live(std::function<double()> rate) : rate_(std::move(rate)) {}
  double at(std::uint64_t /*iteration*/, double /*epoch*/) const override { return rate_(); }

 private:
  std::function<double()> rate_;
};

/// This rule is eta_t = value / sqrt(t + 1).
class InverseSqrt final : public StepRule {
 public:
  explicit InverseSqrt(double value) : value_(value) {}
  double at(std::uint64_t iteration, double /*epoch*/) const override {
    return value_ / std::sqrt(static_cast<double>(iteration) + 1);
  }
  StepLaw law() const override { return {.may_grow = false}; }

 private:
  double value_;
};

/// Mem-SGD's rule is eta_t = value / (shift + t).
class InverseTime final : public StepRule {
 public:
  InverseTime(double value, double shift) : value_(value), shift_(shift) {}
  double at(std::uint64_t iteration, double /*epoch*/) const override {
    return value_ / (shift_ + static_cast<double>(iteration));
  }
  StepLaw law() const override { return {.may_grow = false, .shift = shift_}; }
  double weight(std::uint64_t iteration) const override {
    const double root = shift_ + static_cast<double>(iteration);
    return root * root;
  }

 private:
  double value_;
  double shift_;
};

/// This rule is eta_t = value * factor^(milestones reached).
class Milestones final : public StepRule {
 public:
  Milestones(double value, double factor, std::vector<double> milestones, bool in_epochs)
      : value_(value), factor_(factor), milestones_(std::move(milestones)), in_epochs_(in_epochs) {}
  double at(std::uint64_t iteration, double epoch) const override {
    const double now = in_epochs_ ? epoch : static_cast<double>(iteration);
    const auto reached = std::count_if(milestones_.begin(),
                                       milestones_.end(),
                                       [now](double milestone) { return now >= milestone; });
    double step = value_;
    for (auto left = reached; left > 0; --left) {
      step *= factor_;
    }
    return step;
  }
  StepLaw law() const override { return {.may_grow = factor_ > 1}; }

 private:
  double value_;
  double factor_;
  std::vector<double> milestones_;
  bool in_epochs_;
};

/// Multiplies the first step sizes of a rule by a factor that rises linearly from a fraction to 1.
class WarmUp final : public StepRule {
 public:
  WarmUp(std::unique_ptr<StepRule> rule, double first, double length, bool in_epochs)
      : rule_(std::move(rule)), first_(first), length_(length), in_epochs_(in_epochs) {}
  double at(std::uint64_t iteration, double epoch) const override {
    const double now = in_epochs_ ? epoch : static_cast<double>(iteration);
    const double fraction = first_ + (1 - first_) * (now / length_);
    return rule_->at(iteration, epoch) * (now < length_ ? fraction : 1.0);
  }
  double weight(std::uint64_t iteration) const override { return rule_->weight(iteration); }

 private:
  std::unique_ptr<StepRule> rule_;
  double first_;
  double length_;
  bool in_epochs_;
};

/// After a warm-up that ends at `begin` this rule falls as half a cosine from `value` to `floor`
/// times it at `end`, and stays there (Loshchilov, Hutter, ICLR 2017, without restarts).
class Cosine final : public StepRule {
 public:
  Cosine(double value, double floor, double begin, double end, bool in_epochs)
      : value_(value), floor_(floor), begin_(begin), end_(end), in_epochs_(in_epochs) {}
  double at(std::uint64_t iteration, double epoch) const override {
    const double now = in_epochs_ ? epoch : static_cast<double>(iteration);
    const double over = std::clamp((now - begin_) / (end_ - begin_), 0.0, 1.0);
    return value_ * (floor_ + (1 - floor_) * (1 + elementary::turned(over / 2).cosine) / 2);
  }
  StepLaw law() const override { return {.may_grow = false}; }

 private:
  double value_;
  double floor_;
  double begin_;
  double end_;
  bool in_epochs_;
};

std::string rule_of(const Section& section) {
  return section.choice(
      "rule", {"constant", "inv-sqrt", "inv-time", "milestones", "cosine"}, "constant");
}

/// True if milestones, the end of a cosine and a warm-up are counted in epochs, false if in
/// iterations.
bool in_epochs(const Section& section, const StepContext& context) {
  const char* fallback = rule_of(section) == "cosine" ? "iterations" : "epochs";
  const bool epochs = section.choice("unit", {"epochs", "iterations"}, fallback) == "epochs";
  require(!epochs || context.has_epochs,
          "{} is \"epochs\", but this objective has no data set; use \"iterations\"",
          section.where("unit"));
  return epochs;
}

/// Returns eta* of the tight theory.
double tight_value(const Section& section, const StepContext& context) {
  const std::string where = section.where("value");
  const TightFacts facts = context.tight ? context.tight() : TightFacts{};
  const auto need = [&](const std::optional<double>& value, std::string_view what) {
    require(value.has_value() && *value > 0,
            "{} is \"tight\", which takes {}; give a number",
            where,
            what);
    return *value;
  };
  const CompressedProblem problem{
      .smoothness = need(facts.smoothness, "an L of every worker's objective, not known here"),
      .strong_convexity =
          need(facts.strong_convexity, "a mu > 0 of every worker's objective, not known here"),
      .contraction = need(facts.contraction,
                          "a share of the accumulator that messages keep, which this sparsifier "
                          "does not promise")};
  return tight_step(problem);
}

std::unique_ptr<StepRule> make_constant(const Section& section, const StepContext& context) {
  if (section.has("value") && section.any("value") == "tight") {
    return std::make_unique<Constant>(tight_value(section, context));
  }
  if (section.has("value") && section.any("value") == "live") {
    require(context.live != nullptr,
            "{} is \"live\", which is for objective 'live' alone; give a number",
            section.where("value"));
    return std::make_unique<Live>(context.live);
  }
  double theory = 0;
  if (wants_theory(section)) {
    const double smoothness = fact(context.facts().smoothness, "L", section.where("value"));
    theory = context.k / context.dimension / (4 * smoothness);
  }
  return std::make_unique<Constant>(read_value(section, context, theory));
}

std::unique_ptr<StepRule> make_inverse_sqrt(const Section& section, const StepContext& context) {
  return std::make_unique<InverseSqrt>(read_value(section, context, 0));
}

/// Reads `shift`: a number, "d/k" or a multiple "10d/k" (Mem-SGD's delay a).
double read_shift(const Section& section, const StepContext& context) {
  const auto value = section.any("shift", "7d/k");
  double shift = 0;
  if (value.is_number()) {
    shift = section.number("shift");
  } else {
    const std::string text = section.text("shift", "7d/k");
    const auto multiple = leading_number<double>(text).value_or(LeadingNumber<double>{1, text});
    require(multiple.rest == "d/k" && std::isfinite(multiple.number),
            "{} must be a number or a multiple of d/k such as \"10d/k\"; got \"{}\"",
            section.where("shift"),
            text);
    shift = multiple.number * context.dimension / context.k;
  }
  require(shift > 0, "{} must be positive, got {}", section.where("shift"), shift);
  return shift;
}

std::unique_ptr<StepRule> make_inverse_time(const Section& section, const StepContext& context) {
  double theory = 0;
  if (wants_theory(section)) {
    theory = 8 / fact(context.facts().strong_convexity, "mu", section.where("value"));
  }
  return std::make_unique<InverseTime>(read_value(section, context, theory),
                                       read_shift(section, context));
}

std::unique_ptr<StepRule> make_milestones(const Section& section, const StepContext& context) {
  const auto listed = section.any("milestones");
  const std::string where = section.where("milestones");
  require(listed.is_array(), "{} must be a list of numbers", where);
  std::vector<double> milestones;
  for (const auto& milestone : listed) {
    require(milestone.is_number() && std::isfinite(milestone.get<double>()),
            "{} must be a list of finite numbers, got {}",
            where,
            shown(listed));
    milestones.push_back(milestone.get<double>());
  }
  const bool increase = std::is_sorted(milestones.begin(), milestones.end(), std::less_equal<>());
  require(!milestones.empty() && increase, "{} must be numbers that increase", where);
  const double factor = section.number("factor", 0.1);
  require(factor > 0, "{} must be positive, got {}", section.where("factor"), factor);
  return std::make_unique<Milestones>(
      read_value(section, context, 0), factor, std::move(milestones), in_epochs(section, context));
}

/// Reads `until`: a number, or "T" (default), which is recorded as the number of iterations.
double read_end(const Section& section, const StepContext& context) {
  const bool is_all = section.has("until") && section.given()["until"] == "T";
  if (!is_all && section.has("until")) {
    return section.number("until");
  }
  const double all = length_of_run(context, section.where("until"));
  if (is_all) {
    section.adopt({{"until", all}});
  }
  return is_all ? all : section.number("until", all);
}

std::unique_ptr<StepRule> make_cosine(const Section& section, const StepContext& context) {
  const bool epochs = in_epochs(section, context);
  require(!epochs || (section.has("until") && section.given()["until"] != "T"),
          "{} is \"epochs\", so that step.until must say after how many of them the step has come "
          "to its floor",
          section.where("unit"));
  const double begin = section.number("warmup", 0);
  const double end = read_end(section, context);
  const double floor = section.number("floor", 0.1);
  require(end > begin && std::isfinite(end),
          "{} must lie behind the warm-up, which ends at {}, got {}",
          section.where("until"),
          begin,
          end);
  require(floor >= 0 && floor <= 1, "{} must lie in [0, 1], got {}", section.where("floor"), floor);
  require(
      floor > 0 || (!epochs && context.iterations > 0 && end >= context.iterations),
      "{} is 0, but the step must be positive in all {} iterations, so that {} must be as many, "
      "or more, in iterations",
      section.where("floor"),
      context.iterations,
      section.where("until"));
  return std::make_unique<Cosine>(read_value(section, context, 0), floor, begin, end, epochs);
}

std::unique_ptr<StepRule> make_rule(const Section& section, const StepContext& context) {
  const std::string rule = rule_of(section);
  if (rule == "constant") {
    return make_constant(section, context);
  }
  if (rule == "inv-sqrt") {
    return make_inverse_sqrt(section, context);
  }
  if (rule == "inv-time") {
    return make_inverse_time(section, context);
  }
  if (rule == "cosine") {
    return make_cosine(section, context);
  }
  return make_milestones(section, context);
}

/// Reads `warmup_from`: a number, or "1/P". It is absent without a warm-up.
std::optional<double> read_first_fraction(const Section& section,
                                          const StepContext& context,
                                          bool warms_up) {
  const auto from = section.if_used(warms_up).any("warmup_from", "1/P");
  if (!from) {
    return std::nullopt;
  }
  if (*from == "1/P") {
    return 1 / context.workers;
  }
  require(from->is_number() && from->get<double>() >= 0 && from->get<double>() <= 1,
          "{} must be \"1/P\" or a number in [0, 1], got {}",
          section.where("warmup_from"),
          shown(*from));
  return from->get<double>();
}

}  // namespace

std::unique_ptr<StepRule> make_step_rule(const Section& section, const StepContext& context) {
  auto rule = make_rule(section, context);
  const double length = section.number("warmup", 0);
  require(length >= 0 && std::isfinite(length),
          "{} must be at least 0, got {}",
          section.where("warmup"),
          length);
  const auto from = read_first_fraction(section, context, length != 0);
  if (!from) {
    return rule;
  }
  return std::make_unique<WarmUp>(std::move(rule), *from, length, in_epochs(section, context));
}

}  // namespace residuum
