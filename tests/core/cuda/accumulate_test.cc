// The device's accumulation against the host's.

#include "core/vectors/cuda/accumulate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/error.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

class CudaAccumulate : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::available()) {
      GTEST_SKIP() << "no CUDA device, or a build without CUDA";
    }
  }
};

/// Values of many magnitudes and both signs, whose sums and products need rounding.
std::vector<float> rough_values(std::size_t size, double frequency) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto t = static_cast<double>(i);
    values[i] = static_cast<float>(std::sin(frequency * t) * std::exp(6 * std::cos(t)));
  }
  return values;
}

TEST_F(CudaAccumulate, GivesTheHostsBitsEntryByEntry) {
  for (const std::size_t size : {1, 7, 255, 256, 257, 65536, 65537, 1000003}) {
    std::vector<float> on_host = rough_values(size, 0.7);
    std::vector<float> on_device = on_host;
    const std::vector<float> addend = rough_values(size, 1.3);

    const double host_sum =
        accumulate<float>(on_host, addend, -0.1F, test::WholePass(size)).accumulator_sq;
    const double device_sum = cuda::accumulate(on_device, addend, -0.1F);

    EXPECT_EQ(on_device, on_host) << "size " << size;
    // Two orders of a sum of n positive float64 terms: apart by at most n units of rounding each.
    EXPECT_NEAR(device_sum, host_sum, 2.3e-16 * static_cast<double>(size) * host_sum);
  }
}

TEST_F(CudaAccumulate, SumsSmallIntegersExactly) {
  const std::size_t size = 100000;
  std::vector<float> buffer(size, 1);
  const std::vector<float> addend(size, 3);

  EXPECT_EQ(cuda::accumulate(buffer, addend, 2), 49.0 * static_cast<double>(size));
  EXPECT_EQ(buffer, std::vector<float>(size, 7));
}

TEST_F(CudaAccumulate, SumsInTheSameOrderEveryTime) {
  const std::vector<float> start = rough_values(300001, 0.3);
  const std::vector<float> addend = rough_values(300001, 2.1);
  std::vector<float> once = start;
  std::vector<float> again = start;

  EXPECT_EQ(cuda::accumulate(once, addend, 0.25F), cuda::accumulate(again, addend, 0.25F));
}

TEST(CudaAccumulateAnywhere, HasNothingToSumInAnEmptyVectorOrSaysThatThereIsNoDevice) {
  std::vector<float> nothing;
  if (cuda::available()) {
    EXPECT_EQ(cuda::accumulate(nothing, nothing, 1), 0);
    return;
  }
  std::vector<float> one(1);
  try {
    cuda::accumulate(one, one, 1);
    FAIL() << "accumulated without a device";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
  }
}

}  // namespace
}  // namespace residuum
