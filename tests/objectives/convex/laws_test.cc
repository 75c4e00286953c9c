// Laws that every objective obeys, run over all that are registered and over corner cases.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/objective.h"
#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

constexpr int kWorkers = 3;

struct Case {
  std::string label;
  std::string kind;
  nlohmann::json values;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& entry : convex_objectives()) {
    const std::string kind(entry.name);
    const auto example = nlohmann::json::parse(entry.example);
    if (make(kind, example)->has_function()) {
      all.push_back({kind + " example", kind, example});
    }
  }
  all.push_back({"quadratic d=1", "quadratic", {{"dimension", 1}}});
  all.push_back({"quadratic defaults", "quadratic", nlohmann::json::object()});
  all.push_back({"signal laplace", "signal", {{"dimension", 30}, {"law", "laplace"}}});
  for (const std::string kind : {"logistic", "nonconvex-logistic", "least-squares", "softmax"}) {
    all.push_back({kind + " d=1", kind, {{"rows", 40}, {"features", 1}}});
    all.push_back({kind + " one sample", kind, {{"rows", 1}, {"features", 5}}});
    all.push_back(
        {kind + " intercept", kind, {{"rows", 90}, {"features", 7}, {"intercept", true}}});
    all.push_back({kind + " scaled", kind, {{"rows", 90}, {"features", 7}, {"scale", "max-abs"}}});
    all.push_back({kind + " sparse", kind, {{"data", "SPARSE"}}});
  }
  all.push_back({"logistic no ridge", "logistic", {{"rows", 200}, {"features", 4}, {"l2", 0}}});
  return all;
}

std::vector<Case> data_cases() {
  auto all = cases();
  std::erase_if(
      all, [](const Case& one) { return one.kind.ends_with("quadratic") || one.kind == "signal"; });
  return all;
}

/// 60 rows of 3 entries among 40 features.
std::string sparse_text() {
  RandomStream random(7, Purpose::test, 0, 0);
  std::string text;
  for (int row = 0; row < 60; ++row) {
    text += random.below(2) == 0 ? "-1" : "+1";
    for (std::uint32_t part = 0; part < 3; ++part) {
      const double value = random.normal();
      text += fmt::format(" {}:{}", part * 13 + 1 + random.below(13), value);
    }
    text += '\n';
  }
  return text;
}

class ObjectiveLaw : public testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Objective> build() const {
    auto values = GetParam().values;
    if (values.value("data", "") == "SPARSE") {
      values["data"] = directory_.write("sparse.txt", sparse_text());
    }
    return make(GetParam().kind, values, {}, kWorkers);
  }

  std::unique_ptr<Objective> objective() const { return build(); }

  /// A point of the size of the problem, for instance number `i`.
  static std::vector<double> point(const Objective& f, std::uint64_t i) {
    return normal_vector(f.dimension(), i, 0.7);
  }

 private:
  TemporaryDirectory directory_;
};

/// Laws of the objectives that have a data set.
class DataObjectiveLaw : public ObjectiveLaw {};

std::vector<double> gradient_of(const Objective& f, const Draw& draw, std::span<const double> w) {
  std::vector<double> gradient(w.size(), std::nan(""));  // what was in it must not matter
  f.stochastic_gradient(draw, w, gradient);
  return gradient;
}

TEST_P(ObjectiveLaw, GradientIsTheDerivative) {
  const auto f = objective();
  for (std::uint64_t i = 0; i < 5; ++i) {
    const auto w = point(*f, i);
    const auto direction = normal_vector(w.size(), 100 + i);
    constexpr double kStep = 1e-5;
    auto ahead = w;
    auto behind = w;
    for (std::size_t j = 0; j < w.size(); ++j) {
      ahead[j] += kStep * direction[j];
      behind[j] -= kStep * direction[j];
    }
    const double difference =
        (evaluate(*f, ahead, kWorkers).value - evaluate(*f, behind, kWorkers).value) / (2 * kStep);
    const auto gradient = evaluate(*f, w, kWorkers).gradient;
    const double slope =
        std::inner_product(gradient.begin(), gradient.end(), direction.begin(), 0.0);
    // Central differences: kStep^2 |direction|^3 times a third derivative below 1, and rounding.
    const double cube = std::pow(norm(direction), 3);
    EXPECT_NEAR(difference, slope, 1e-10 * (cube + 1) + 1e-9) << "at point " << i;
  }
}

TEST_P(DataObjectiveLaw, PartsOfTheWorkersSumToTheWhole) {
  const auto f = objective();
  const auto w = point(*f, 1);
  const auto whole = evaluate(*f, w, 1);
  const auto parts = evaluate(*f, w, kWorkers);
  EXPECT_NEAR(whole.value, parts.value, 1e-13 * std::abs(whole.value));
  EXPECT_LE(distance(whole.gradient, parts.gradient), 1e-13 * (1 + norm(whole.gradient)));
}

