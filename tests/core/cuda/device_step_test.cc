// The device's step against the host's accumulate and select_top_k.

#include "core/vectors/cuda/device_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/random/random.h"
#include "core/vectors/select.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using Selection = SparseVector<float>;

class CudaStep : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::available()) {
      GTEST_SKIP() << "no CUDA device, or a build without CUDA";
    }
  }
};

/// Bit by bit: 0 and -0 differ.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

/// The host's step beside the device's, from the same start; the same whatever is asked.
class Twins {
 public:
  explicit Twins(std::vector<float> memory) : memory_(std::move(memory)), device_(memory_.size()) {
    device_.set_memory(memory_);
  }

  void step(const std::vector<float>& gradient, float scale, std::size_t k) {
    SCOPED_TRACE("d = " + std::to_string(memory_.size()) + ", k = " + std::to_string(k));
    const PassNorms expected =
        accumulate<float>(memory_, gradient, scale, test::WholePass(memory_.size()));
    select_top_k<float>(memory_, k, workspace_, selected_);

    const PassNorms norms = device_.step(gradient, scale, k, on_device_);

    EXPECT_EQ(on_device_, selected_);
    expect_near(norms.residual_sq, expected.residual_sq);
    expect_near(norms.gradient_sq, expected.gradient_sq);
    expect_near(norms.accumulator_sq, expected.accumulator_sq);
    expect_same_memory();
  }

  /// Subtracts the sent entries from the memory and adds a third of every third one, as a merge
  /// does.
  void update_residual() {
    Selection returned;
    for (std::size_t i = 0; i < selected_.size(); i += 3) {
      returned.push_back(selected_.indices[i], selected_.values[i] / 3);
    }
    for (std::size_t i = 0; i < selected_.size(); ++i) {
      memory_[selected_.indices[i]] -= selected_.values[i];
    }
    for (std::size_t i = 0; i < returned.size(); ++i) {
      memory_[returned.indices[i]] += returned.values[i];
    }
    device_.update_residual(selected_, returned);
    expect_same_memory();
  }

  /// All that was sent leaves.
  void update_selected_residual() {
    for (std::size_t i = 0; i < selected_.size(); ++i) {
      memory_[selected_.indices[i]] -= selected_.values[i];
    }
    device_.update_selected_residual();
    expect_same_memory();
  }

  std::size_t cold_selections() const { return device_.cold_selections(); }

 private:
  /// Two orders of a sum of n positive float64 terms: apart by at most n roundings each.
  void expect_near(double a, double b) const {
    const double rounding = std::numeric_limits<double>::epsilon();
    EXPECT_NEAR(a, b, rounding * static_cast<double>(memory_.size()) * b);
  }

  void expect_same_memory() const {
    std::vector<float> values(memory_.size());
    device_.get_memory(values);
    EXPECT_TRUE(same_bits(values, memory_));
  }

  std::vector<float> memory_;
  cuda::DeviceStep device_;
  SelectWorkspace workspace_;
  Selection selected_;
  Selection on_device_;
};

/// Numbers that a selection could take for one another: ties, both signs and zeros, denormals,
/// neighbours in the last bit.
std::vector<float> adversarial_vector(std::size_t d, std::uint64_t seed) {
  const std::array<float, 9> few{
      0, -0.0F, 0x1p-149F, -0x1p-148F, 0x1p-126F, 1, -1, 0x1.000002p0F, 3};
  RandomStream random(seed, Purpose::test, 0, 0);
  std::vector<float> values(d);
  for (float& value : values) {
    value = few.at(random.below(std::uint32_t{few.size()}));
  }
  return values;
}

std::vector<std::size_t> interesting_k(std::size_t d) {
  std::vector<std::size_t> all{0, 1, d / 1000, d / 10, d / 2, d > 0 ? d - 1 : 0, d};
  for (std::size_t& k : all) {
    k = std::min(k, d);
  }
  return all;
}

