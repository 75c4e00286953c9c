// Every kernel on every set of instructions against plain loops: the same bits.

#include "core/vectors/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <rapidcheck.h>

#include "core/vectors/dense.h"
#include "core/vectors/fused.h"
#include "tests/core/for_all.h"
#include "tests/core/support.h"
#include "tests/core/vectors/adversarial.h"
#include "tests/core/vectors/plain_pass.h"
#include "tests/core/vectors/simd_targets.h"

namespace residuum {
namespace {

template <class Real>
class Kernels : public testing::Test {};

using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Kernels, Reals);

std::size_t any_size() {
  return static_cast<std::size_t>(*rc::gen::weightedOneOf<int>({{2, rc::gen::inRange(0, 40)},
                                                                {1, rc::gen::inRange(0, 300)},
                                                                {1, rc::gen::inRange(0, 5001)}}));
}

/// Adversarial numbers, or such whose squares stay finite.
template <class Real>
std::vector<Real> any_vector(std::size_t size) {
  auto x = test::adversarial_vector<Real>(size, *rc::gen::arbitrary<std::uint64_t>());
  if (*rc::gen::element(false, true)) {
    for (Real& value : x) {
      value = std::abs(value) > Real{1e9} ? Real{1} / 3 : value;
    }
  }
  return x;
}

/// Segments of odd sizes that cover the vector; some may be empty.
std::vector<Segment> any_segments(std::size_t size) {
  std::vector<Segment> segments;
  std::size_t begin = 0;
  for (int cuts = *rc::gen::inRange(0, 4); cuts > 0; --cuts) {
    const auto part = static_cast<std::size_t>(*rc::gen::inRange<std::size_t>(0, size - begin + 1));
    segments.push_back({.begin = begin, .size = part});
    begin += part;
  }
  segments.push_back({.begin = begin, .size = size - begin});
  return segments;
}

template <class Real>
Real any_bound() {
  using Limits = std::numeric_limits<Real>;
  return *rc::gen::elementOf(std::vector<Real>{
      Limits::denorm_min(), Limits::min(), 1, 2, Limits::max(), Limits::infinity()});
}

template <class Real>
std::vector<Candidates> look_for(Real bound, std::size_t segments) {
  std::vector<Candidates> candidates(segments);
  for (auto& of_segment : candidates) {
    of_segment.bound = static_cast<double>(bound);
    of_segment.indices = {7};  // of an earlier pass
  }
  return candidates;
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same_bits(const PassNorms& a, const PassNorms& b) {
  return same_bits(a.residual_sq, b.residual_sq) && same_bits(a.gradient_sq, b.gradient_sq) &&
         same_bits(a.accumulator_sq, b.accumulator_sq);
}

template <class Real>
void expect_pass(const test::PlainPass<Real>& expected,
                 const std::vector<Real>& memory,
                 const PassNorms& norms,
                 const std::vector<Segment>& segments,
                 const std::vector<Candidates>& found) {
  RC_ASSERT(memory == expected.memory);
  RC_ASSERT(same_bits(norms, expected.norms));
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const bool few = expected.reached[s].size() <= most_candidates(segments[s].size);
    RC_ASSERT(found[s].complete == few);
    RC_ASSERT(!few || found[s].indices == expected.reached[s]);
  }
}

TYPED_TEST(Kernels, AccumulateAsPlainLoopsDo) {
  test::for_each_target([] {
    test::for_all([] {
      const std::size_t size = any_size();
      auto memory = any_vector<TypeParam>(size);
      const auto gradient = any_vector<TypeParam>(size);
      const auto segments = any_segments(size);
      const auto scale = *rc::gen::elementOf(std::vector<TypeParam>{1, TypeParam{0.1F}, -3, 0});
      const auto bound = any_bound<TypeParam>();
      const auto expected = test::plain_pass(
          memory, gradient, segments, bound, [&](TypeParam m, TypeParam g, std::size_t /*i*/) {
            return m + scale * g;
          });
      // Overflows that cancel are no numbers to compare.
      RC_PRE(std::none_of(expected.memory.begin(), expected.memory.end(), [](TypeParam m) {
        return std::isnan(m);
      }));
      auto found = look_for(bound, segments.size());

      const auto norms = accumulate<TypeParam>(
          memory, gradient, scale, {.segments = segments, .candidates = found});

      expect_pass(expected, memory, norms, segments, found);
    });
  });
}

TYPED_TEST(Kernels, SubtractAsPlainLoopsDo) {
  test::for_each_target([] {
    test::for_all([] {
      const std::size_t size = any_size();
      auto memory = any_vector<TypeParam>(size);
      const auto gradient = any_vector<TypeParam>(size);
      const auto estimate = any_vector<TypeParam>(size);
      const auto segments = any_segments(size);
      const auto bound = any_bound<TypeParam>();
      const auto expected = test::plain_pass(
          memory, gradient, segments, bound, [&](TypeParam /*m*/, TypeParam g, std::size_t i) {
            return g - estimate[i];
          });
      auto found = look_for(bound, segments.size());

      const auto norms = subtract<TypeParam>(
          memory, gradient, estimate, {.segments = segments, .candidates = found});

      expect_pass(expected, memory, norms, segments, found);
    });
  });
}

TYPED_TEST(Kernels, RoundTheProductBeforeTheSum) {
  // (1 + u) (1 - u) = 1 - u^2 rounds to 1: a fused multiply-add would leave -u^2.
  const TypeParam u = std::numeric_limits<TypeParam>::epsilon();
  test::for_each_target([u] {
    std::vector<TypeParam> memory(100, -1);
    std::vector<Candidates> found(1);
    const Segment all{.begin = 0, .size = 100};

    accumulate<TypeParam>(memory,
                          std::vector<TypeParam>(100, 1 + u),
                          1 - u,
                          {.segments = {&all, 1}, .candidates = found});

    EXPECT_EQ(memory, std::vector<TypeParam>(100, 0));
  });
}

TYPED_TEST(Kernels, SumInEightLanesByPosition) {
  test::for_each_target([] {
    test::for_all([] {
      const auto x = any_vector<TypeParam>(any_size());
      test::EightLanes nonzero;
      test::EightLanes signed_sum;
      test::EightLanes sum;
      TypeParam largest = 0;
      for (const TypeParam value : x) {
        const auto wide = static_cast<double>(value);
        nonzero.add(value != 0 ? 1 : 0);
        signed_sum.add(wide);
        sum.add(std::abs(wide));
        largest = std::max(largest, std::abs(value));
      }

      RC_ASSERT(same_bits(norm_sq<TypeParam>(x), test::plain_norm_sq<TypeParam>(x)));
      RC_ASSERT(norm_inf<TypeParam>(x) == largest);
      const MagnitudeSums sums = magnitude_sums<TypeParam>(x);
      RC_ASSERT(static_cast<double>(sums.nonzero) == nonzero.total());
      RC_ASSERT(std::isnan(signed_sum.total()) || same_bits(sums.signed_sum, signed_sum.total()));
      RC_ASSERT(same_bits(sums.sum, sum.total()));
      RC_ASSERT(same_bits(sums.sum_sq, test::plain_norm_sq<TypeParam>(x)));
    });
  });
}

TYPED_TEST(Kernels, LookPastWhatIsNotANumberForTheLargest) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  test::for_each_target([nan] {
    std::vector<TypeParam> x(50, nan);
    EXPECT_EQ(norm_inf<TypeParam>(x), 0);
    x[7] = -2;
    x[48] = 1;
    EXPECT_EQ(norm_inf<TypeParam>(x), 2);
  });
}