TEST_P(ObjectiveLaw, EvaluateAddsToTheGradientAndNeedsNone) {
  const auto f = objective();
  const auto w = point(*f, 2);
  const auto shard = all_samples(*f);
  std::vector<double> once(w.size(), 0.0);
  const double value = f->evaluate(0, kWorkers, shard, w, once);
  std::vector<double> twice = once;
  EXPECT_EQ(value, f->evaluate(0, kWorkers, shard, w, twice));
  EXPECT_EQ(value, f->evaluate(0, kWorkers, shard, w, {}));
  for (std::size_t j = 0; j < w.size(); ++j) {
    EXPECT_NEAR(twice[j], 2 * once[j], 1e-13);
  }
}

TEST_P(DataObjectiveLaw, SampleGradientsAreUnbiased) {
  const auto f = objective();
  const auto w = point(*f, 3);
  std::vector<double> mean(w.size(), 0.0);
  for (const auto sample : all_samples(*f)) {
    const auto g = gradient_of(*f, {.seed = 1, .samples = {&sample, 1}}, w);
    for (std::size_t j = 0; j < mean.size(); ++j) {
      mean[j] += g[j] / static_cast<double>(f->samples());
    }
  }
  const auto full = evaluate(*f, w).gradient;
  EXPECT_LE(distance(mean, full), 1e-13 * (1 + norm(full)));
  const auto all = all_samples(*f);
  EXPECT_LE(distance(gradient_of(*f, {.seed = 1, .samples = all}, w), full),
            1e-13 * (1 + norm(full)));
}

TEST_P(DataObjectiveLaw, BatchGradientIsTheMeanOverItsSamplesWithRepeats) {
  const auto f = objective();
  const auto w = point(*f, 4);
  const auto last = static_cast<std::uint32_t>(f->samples() - 1);
  const std::vector<std::uint32_t> batch = {0, last, 0};
  const auto first = gradient_of(*f, {.samples = {batch.data(), 1}}, w);
  const auto second = gradient_of(*f, {.samples = {batch.data() + 1, 1}}, w);
  const auto together = gradient_of(*f, {.samples = batch}, w);
  for (std::size_t j = 0; j < w.size(); ++j) {
    EXPECT_NEAR(together[j], (2 * first[j] + second[j]) / 3, 1e-13);
  }
}

TEST_P(ObjectiveLaw, FloatAndDoubleGradientsAgree) {
  const auto f = objective();
  const auto samples = all_samples(*f);
  const auto wide = point(*f, 5);
  const std::vector<float> narrow(wide.begin(), wide.end());
  const std::vector<double> w(narrow.begin(), narrow.end());  // the same point in both
  const Draw draw{.seed = 3, .worker = 2, .iteration = 9, .samples = samples};
  std::vector<float> g(w.size(), std::nanf(""));
  f->stochastic_gradient(draw, narrow, g);
  const auto reference = gradient_of(*f, draw, w);
  EXPECT_LE(distance(std::vector<double>(g.begin(), g.end()), reference),
            1e-5 * (1 + norm(reference)));
}

TEST_P(ObjectiveLaw, SameDrawSameBits) {
  const auto f = objective();
  const auto g = build();
  const auto samples = all_samples(*f);
  const auto w = point(*f, 6);
  const Draw draw{.seed = 3, .worker = 1, .iteration = 4, .samples = samples};
  const auto reference = gradient_of(*f, draw, w);
  gradient_of(*f, {.seed = 3, .worker = 0, .iteration = 5, .samples = samples}, w);
  EXPECT_EQ(reference, gradient_of(*f, draw, w));
  EXPECT_EQ(reference, gradient_of(*g, draw, w));
  EXPECT_EQ(evaluate(*f, w, kWorkers).gradient, evaluate(*g, w, kWorkers).gradient);
  EXPECT_EQ(f->facts().minimizer, g->facts().minimizer);
}

TEST_P(ObjectiveLaw, StartsAtZero) {
  const auto f = objective();
  std::vector<double> w(f->dimension(), 5.0);
  f->initial_point(1, w);
  EXPECT_THAT(w, testing::Each(0.0));
}

TEST_P(ObjectiveLaw, LabelsAreTheClassesOrAbsent) {
  const auto f = objective();
  const bool has_targets = GetParam().kind == "least-squares";
  EXPECT_EQ(f->labels().size(), has_targets ? 0 : f->samples());
  for (const auto label : f->labels()) {
    if (GetParam().kind == "softmax") {
      EXPECT_TRUE(label >= 0 && static_cast<std::size_t>(label) < f->dimension());
    } else {
      EXPECT_EQ(std::abs(label), 1);
    }
  }
  EXPECT_EQ(f->data().samples, f->samples());
}

TEST_P(ObjectiveLaw, SmoothnessBoundsSecantsAndStrongConvexityIsBelowThem) {
  const auto f = objective();
  const Facts facts = f->facts();
  ASSERT_TRUE(facts.smoothness.has_value());
  for (std::uint64_t i = 0; i < 20; ++i) {
    // The gradient of a logistic loss is steepest at 0; secants near it come close to L.
    const double scale = i % 2 == 0 ? 1.0 : 1e-3;
    const auto a = normal_vector(f->dimension(), 200 + i, scale);
    const auto b = normal_vector(f->dimension(), 300 + i, scale);
    const double secant =
        distance(evaluate(*f, a, kWorkers).gradient, evaluate(*f, b, kWorkers).gradient) /
        distance(a, b);
    EXPECT_LE(secant, *facts.smoothness * (1 + 1e-9));
    EXPECT_GE(secant, facts.strong_convexity.value_or(0) * (1 - 1e-9));
  }
}

