// Studies whose memories are on a device: tables are the host's, what crosses is recorded, and what
// has no form there is said once and stays on the host. The device is the stand-in.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/vectors/cuda/cuda_device.h"
#include "objectives/data/npy.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kD = 500;
constexpr std::size_t kK = 5;
constexpr std::size_t kWorkers = 3;
constexpr std::size_t kSteps = 20;

const std::string kRest = R"([workers]
count = 3
[sparsifier]
kind = "top-k"
k = 5
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.05
[budget]
iterations = 20
[probes]
every = 5
times = false
)";

const std::string kQuadratic = R"(schema = 1
name = "placed"
[objective]
kind = "quadratic"
dimension = 500
)" + kRest;

const std::string kRecorded = R"(schema = 1
name = "placed"
[objective]
kind = "recorded"
data = "g.npy"
)" + kRest;

class DeviceRun : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<double> numbers(kSteps * kWorkers * kD);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = std::sin(static_cast<double>(i * i % 9973));
    }
    std::string bytes =
        npy_header(NpyType::float64, std::vector<std::size_t>{kSteps, kWorkers, kD});
    const std::size_t start = bytes.size();
    bytes.resize(start + numbers.size() * sizeof(double));
    std::memcpy(bytes.data() + start, numbers.data(), numbers.size() * sizeof(double));
    folder_.write("g.npy", bytes);
  }

  Finished call(const std::string& command,
                const std::string& study,
                const std::vector<std::string>& changes) const {
    folder_.write("s.toml", study);
    std::vector<std::string> arguments{command, "s.toml"};
    for (const auto& change : changes) {
      arguments.emplace_back("--set");
      arguments.push_back(change);
    }
    return residuum_program(arguments, folder_.path());
  }

  /// Runs the study and returns the folder of its run.
  std::filesystem::path run(const std::string& study, std::vector<std::string> changes) const {
    std::filesystem::remove_all(folder_.path() / "results");
    const Finished finished = call("run", study, changes);
    EXPECT_EQ(finished.code, 0) << finished.err;
    const auto runs = folder_.path() / "results" / "placed" / "runs";
    for (const auto& entry : std::filesystem::directory_iterator(runs)) {
      if (entry.is_directory()) {
        return entry.path();
      }
    }
    return {};
  }

  /// The rows of the run's table, without what names the run.
  std::string rows(const std::string& study, const std::vector<std::string>& changes) const {
    const auto made = run(study, changes);
    std::string text = read_text(made / "iterations.csv");
    const std::string id = made.filename().string();
    for (std::size_t at = text.find(id); at != std::string::npos; at = text.find(id)) {
      text.replace(at, id.size(), "RUN");
    }
    EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 3);
    return text;
  }

  nlohmann::json status(const std::string& study, const std::vector<std::string>& changes) const {
    return nlohmann::json::parse(read_text(run(study, changes) / "status.json"));
  }

  TemporaryFolder folder_;
};

const std::string kThere = R"(workers.device="stand-in")";

TEST_F(DeviceRun, HasTheRowsOfTheHost) {
  EXPECT_EQ(rows(kQuadratic, {kThere}), rows(kQuadratic, {}));
  EXPECT_EQ(rows(kRecorded, {kThere}), rows(kRecorded, {}));
}

TEST_F(DeviceRun, RecordsWhatCrossed) {
  const auto provenance = status(kRecorded, {kThere, "probes.names=[]"})["provenance"];
  const auto& memory = provenance.at("worker_memory");
  EXPECT_EQ(memory.at("name"), "stand-in");
  // k pairs and three norms a step, and what one measured iteration asks for.
  const std::size_t steps = kSteps * kWorkers * (kK * 8 + 24);
  const std::size_t measured = 4 * kWorkers * kD * sizeof(float);
  EXPECT_GE(memory.at("to_host_bytes"), steps);
  EXPECT_LE(memory.at("to_host_bytes"), steps + measured);
  EXPECT_FALSE(status(kRecorded, {})["provenance"].contains("worker_memory"));
}

TEST_F(DeviceRun, IsPlannedWithAWarningWhereTheGpuIsMissing) {
  const std::string missing = "workers.device=\"cuda:" + std::to_string(cuda::device_count()) + '"';
  const std::string warning = "would fail here: workers.device is \"cuda\"";
  const Finished planned = call("plan", kQuadratic, {missing});
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_THAT(planned.out + planned.err, HasSubstr("1 run: " + warning));
  EXPECT_THAT(call("plan", kQuadratic, {kThere}).out, Not(HasSubstr(warning)));
}

TEST_F(DeviceRun, StaysOnTheHostWhereAPartHasNoFormAndSaysSoOnce) {
  const std::vector<std::string> changes{kThere, R"(sparsifier.kind="rand-k")", "seeds=3"};
  const std::string note = "memories stay on the host: this [sparsifier] has no form for a device";
  const Finished planned = call("plan", kQuadratic, changes);
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_THAT(planned.out + planned.err, HasSubstr("3 runs: " + note));

  const Finished made = call("run", kQuadratic, changes);
  EXPECT_EQ(made.code, 0) << made.err;
  const std::size_t first = made.err.find(note);
  EXPECT_NE(first, std::string::npos) << made.err;
  EXPECT_EQ(made.err.find(note, first + 1), std::string::npos) << made.err;
}

TEST_F(DeviceRun, PlansWithoutANoteWhereAllPartsHaveAForm) {
  const Finished planned = call("plan", kQuadratic, {kThere});
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_THAT(planned.out + planned.err, Not(HasSubstr("stay on the host")));
}

TEST_F(DeviceRun, IsRefusedWhereThereIsNoDevice) {
  if (cuda::device_count() > 0) {
    GTEST_SKIP() << "there is a CUDA device";
  }
  const Finished made = call("run", kQuadratic, {R"(workers.device="cuda")"});
  EXPECT_EQ(made.code, 3) << made.err;
  EXPECT_THAT(made.err, HasSubstr("this program sees no CUDA device; use \"auto\" or \"cpu\""));
}

TEST_F(DeviceRun, RefusesADeviceOfNoForm) {
  for (const char* device : {"gpu", "cuda:x", "cuda:-1"}) {
    const Finished made =
        call("run", kQuadratic, {std::string("workers.device=\"") + device + '"'});
    EXPECT_EQ(made.code, 2) << made.err;
    EXPECT_THAT(made.err, HasSubstr("workers.device"));
  }
}

TEST_F(DeviceRun, HasTheIdOfTheHostWhereTheKeyIsNotGiven) {
  const auto host = run(kQuadratic, {}).filename();
  EXPECT_NE(run(kQuadratic, {kThere}).filename(), host);
  EXPECT_EQ(run(kQuadratic, {}).filename(), host);
}

}  // namespace
}  // namespace residuum