TEST_F(CudaStep, GivesTheHostsBitsAndSelectionAtEverySize) {
  for (const std::size_t d :
       {0,    1,    2,    3,    4,    5,    31,   32,   33,   255,   256,    257,
        1023, 1024, 1025, 4095, 4096, 4097, 8191, 8192, 8193, 65537, 1000007}) {
    for (const std::size_t k : interesting_k(d)) {
      Twins twins(test::normal_vector<float>(d, d));
      twins.step(test::normal_vector<float>(d, d + 1), -0.1F, k);  // cold
      twins.update_residual();
      twins.step(test::normal_vector<float>(d, d + 2), 0.3F, k);  // warm
    }
  }
}

TEST_F(CudaStep, BreaksTiesAndSkipsZerosAsTheHostDoes) {
  for (const std::size_t d : {1, 7, 33, 1000, 20011}) {
    for (const std::size_t k : interesting_k(d)) {
      Twins twins(adversarial_vector(d, d));
      for (std::uint64_t t = 0; t < 4; ++t) {
        twins.step(adversarial_vector(d, d + t), t % 2 == 0 ? 1.0F : -0.5F, k);
        twins.update_residual();
      }
    }
  }
}

TEST_F(CudaStep, UpdatesTheResidualByWhatItSelectedWithoutTheList) {
  const std::size_t d = 40'009;
  Twins twins(test::normal_vector<float>(d, 1));
  for (const std::size_t k :
       {std::size_t{40}, std::size_t{40}, std::size_t{5000}, std::size_t{0}, std::size_t{7}, d}) {
    twins.step(test::normal_vector<float>(d, k + 2), 0.5F, k);
    twins.update_selected_residual();
  }
}

TEST_F(CudaStep, UpdatesTheResidualOnceAfterAStep) {
  const std::vector<float> gradient{1, -2, 3, 0};
  cuda::DeviceStep step(gradient.size());
  Selection selected;
  step.step(gradient, 1, 2, selected);
  step.update_selected_residual();
  step.update_selected_residual();

  std::vector<float> memory(gradient.size());
  step.get_memory(memory);

  EXPECT_EQ(memory, (std::vector<float>{1, 0, 0, 0}));
}

TEST_F(CudaStep, FindsWhatIsWantedInOnePlace) {
  const std::size_t d = 2'000'003;
  std::vector<float> gradient(d, 1e-3F);
  for (std::size_t i = 0; i < 5000; ++i) {
    gradient[1'234'567 + i] = static_cast<float>(i % 97) - 48;
  }
  Twins twins{std::vector<float>(d)};
  for (int t = 0; t < 5; ++t) {
    twins.step(gradient, 1, 2000);
    twins.update_selected_residual();
  }
}

