// The device on which networks compute, as a study names it.

#include "objectives/torch/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/vectors/stand_in_device.h"
#include "objectives/registry.h"
#include "objectives/torch/models.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {
namespace {

using ::testing::ElementsAre;
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

/// The message of the resource error for a device that is not there.
std::string refusal(const char* device, int devices) {
  try {
    device_from(section_with(device), 0, devices);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    return error.what();
  }
  return "computes on a device that is not there";
}

TEST(Device, IsTheCpuWhereThereIsNoOtherOrTheStudyWantsIt) {
  EXPECT_EQ(device_from(section_with("auto"), 3, 0), NetworkDevice{});
  EXPECT_EQ(device_from(section_with("cpu"), 3, 4), NetworkDevice{});
}

TEST(Device, IsDealtOutInTurnToTheProcessesOfAMachine) {
  const auto dealt = [](const char* name, int devices) {
    std::vector<int> indices;
    for (int local_rank = 0; local_rank < 6; ++local_rank) {
      indices.push_back(device_from(section_with(name), local_rank, devices).cuda.value());
    }
    return indices;
  };

  for (const char* name : {"auto", "cuda"}) {
    EXPECT_THAT(dealt(name, 1), ElementsAre(0, 0, 0, 0, 0, 0));
    EXPECT_THAT(dealt(name, 4), ElementsAre(0, 1, 2, 3, 0, 1));
    EXPECT_THAT(dealt(name, 8), ElementsAre(0, 1, 2, 3, 4, 5));
  }
}

TEST(Device, IsTheOneThatTheStudyNamesForEveryProcess) {
  EXPECT_EQ(device_from(section_with("cuda:0"), 2, 4), NetworkDevice{.cuda = 0});
  EXPECT_EQ(device_from(section_with("cuda:3"), 2, 4), NetworkDevice{.cuda = 3});
  const Section section = section_with("cuda:1");
  device_from(section, 0, 2);
  EXPECT_EQ(section.resolved()["device"], "cuda:1");
}

TEST(Device, OfAnUnknownNameIsAMistake) {
  EXPECT_THAT(mistake([] { device_from(section_with("cuba"), 0, 1); }),
              HasSubstr("did you mean 'cuda'?"));
  for (const char* name : {"cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999", "cuda: 1"}) {
    EXPECT_THAT(mistake([name] { device_from(section_with(name), 0, 1); }), HasSubstr(name));
  }
}

TEST(Device, ThatIsNotThereIsARefusalInOneLine) {
  EXPECT_EQ(refusal("cuda", 0),
            "'objective.device' is \"cuda\", but this libtorch has no CUDA device; use \"auto\" or "
            "\"cpu\"");
  EXPECT_THAT(refusal("cuda:9", 0), HasSubstr("is \"cuda:9\", but this libtorch has no CUDA"));
  EXPECT_EQ(
      refusal("cuda:9", 4),
      "'objective.device' is \"cuda:9\", but CUDA shows 4 devices to this process, \"cuda:0\" "
      "to \"cuda:3\"");
  EXPECT_EQ(refusal("cuda:1", 1),
            "'objective.device' is \"cuda:1\", but CUDA shows one device to this process, "
            "\"cuda:0\"");
}

TEST(Device, GivesTheGradientOfTheCpuUpToRounding) {
  if (cuda_devices() == 0) {
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

/// The network computes on the CPU here, whose memory stands in for that of a device.
TEST(Device, ReadsTheModelAndLeavesTheGradientWhereTheyAre) {
  const NetworkObjective objective({.train = random_images(12, kTiny, 1), .test = {}},
                                   mlp(kTiny, {4}));
  const auto start_point = start(objective, 1);
  const std::vector<float> w(start_point.begin(), start_point.end());
  const std::vector<std::uint32_t> samples{0, 3, 5, 7};
  const Draw draw{.seed = 1, .samples = samples};
  std::vector<float> expected(w.size());
  objective.stochastic_gradient(draw, std::span<const float>(w), expected);

  const StandInDevice device;
  const auto vectors = device.vectors(2, w.size());
  vectors->set(0, w);
  objective.gradient_there(draw, vectors->vector(0).span(), vectors->vector(1));

  std::vector<float> gradient(w.size());
  vectors->get(1, gradient);
  EXPECT_EQ(gradient, expected);
  EXPECT_EQ(objective.on_device(), nullptr);  // its device is the CPU
}

}  // namespace
}  // namespace residuum::testing
