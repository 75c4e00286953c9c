// Where networks compute, as a study says it.

#include "objectives/torch/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "objectives/registry.h"
#include "objectives/torch/models.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Objective> lenet_on(const Section& section) {
  return make_lenet(section, {.data_dir = {}, .cache_dir = {}, .workers = 1});
}

Section section_with(const char* device) {
  return {"objective", {{"rows", 60}, {"device", device}}};
}

TEST(Device, IsRecordedAsTheStudySaysItAndAutomaticByDefault) {
  const Section silent("objective", {{"rows", 60}});
  lenet_on(silent);
  const Section explicit_cpu = section_with("cpu");
  lenet_on(explicit_cpu);

  EXPECT_EQ(silent.resolved()["device"], "auto");
  EXPECT_EQ(explicit_cpu.resolved()["device"], "cpu");
  EXPECT_NO_THROW(explicit_cpu.finish());
}

TEST(Device, IsTheCpuWhereLibtorchHasNoOther) {
  EXPECT_EQ(device_from(section_with("cpu")), Device::cpu);
  EXPECT_EQ(device_from(section_with("auto")), torch_has_cuda() ? Device::cuda : Device::cpu);
}

TEST(Device, OfAnUnknownNameIsAMistake) {
  EXPECT_THAT(mistake([] { device_from(section_with("cuba")); }),
              HasSubstr("did you mean 'cuda'?"));
}

TEST(Device, WithoutCudaIsARefusalInOneLine) {
  if (torch_has_cuda()) {
    GTEST_SKIP() << "this libtorch has a CUDA device";
  }
  try {
    device_from(section_with("cuda"));
    FAIL() << "computes on a device that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_EQ(std::string(error.what()),
              "'objective.device' is \"cuda\", but this libtorch has no CUDA device; use \"auto\" "
              "or \"cpu\"");
  }
}

TEST(Device, GivesTheGradientOfTheCpuUpToRounding) {
  if (!torch_has_cuda()) {
    GTEST_SKIP() << "this libtorch has no CUDA device";
  }
  const auto here = lenet_on(section_with("cpu"));
  const auto there = lenet_on(section_with("cuda"));
  const auto w = start(*here, 3);
  const auto expected = full_gradient(*here, w);
  const auto gradient = full_gradient(*there, w);

  EXPECT_NEAR(full_loss(*there, w), full_loss(*here, w), 1e-12);
  for (std::size_t i = 0; i < w.size(); ++i) {
    ASSERT_NEAR(gradient[i], expected[i], 1e-12) << i;
  }
}

}  // namespace
}  // namespace residuum::testing
