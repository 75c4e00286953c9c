// The vectors of a CUDA device have the bits of the stand-in's, which are the host's, but for
// norms.

#include "core/vectors/cuda/cuda_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/vectors/stand_in_device.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using Selection = SparseVector<float>;

TEST(CudaDevices, AreRefusedWhereTheyAreNot) {
  const int beyond = cuda::device_count();
  try {
    cuda::make_device(beyond);
    FAIL() << "a device beyond the last";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
  }
}

class CudaVectors : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) {
      GTEST_SKIP() << "no CUDA device, or a build without CUDA";
    }
  }
};

/// Vectors of the CUDA device beside those of the stand-in; the same whatever is asked.
class Pair {
 public:
  Pair(std::size_t count, std::size_t d)
      : d_(d),
        whole_{{.begin = 0, .size = d}},
        device_(cuda::make_device(0)),
        there_(device_->vectors(count, d)),
        expected_(stand_in_.vectors(count, d)),
        gradient_there_(device_->vectors(1, d)),
        gradient_(stand_in_.vectors(1, d)) {}

  void set(std::size_t number, const std::vector<float>& values) {
    there_->set(number, values);
    expected_->set(number, values);
  }

  void accumulate(const std::vector<float>& gradient, float scale) {
    set_gradient(gradient);
    expect_near(there_->accumulate(gradient_there_->vector(0).span(), scale, whole_),
                expected_->accumulate(gradient_->vector(0).span(), scale, whole_));
    expect_same(0);
  }
  void subtract(const std::vector<float>& gradient) {
    set_gradient(gradient);
    expect_near(there_->subtract(gradient_there_->vector(0).span(), whole_),
                expected_->subtract(gradient_->vector(0).span(), whole_));
    expect_same(0);
  }

  Selection select(const std::vector<SelectionPart>& parts) {
    Selection selected;
    Selection expected;
    there_->select(parts, selected);
    expected_->select(parts, expected);
    EXPECT_EQ(selected, expected);
    return expected;
  }

  /// Does the same to both, and compares all vectors.
  template <class Change>
  void change(std::size_t count, const Change& change) {
    change(*there_);
    change(*expected_);
    for (std::size_t number = 0; number < count; ++number) {
      expect_same(number);
    }
  }

  void expect_same_extent(std::size_t number) {
    near(there_->norm_sq(number, whole_), expected_->norm_sq(number, whole_));
    EXPECT_EQ(there_->norm_inf(number), expected_->norm_inf(number));
  }

 private:
  void set_gradient(const std::vector<float>& gradient) {
    gradient_there_->set(0, gradient);
    gradient_->set(0, gradient);
  }
  void expect_near(const PassNorms& a, const PassNorms& b) const {
    near(a.residual_sq, b.residual_sq);
    near(a.gradient_sq, b.gradient_sq);
    near(a.accumulator_sq, b.accumulator_sq);
  }
  /// Two orders of a sum of n positive float64 terms: apart by at most n roundings each.
  void near(double a, double b) const {
    const double rounding = std::numeric_limits<double>::epsilon();
    EXPECT_NEAR(a, b, rounding * static_cast<double>(d_) * b);
  }
  void expect_same(std::size_t number) const {
    std::vector<float> a(d_);
    std::vector<float> b(d_);
    there_->get(number, a);
    expected_->get(number, b);
    EXPECT_TRUE(d_ == 0 || std::memcmp(a.data(), b.data(), d_ * sizeof(float)) == 0) << number;
  }

  std::size_t d_;
  std::vector<Segment> whole_;
  StandInDevice stand_in_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<DeviceVectors> there_;
  std::unique_ptr<DeviceVectors> expected_;
  std::unique_ptr<DeviceVectors> gradient_there_;
  std::unique_ptr<DeviceVectors> gradient_;
};

std::vector<SelectionPart> blocks_of(std::size_t d, std::size_t block, std::size_t most) {
  std::vector<SelectionPart> parts;
  for (std::size_t begin = 0; begin < d; begin += block) {
    parts.push_back(
        {.at = {.begin = begin, .size = std::min(block, d - begin)}, .most = most, .least = 0});
  }
  return parts;
}