TEST_F(CudaStep, TakesTheLowestIndicesOfEqualValues) {
  const std::size_t d = 100'003;
  for (const std::size_t k : {std::size_t{1}, std::size_t{2048}, std::size_t{50'000}, d}) {
    Twins twins(std::vector<float>(d, -2));
    twins.step(std::vector<float>(d, 1), 0.5F, k);
    twins.step(std::vector<float>(d, 1), 0.5F, k);
    twins.step(std::vector<float>(d, 1), 1, k);  // all zero now
    twins.step(std::vector<float>(d, 1), 1, k);
  }
}

TEST_F(CudaStep, SelectsAllNonZerosWhereThereAreFewerThanK) {
  std::vector<float> memory(70'001);
  for (std::size_t i = 5; i < memory.size(); i += 700) {
    memory[i] = static_cast<float>(i);
  }
  Twins twins(memory);
  for (int t = 0; t < 3; ++t) {
    twins.step(std::vector<float>(memory.size()), 1, 5000);
  }
  EXPECT_EQ(twins.cold_selections(), 1U);
}

TEST_F(CudaStep, StaysExactThroughGoodAndBadBounds) {
  const std::size_t d = 300'017;
  Twins twins{std::vector<float>(d)};
  std::uint64_t seed = 0;
  const auto steps = [&](int count, float scale, std::size_t k) {
    for (int t = 0; t < count; ++t) {
      twins.step(test::normal_vector<float>(d, ++seed), scale, k);
      twins.update_residual();
    }
  };
  steps(8, 1, 300);
  const std::size_t at_first = twins.cold_selections();
  EXPECT_LT(at_first, 5U);
  steps(4, 1, 300);
  EXPECT_EQ(twins.cold_selections(), at_first);  // thresholds drift slowly
  steps(2, 100, 300);                            // far too low: more than there is room for
  EXPECT_GT(twins.cold_selections(), at_first);
  steps(3, 1e-3F, 300);
  steps(3, 1, 100'000);  // far too high
  steps(3, 1, 3);
}

TEST_F(CudaStep, SumsInTheSameOrderEveryTime) {
  const auto start = test::normal_vector<float>(300'001, 1);
  const auto gradient = test::normal_vector<float>(300'001, 2);
  const auto once = [&] {
    cuda::DeviceStep step(start.size());
    Selection selected;
    step.set_memory(start);
    return step.step(gradient, 0.25F, 300, selected);
  };

  const PassNorms first = once();
  const PassNorms second = once();

  EXPECT_EQ(first.residual_sq, second.residual_sq);
  EXPECT_EQ(first.gradient_sq, second.gradient_sq);
  EXPECT_EQ(first.accumulator_sq, second.accumulator_sq);
}

TEST_F(CudaStep, SumsSmallIntegersExactly) {
  cuda::DeviceStep step(100'000);
  step.set_memory(std::vector<float>(100'000, 1));
  Selection selected;

  const PassNorms norms = step.step(std::vector<float>(100'000, 3), 2, 0, selected);

  EXPECT_EQ(norms.residual_sq, 100'000);
  EXPECT_EQ(norms.gradient_sq, 900'000);
  EXPECT_EQ(norms.accumulator_sq, 4'900'000);
  EXPECT_TRUE(selected.empty());
}

TEST_F(CudaStep, SelectsNothingWhereTheAccumulatorIsNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    cuda::DeviceStep step(1000);
    Selection selected;
    std::vector<float> gradient(1000, 1);
    step.step(gradient, 1, 10, selected);
    gradient[777] = bad;

    const PassNorms norms = step.step(gradient, 1, 10, selected);

    EXPECT_FALSE(std::isfinite(norms.accumulator_sq));
    EXPECT_TRUE(selected.empty());
  }
}

TEST_F(CudaStep, TakesAGradientThatIsOnTheDevice) {
  const auto gradient = test::normal_vector<float>(50'003, 4);
  cuda::DeviceMemory there(gradient.size());
  there.set(gradient);
  cuda::DeviceMemory copied(gradient.size());
  cuda::copy(there.span(), copied);
  cuda::DeviceStep from_host(gradient.size());
  cuda::DeviceStep from_device(gradient.size());
  Selection expected;
  Selection selected;
  from_host.step(gradient, 0.5F, 50, expected);

  from_device.step(copied.span(), 0.5F, 50, selected);

  EXPECT_EQ(selected, expected);
}

/// 2^28 numbers: 1 GiB of residual and of gradient here and there. On the host the same numbers are
/// formed again piece by piece.
TEST_F(CudaStep, WorksOnVectorsOf2To28) {
  const std::size_t d = std::size_t{1} << 28U;
  std::vector<float> gradient(d);
  RandomStream random(9, Purpose::test, 0, 0);
  for (float& value : gradient) {
    value = static_cast<float>(random.uniform() - 0.5);
  }
  std::unique_ptr<Twins> twins;
  try {
    twins = std::make_unique<Twins>(std::vector<float>(d));
    twins->step(gradient, 0.1F, d / 1000);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  twins->update_residual();
  twins->step(gradient, 0.1F, d / 1000);
}

TEST_F(CudaStep, NamesTheSizesWhereThereIsNoRoom) {
  try {
    const cuda::DeviceMemory too_much(std::size_t{1} << 44U);
    FAIL() << "64 TiB on a device";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_NE(std::string(error.what()).find("70368744177664 bytes"), std::string::npos)
        << error.what();
  }
}

TEST(CudaStepAnywhere, SaysWhichDeviceThereIsOrThatThereIsNone) {
  if (cuda::available()) {
    EXPECT_NE(cuda::description().find("compute capability"), std::string::npos);
    return;
  }
  EXPECT_EQ(cuda::description(), "none");
  try {
    const cuda::DeviceStep step(1);
    FAIL() << "a step without a device";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
  }
}

}  // namespace
}  // namespace residuum