TYPED_TEST(Kernels, CollectAndCountWhatReachesABound) {
  test::for_each_target([] {
    test::for_all([] {
      const auto x = any_vector<TypeParam>(any_size());
      const auto bound = any_bound<TypeParam>();
      const auto expected = test::plain_collect<TypeParam>(x, bound);
      std::vector<std::uint32_t> hits(x.size() + kernels::kHitsSlack);
      const auto& table = kernels::best<TypeParam>();

      const auto* end =
          table.collect(x.data(), x.size(), {.bound = bound, .first = 1000, .hits = hits.data()});

      hits.resize(static_cast<std::size_t>(end - hits.data()));
      for (std::uint32_t& hit : hits) {
        hit -= 1000;
      }
      RC_ASSERT(hits == expected);
      RC_ASSERT(table.count(x.data(), x.size(), bound) == expected.size());
    });
  });
}

TYPED_TEST(Kernels, AddToWiderSums) {
  test::for_each_target([] {
    test::for_all([] {
      const std::size_t size = any_size();
      auto sum = test::adversarial_vector<double>(size, 1);
      const auto addend = any_vector<TypeParam>(size);
      auto expected = sum;
      for (std::size_t i = 0; i < size; ++i) {
        expected[i] += static_cast<double>(addend[i]);
      }
      add_to<TypeParam>(sum, addend);
      RC_ASSERT(sum == expected);
    });
  });
}

TEST(DoubleKernels, MeasureAndStepAsPlainLoopsDo) {
  test::for_each_target([] {
    test::for_all([] {
      const std::size_t size = any_size();
      const auto w = test::normal_vector(size, 1);
      auto z = test::normal_vector(size, *rc::gen::arbitrary<std::uint64_t>());
      const auto direction = test::normal_vector(size, 3);
      const double scale = 0.3;
      test::EightLanes distance;
      test::EightLanes before;
      test::EightLanes moved;
      test::EightLanes after;
      auto expected = z;
      for (std::size_t i = 0; i < size; ++i) {
        distance.add_square(w[i] - scale * z[i]);
        const double step = scale * direction[i];
        before.add_square(w[i] - z[i]);
        moved.add_square(step);
        expected[i] -= step;
        after.add_square(w[i] - expected[i]);
      }

      RC_ASSERT(same_bits(distance_sq(w, z, scale), distance.total()));
      const VirtualStep step = step_virtual(w, z, direction, scale);
      RC_ASSERT(z == expected);
      RC_ASSERT(same_bits(step.before_sq, before.total()));
      RC_ASSERT(same_bits(step.step_sq, moved.total()));
      RC_ASSERT(same_bits(step.after_sq, after.total()));
    });
  });
}

}  // namespace
}  // namespace residuum