TEST_F(CudaVectors, SelectTheHostsEntriesOfEveryPart) {
  for (const std::size_t d : {1, 33, 257, 4097, 70'001}) {
    Pair pair(1, d);
    std::uint64_t seed = d;
    for (const std::size_t k : {std::size_t{1}, d / 100 + 1, d}) {
      for (int t = 0; t < 3; ++t) {
        pair.accumulate(test::normal_vector<float>(d, ++seed), 0.3F);
        const Selection sent = pair.select({{.at = {.begin = 0, .size = d}, .most = k}});
        pair.select(blocks_of(d, 64, 3));
        pair.select(blocks_of(d, 5000, 40));
        pair.select({{.at = {.begin = 0, .size = d}, .most = d, .least = 0.5F}});
        pair.change(1, [&](DeviceVectors& vectors) { vectors.add(0, sent, -1); });
        pair.change(1, [&](DeviceVectors& vectors) { vectors.add(0, sent, -1); });
        pair.change(1, [&](DeviceVectors& vectors) { vectors.add(0, sent, 1); });
      }
    }
  }
}

TEST_F(CudaVectors, BreakTiesInPartsAsTheHostDoes) {
  const std::size_t d = 10'000;
  std::vector<float> values(d);
  for (std::size_t i = 0; i < d; ++i) {
    values[i] = static_cast<float>(i % 5) - 2;
  }
  Pair pair(1, d);
  pair.set(0, values);
  for (const std::size_t most : {1, 7, 100, 999}) {
    pair.select(blocks_of(d, 1000, most));
  }
  pair.select({{.at = {.begin = 100, .size = 700}, .most = 700, .least = 2},
               {.at = {.begin = 900, .size = 300}, .most = 20, .least = 0}});
}

TEST_F(CudaVectors, ChangeAsTheHostsDo) {
  const std::size_t d = 12'345;
  Pair pair(2, d);
  pair.set(0, test::normal_vector<float>(d, 1));
  pair.set(1, test::normal_vector<float>(d, 2));
  Selection list;
  for (std::uint32_t i = 3; i < d; i += 100) {
    list.push_back(i, 0.25F * static_cast<float>(i));
  }
  pair.subtract(test::normal_vector<float>(d, 3));
  pair.change(2, [&](DeviceVectors& vectors) { vectors.add(1, list, 1); });
  pair.change(2, [&](DeviceVectors& vectors) { vectors.add(0, list, -1); });
  pair.change(2, [&](DeviceVectors& vectors) { vectors.assign(1, list); });
  pair.change(2, [&](DeviceVectors& vectors) { vectors.scale(0, 0.9F); });
  pair.change(2, [&](DeviceVectors& vectors) { vectors.add_vector(1, 0); });
  pair.expect_same_extent(0);
  pair.expect_same_extent(1);
  pair.change(2, [&](DeviceVectors& vectors) {
    std::vector<float> values(list.size());
    vectors.gather(1, list.indices, values);
    vectors.assign(0, {.indices = list.indices, .values = values});
  });
  pair.change(2, [](DeviceVectors& vectors) { vectors.clear(0); });
}

/// The vectors of several workers, which all start before the first is taken. They read one
/// gradient, which is written again as soon as a step was started.
void step_together(const std::vector<SelectionPart>& parts, std::size_t d) {
  constexpr std::size_t kWorkers = 4;
  const auto device = cuda::make_device(0);
  const StandInDevice stand_in;
  const auto gradient_there = device->vectors(1, d);
  const auto gradient = stand_in.vectors(1, d);
  std::vector<std::unique_ptr<DeviceVectors>> there;
  std::vector<std::unique_ptr<DeviceVectors>> expected;
  for (std::size_t w = 0; w < kWorkers; ++w) {
    there.push_back(device->vectors(1, d));
    expected.push_back(stand_in.vectors(1, d));
  }
  const std::vector<Segment> whole{{.begin = 0, .size = d}};
  std::uint64_t seed = d;
  for (int t = 0; t < 5; ++t) {
    for (std::size_t w = 0; w < kWorkers; ++w) {
      const auto values = test::normal_vector<float>(d, ++seed);
      gradient_there->set(0, values);
      gradient->set(0, values);
      there[w]->start_accumulate(gradient_there->vector(0).span(), 0.5F, whole);
      there[w]->start_select(parts);
      expected[w]->start_accumulate(gradient->vector(0).span(), 0.5F, whole);
      expected[w]->start_select(parts);
    }
    for (std::size_t w = 0; w < kWorkers; ++w) {
      Selection selected;
      Selection wanted;
      std::vector<float> numbers(d);
      std::vector<float> wanted_numbers(d);
      there[w]->take_norms();
      there[w]->take_selected(selected);
      there[w]->add(0, selected, -1);
      there[w]->get(0, numbers);
      expected[w]->take_norms();
      expected[w]->take_selected(wanted);
      expected[w]->add(0, wanted, -1);
      expected[w]->get(0, wanted_numbers);
      EXPECT_EQ(selected, wanted) << "worker " << w << " at " << t;
      EXPECT_EQ(numbers, wanted_numbers) << "worker " << w << " at " << t;
    }
  }
}

TEST_F(CudaVectors, HaveTheSameBitsWhereWorkersOverlap) {
  const std::size_t d = 300'000;
  step_together({{.at = {.begin = 0, .size = d}, .most = 300}}, d);
  step_together(blocks_of(d, 5000, 20), d);
  step_together({{.at = {.begin = 0, .size = d}, .most = d, .least = 2}}, d);
}

TEST_F(CudaVectors, SendTheSelectionAloneToTheHost) {
  const std::size_t d = 100'000;
  const auto device = cuda::make_device(0);
  const auto vectors = device->vectors(1, d);
  const auto gradient = device->vectors(1, d);
  gradient->set(0, test::normal_vector<float>(d, 5));
  const std::uint64_t before = device->crossed().to_host;
  const std::vector<Segment> whole{{.begin = 0, .size = d}};
  const std::vector<SelectionPart> part{{.at = whole.front(), .most = 100}};
  Selection selected;
  vectors->accumulate(gradient->vector(0).span(), 1, whole);
  vectors->select(part, selected);
  vectors->add(0, selected, -1);

  EXPECT_EQ(selected.size(), 100U);
  EXPECT_EQ(device->crossed().to_host - before, 100 * 8 + 3 * sizeof(double));
  EXPECT_EQ(device->crossed().to_device, d * sizeof(float));  // of the gradient alone
}

}  // namespace
}  // namespace residuum