TEST_P(ObjectiveLaw, MinimumIsOne) {
  const auto f = objective();
  const Facts facts = f->facts();
  if (!facts.minimum) {
    EXPECT_TRUE(facts.minimizer.empty());
    return;
  }
  const auto at_minimum = evaluate(*f, facts.minimizer, kWorkers);
  EXPECT_NEAR(at_minimum.value, *facts.minimum, 1e-13 * (1 + std::abs(*facts.minimum)));
  EXPECT_LE(norm(at_minimum.gradient), 1e-12 * (1 + norm(facts.minimizer)));
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto shift =
        normal_vector(f->dimension(), 400 + i, std::pow(10.0, -static_cast<double>(i % 4)));
    auto w = facts.minimizer;
    for (std::size_t j = 0; j < w.size(); ++j) {
      w[j] += shift[j];
    }
    const double gap = evaluate(*f, w, kWorkers).value - *facts.minimum;
    const double half_square = 0.5 * norm(shift) * norm(shift);
    const double rounding = 1e-13 * (1 + std::abs(*facts.minimum));
    EXPECT_GE(gap, facts.strong_convexity.value_or(0) * half_square * (1 - 1e-9) - rounding);
    EXPECT_LE(gap, *facts.smoothness * half_square * (1 + 1e-9) + rounding);
  }
}

/// <grad f(a) - grad f(b), a - b>, which is nowhere negative if f is convex.
double monotony(const Objective& f, std::span<const double> a, std::span<const double> b) {
  const auto at_a = evaluate(f, a, kWorkers).gradient;
  const auto at_b = evaluate(f, b, kWorkers).gradient;
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    sum += (at_a[j] - at_b[j]) * (a[j] - b[j]);
  }
  return sum;
}

/// Whether f curves down somewhere far out on an axis, where a bounded regulariser does.
bool curves_down_far_out(const Objective& f) {
  for (std::size_t axis = 0; axis < f.dimension(); ++axis) {
    for (const double distance : {1e2, 1e3, 1e4, 3e4}) {
      std::vector<double> a(f.dimension(), 0.0);
      auto b = a;
      a[axis] = distance;
      b[axis] = 2 * distance;
      if (monotony(f, a, b) < 0) {
        return true;
      }
    }
  }
  return false;
}

TEST_P(ObjectiveLaw, IsConvexWhereTheFactsSaySo) {
  const auto f = objective();
  const auto convex = f->facts().convex;
  ASSERT_TRUE(convex.has_value());
  EXPECT_EQ(*convex, GetParam().kind != "nonconvex-logistic");
  if (!*convex) {
    EXPECT_TRUE(curves_down_far_out(*f));
    return;
  }
  for (std::uint64_t i = 0; i < 20; ++i) {
    const double scale = std::pow(10.0, static_cast<double>(i % 5) - 2);
    const auto a = normal_vector(f->dimension(), 500 + i, scale);
    const auto b = normal_vector(f->dimension(), 600 + i, scale);
    const double rounding =
        1e-13 * (norm(a) + norm(b)) *
        (norm(evaluate(*f, a, kWorkers).gradient) + norm(evaluate(*f, b, kWorkers).gradient));
    EXPECT_GE(monotony(*f, a, b), -rounding);
  }
}

TEST_P(ObjectiveLaw, IsNowhereBelowItsLowerBound) {
  const auto f = objective();
  const Facts facts = f->facts();
  const bool is_a_loss = f->samples() > 0;
  EXPECT_EQ(facts.lower_bound, is_a_loss ? std::optional<double>(0) : std::nullopt);
  for (std::uint64_t i = 0; facts.lower_bound && i < 20; ++i) {
    const auto w =
        normal_vector(f->dimension(), 700 + i, std::pow(10.0, static_cast<double>(i % 4)));
    EXPECT_GE(evaluate(*f, w, kWorkers).value, *facts.lower_bound);
  }
  if (facts.lower_bound && facts.minimum) {
    EXPECT_GE(*facts.minimum, *facts.lower_bound);
  }
}

TEST_P(ObjectiveLaw, HasUnbiasedGradientsAndAStartThatNoSeedChanges) {
  const auto f = objective();
  EXPECT_EQ(f->facts().gradient_bias, "");
  EXPECT_FALSE(f->facts().starts_from_seed);
  std::vector<double> one(f->dimension());
  std::vector<double> other(f->dimension());
  f->initial_point(1, one);
  f->initial_point(2, other);
  EXPECT_EQ(one, other);
}

std::string test_name(const testing::TestParamInfo<Case>& tested) {
  std::string name = tested.param.label;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registered, ObjectiveLaw, testing::ValuesIn(cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Registered, DataObjectiveLaw, testing::ValuesIn(data_cases()), test_name);

}  // namespace
}  // namespace residuum::test
