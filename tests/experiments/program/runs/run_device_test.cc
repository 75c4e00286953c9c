// Processes that share a device need room for the memories of all their workers together.

#include "experiments/program/runs/run_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/training/device_placement.h"
#include "core/vectors/stand_in_device.h"
#include "experiments/program/study/run_config.h"
#include "tests/core/thread_world.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::string kDeviceStudy = R"(
schema = 1
name = "s"
[objective]
kind = "quadratic"
dimension = 1000
[workers]
count = 4
device = "stand-in"
[sparsifier]
kind = "top-k"
k = 3
[step]
value = 0.1
[budget]
iterations = 10
)";

/// A residual and a gradient for each of two workers.
constexpr std::size_t kBytesOfTwoWorkers = 4 * 1000 * sizeof(float);

/// What is reported where each of the processes sees `free` bytes on the one device.
std::string refusal(int processes, std::size_t free) {
  std::string said;
  test::on_processes(processes, [&](World& world) {
    ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
    KnownKeys known;
    PreparedRun run =
        prepare(parse_study(kDeviceStudy, "s.toml", {}).runs.front(), objectives, known);
    const Cluster cluster(world, run.workers);
    run.training.cluster = &cluster;
    const StandInDevice device(free);
    try {
      check_room(world, device, run);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::resource);
      if (world.is_root()) {
        said = error.what();
      }
    }
  });
  return said;
}

TEST(RoomOnADevice, IsEnoughForTheWorkersOfAllProcessesThatShareIt) {
  EXPECT_EQ(refusal(2, 2 * kBytesOfTwoWorkers), "");
}

TEST(RoomOnADevice, IsRefusedToTwoProcessesOfWhichEachWouldFit) {
  EXPECT_THAT(refusal(2, kBytesOfTwoWorkers),
              HasSubstr("device stand-in: the memories of the workers of 2 processes take 32000 "
                        "bytes, and 16000 are free"));
}

TEST(RoomOnADevice, NamesTheSizesForOneProcess) {
  EXPECT_THAT(refusal(1, 1000), HasSubstr("of one process take 32000 bytes, and 1000 are free"));
}

std::vector<std::string> notes_of(const std::vector<std::string>& settings) {
  ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
  KnownKeys known;
  return host_notes(
      prepare(parse_study(kDeviceStudy, "s.toml", settings).runs.front(), objectives, known));
}

TEST(HostNotes, SayWhatIsCopiedBetweenMeasuredIterations) {
  using testing::ElementsAre;
  const std::string residual =
      "each residual is copied to the host: probes follow w - z, which is not the mean residual of "
      "this method";
  EXPECT_THAT(notes_of({}), testing::IsEmpty());
  EXPECT_THAT(notes_of({"step.momentum=0.9"}), ElementsAre(residual));
  EXPECT_THAT(notes_of({"step.momentum=0.9", "probes.names=[]"}), testing::IsEmpty());
  EXPECT_THAT(notes_of({"step.momentum=0.9", "probes.names=[\"delta\"]"}), testing::IsEmpty());
  EXPECT_THAT(notes_of({"sparsifier.kind=\"rand-k\""}),
              ElementsAre("memories stay on the host: this [sparsifier] has no form for a device"));
}

}  // namespace
}  // namespace residuum
