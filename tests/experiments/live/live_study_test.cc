// A study that is attached to a training: the same gradients give the tables of a recording.

#include "experiments/live/live_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/vectors/cuda/cuda_device.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t kEntries = 6;  // d

LiveTraining small_training(int workers, bool applies_update = false) {
  return {.transport = {},
          .workers_here = workers,
          .layers = {{.name = "weight", .shape = {2, 2}, .offset = 0, .size = 4},
                     {.name = "bias", .shape = {2}, .offset = 4, .size = 2}},
          .applies_update = applies_update};
}

/// Stays where it is: a study reads a gradient after the call of `step` that took it.
const std::vector<float>& gradient_at(int step, int worker) {
  static std::map<std::pair<int, int>, std::vector<float>> all;
  auto& gradient = all[{step, worker}];
  for (std::size_t i = gradient.size(); i < kEntries; ++i) {
    gradient.push_back(
        std::sin(static_cast<float>(1 + step * 7 + worker * 3) * static_cast<float>(i + 1)));
  }
  return gradient;
}

void take_steps(LiveStudy& study, int first, int end, int workers, double rate = 0.5) {
  for (int step = first; step < end; ++step) {
    std::vector<const float*> pointers;
    for (int worker = 0; worker < workers; ++worker) {
      pointers.push_back(gradient_at(step, worker).data());
    }
    study.step(pointers, rate, {});
  }
}

constexpr const char* kMethods =
    "schema = 1\nname = \"live\"\n[sparsifier]\nkind = \"top-k\"\nk = 2\n[probes]\ntimes = false\n"
    "[sweep]\n\"aggregator.kind\" = [\"gtopk-tree\", \"allgather\"]\n";

constexpr const char* kOneMethod =
    "schema = 1\nname = \"live\"\n[sparsifier]\nkind = \"top-k\"\nk = 2\n[aggregator]\nkind = "
    "\"gtopk-tree\"\n";

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::map<std::string, std::string> tables_by_method(const fs::path& results) {
  std::map<std::string, std::string> tables;
  for (const auto& run : fs::directory_iterator(results / "runs")) {
    const std::string id = run.path().filename().string();
    const std::string method = id.substr(id.find('-') + 1, id.rfind("-s") - id.find('-') - 1);
    for (const char* table : {"iterations.csv", "checks.csv"}) {
      std::string text = read_text(run.path() / table);
      for (std::size_t at = text.find(id); at != std::string::npos; at = text.find(id)) {
        text.erase(at, id.size());
      }
      tables[method + "/" + table] = text;
    }
  }
  return tables;
}

TEST(LiveStudy, TheSameGradientsRecordedGiveTheSameTables) {
  const TemporaryFolder folder;
  {
    LiveStudy study(kMethods, "live.toml", folder.path() / "live", small_training(3));
    take_steps(study, 0, 5, 3);
    study.close();
  }
  const std::uint8_t version[] = {1, 0};
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 3, 6), }";
  header.resize(117, ' ');  // with the 10 bytes before it and a line end, 128
  header += '\n';
  std::string file = "\x93NUMPY";
  file.append(version, version + 2);
  file += static_cast<char>(header.size());
  file += '\0';
  file += header;
  for (int step = 0; step < 5; ++step) {
    for (int worker = 0; worker < 3; ++worker) {
      for (const float value : gradient_at(step, worker)) {
        char bytes[sizeof(float)];
        std::memcpy(bytes, &value, sizeof(float));
        file.append(bytes, sizeof(float));
      }
    }
  }
  folder.write("gradients.npy", file);
  folder.write(
      "recorded.toml",
      std::string(kMethods) +
          "[objective]\nkind = \"recorded\"\ndata = \"gradients.npy\"\n"
          "layers = [{name = \"weight\", shape = [2, 2]}, {name = \"bias\", shape = [2]}]\n"
          "[workers]\ncount = 3\n[budget]\niterations = 5\n");
  const Finished run = residuum_program(
      {"run", "recorded.toml", "--out", "recorded", "--progress", "none"}, folder.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const auto live = tables_by_method(folder.path() / "live");
  EXPECT_EQ(live.size(), 4U);
  EXPECT_EQ(live, tables_by_method(folder.path() / "recorded"));
  const Finished report = residuum_program({"report", "live"}, folder.path());
  EXPECT_EQ(report.code, 0) << report.err;
}

constexpr const char* kThere =
    "schema = 1\nname = \"live\"\n[workers]\ndevice = \"auto\"\n[sparsifier]\nkind = "
    "\"top-k\"\nk = 2\n[aggregator]\nkind = \"gtopk-tree\"\n[probes]\ntimes = false\n";

LiveTraining on_stand_in(int workers) {
  LiveTraining training = small_training(workers);
  training.place = {.kind = Place::Kind::stand_in};
  return training;
}

/// The record of the memories of the only run in the folder.
nlohmann::json memory_record(const fs::path& out) {
  const fs::path run = fs::directory_iterator(out / "runs")->path();
  return nlohmann::json::parse(read_text(run / "status.json"))
      .at("provenance")
      .value("worker_memory", nlohmann::json());
}

TEST(LiveStudy, GradientsOnADeviceAreSelectedThereAndPairsCross) {
  const TemporaryFolder folder;
  constexpr int kSteps = 5;
  constexpr int kWorkers = 3;
  const std::string unmeasured = std::string(kThere) + "names = []\n";
  LiveStudy study(unmeasured, "live.toml", folder.path() / "out", on_stand_in(kWorkers));
  EXPECT_EQ(study.place().kind, Place::Kind::stand_in);
  take_steps(study, 0, kSteps, kWorkers);
  study.close();
  const auto record = memory_record(folder.path() / "out");
  EXPECT_EQ(record.at("name"), "stand-in");
  // Two pairs and three norms a step, and the residuals once, which the end of the run reads.
  const std::size_t steps = std::size_t{kSteps} * kWorkers * (2 * 8 + 3 * 8);
  const std::size_t residuals = std::size_t{kWorkers} * kEntries * sizeof(float);
  EXPECT_GE(record.at("to_host_bytes"), steps);
  EXPECT_LE(record.at("to_host_bytes"), steps + residuals);
  // Lists that are removed and returned: no gradient has left the device or come to it.
  EXPECT_LT(record.at("to_device_bytes"),
            std::size_t{kSteps} * kWorkers * kEntries * sizeof(float));
}

/// The bytes that come to the host in 40 steps of two workers, of which few are measured, beyond
/// pairs and norms.
std::size_t beyond_pairs(const std::string& probes) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "out";
  LiveStudy study(std::string(kThere) + probes + "every = 40\n", "live.toml", out, on_stand_in(2));
  take_steps(study, 0, 40, 2);
  study.close();
  const std::size_t pairs = std::size_t{40} * 2 * (2 * 8 + 3 * 8);
  return memory_record(out).at("to_host_bytes").get<std::size_t>() - pairs;
}

constexpr std::size_t kGradients = std::size_t{40} * 2 * kEntries * sizeof(float);

TEST(LiveStudy, GradientsOnADeviceCrossAtMeasuredStepsAlone) {
  EXPECT_LT(beyond_pairs("names = [\"delta\", \"residual\"]\n"), kGradients / 2);
}

TEST(LiveStudy, GradientsOnADeviceCrossInEveryStepWhereProbesFollowTheDenseIterate) {
  EXPECT_GE(beyond_pairs(""), kGradients);
}

TEST(LiveStudy, GradientsOnADeviceGiveTheTablesOfTheHost) {
  const TemporaryFolder folder;
  const auto tables = [&](const char* out, const LiveTraining& training, bool is_there) {
    const std::string study = is_there ? kThere : [] {
      std::string on_host = kThere;
      const std::string key = "[workers]\ndevice = \"auto\"\n";
      return on_host.erase(on_host.find(key), key.size());
    }();
    LiveStudy live(study, "live.toml", folder.path() / out, training);
    take_steps(live, 0, 6, 3);
    live.close();
    return tables_by_method(folder.path() / out);
  };
  const auto expected = tables("host", small_training(3), false);
  EXPECT_EQ(expected.size(), 2U);
  EXPECT_EQ(tables("there", on_stand_in(3), true), expected);
}

TEST(LiveStudy, RunsOnTheHostTakeACopyOfGradientsOnADevice) {
  const TemporaryFolder folder;
  const std::string mixed =
      std::string(kThere) + "[sweep]\n\"feedback.kind\" = [\"ef14\", \"dgc\"]\n";
  const auto tables = [&](const char* out, const LiveTraining& training) {
    LiveStudy study(mixed, "live.toml", folder.path() / out, training);
    EXPECT_EQ(study.place(), training.place);
    take_steps(study, 0, 6, 2);
    study.close();
    return tables_by_method(folder.path() / out);
  };
  EXPECT_EQ(tables("there", on_stand_in(2)), tables("host", small_training(2)));
}

TEST(LiveStudy, GradientsAreAskedForOnTheHostWhereNoRunIsOnTheDevice) {
  const TemporaryFolder folder;
  LiveStudy study(kOneMethod, "live.toml", folder.path() / "out", on_stand_in(1));
  EXPECT_EQ(study.place(), Place{});
  take_steps(study, 0, 2, 1);
  study.close();
  EXPECT_TRUE(memory_record(folder.path() / "out").is_null());
}

TEST(LiveStudy, AGradientOnADeviceBeginsWhereKernelsCanRead) {
  const TemporaryFolder folder;
  LiveStudy study(kThere, "live.toml", folder.path() / "out", on_stand_in(1));
  const std::vector<float> gradient(kEntries + 1);
  const std::vector<const float*> odd{gradient.data() + 1};
  EXPECT_THAT(message_of([&] { study.step(odd, 0.5, {}); }), HasSubstr("a multiple of 16 bytes"));
  take_steps(study, 0, 1, 1);
  study.close();
}

TEST(LiveStudy, GradientsOnOneDeviceAreNotTakenToAnother) {
  const TemporaryFolder folder;
  std::string elsewhere = kThere;
  elsewhere.replace(elsewhere.find("\"auto\""), 6, "\"cuda\"");
  EXPECT_THAT(message_of([&] {
                LiveStudy study(elsewhere, "live.toml", folder.path() / "out", on_stand_in(1));
              }),
              HasSubstr("gradients are computed on the stand-in"));
}

TEST(LiveStudy, AGpuThatIsNotThereFailsTheRun) {
  if (cuda::device_count() > 0) {
    GTEST_SKIP() << "this machine has a CUDA device";
  }
  const TemporaryFolder folder;
  LiveTraining training = on_stand_in(1);
  training.place = {.kind = Place::Kind::cuda};
  LiveStudy study(kThere, "live.toml", folder.path() / "out", training);
  alignas(16) const std::array<float, kEntries> gradient{};
  const std::vector<const float*> given{gradient.data()};
  study.step(given, 0.5, {});
  try {
    study.step(given, 0.5, {});
    ADD_FAILURE() << "a run goes on without its device";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::runs_failed);
    EXPECT_THAT(error.what(), HasSubstr("sees no CUDA device"));
  }
  EXPECT_THAT(message_of([&] { study.close(); }), HasSubstr("sees no CUDA device"));
}

TEST(LiveStudy, TheUpdateOfDenseSgdIsTheMeanGradient) {
  const TemporaryFolder folder;
  const std::string dense =
      "schema = 1\nname = \"live\"\n[sparsifier]\nkind = \"none\"\n[aggregator]\nkind = "
      "\"dense\"\n[step]\nvalue = \"live\"\n";
  LiveStudy study(dense, "live.toml", folder.path() / "out", small_training(2, true));
  for (int step = 0; step < 3; ++step) {
    const auto first = gradient_at(step, 0);
    const auto second = gradient_at(step, 1);
    std::vector<float> update(kEntries, -1);
    const double rate = 0.5 / (step + 1);
    study.step(std::vector<const float*>{first.data(), second.data()}, rate, update);
    for (std::size_t i = 0; i < kEntries; ++i) {
      // eta G is rounded to float32, summed, and divided by P eta.
      EXPECT_NEAR(update[i], (first[i] + second[i]) / 2, 3e-7F) << i;
    }
  }
  study.close();
}

TEST(LiveStudy, AStepAtRateZeroIsLeftOutWhereTheRateIsTheStepOfARun) {
  const TemporaryFolder folder;
  const auto gradient = gradient_at(0, 0);
  for (const char* step : {"[step]\nvalue = \"live\"\n", ""}) {
    const fs::path out = folder.path() / (*step == 0 ? "own" : "live");
    LiveStudy study(kOneMethod + std::string(step), "live.toml", out, small_training(1));
    for (const double rate : {0.0, 0.5}) {
      study.step(std::vector<const float*>{gradient.data()}, rate, {});
    }
    study.close();
    const auto table = tables_by_method(out).at("gtopk-tree/iterations.csv");
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), *step == 0 ? 3 : 2) << table;
  }
}

TEST(LiveStudy, AStudyThatHasDoneItsIterationsSaysSo) {
  const TemporaryFolder folder;
  LiveStudy study(kOneMethod + std::string("[budget]\niterations = 1\n"),
                  "live.toml",
                  folder.path() / "out",
                  small_training(1));
  take_steps(study, 0, 1, 1);
  EXPECT_THAT(message_of([&] { take_steps(study, 1, 2, 1); }), HasSubstr("'budget.iterations'"));
  study.close();
}

TEST(LiveStudy, AStateOfAStudyThatHadNotBegunIsLoadedAndAnEmptyOneIsNot) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "state");
  LiveStudy study(kOneMethod, "live.toml", folder.path() / "out", small_training(1));
  EXPECT_THAT(message_of([&] { study.load(folder.path() / "state"); }), HasSubstr("is empty"));
  study.save(folder.path() / "state");
  study.load(folder.path() / "state");
  take_steps(study, 0, 2, 1);
  study.close();
  EXPECT_EQ(tables_by_method(folder.path() / "out").size(), 2U);
}

TEST(LiveStudy, ALoadedStateGoesOnWithTheSameTables) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "state");
  const auto with_study_in = [&](const char* out, const std::function<void(LiveStudy&)>& action) {
    LiveStudy study(kMethods, "live.toml", folder.path() / out, small_training(2));
    action(study);
  };
  with_study_in("whole", [](LiveStudy& study) {
    take_steps(study, 0, 9, 2);
    study.close();
  });
  with_study_in("parts", [&](LiveStudy& study) {
    take_steps(study, 0, 4, 2);
    study.save(folder.path() / "state");
    take_steps(study, 4, 7, 2);
    study.abandon();
  });
  with_study_in("parts", [&](LiveStudy& study) {
    study.load(folder.path() / "state");
    take_steps(study, 4, 9, 2);
    study.close();
  });
  EXPECT_EQ(tables_by_method(folder.path() / "whole"), tables_by_method(folder.path() / "parts"));
}

TEST(LiveStudy, WhatItCannotDoIsOneLine) {
  const TemporaryFolder folder;
  const auto opened = [&](const std::string& text, bool applies_update = false) {
    return message_of([&] {
      const LiveStudy study((text == kMethods ? "" : "schema = 1\nname = \"live\"\n") + text,
                            "live.toml",
                            folder.path() / "none",
                            small_training(2, applies_update));
    });
  };
  EXPECT_THAT(opened(kMethods, true), HasSubstr("the study has 2 runs"));
  EXPECT_THAT(opened("[workers]\ncount = 3\n"), HasSubstr("the training has 2 workers"));
  EXPECT_THAT(opened("[objective]\nkind = \"quadratic\"\n"), HasSubstr("must be \"live\""));
  EXPECT_THAT(opened("[objective]\ncoordinates = \"dct\"\n"), HasSubstr("must be \"standard\""));
  EXPECT_THAT(opened("[step]\nvalue = \"1/sqrt(T)\"\n"), HasSubstr("which is open"));
  EXPECT_THAT(opened("[step]\nrule = \"cosine\"\nvalue = 1\nunit = \"iterations\"\n"),
              HasSubstr("which is open"));
  EXPECT_THAT(opened("[sparsifier]\nkind = \"command\"\ncommand = [\"true\"]\n"),
              HasSubstr("executes 'true'"));
  EXPECT_THAT(opened("[protocol]\nkind = \"local\"\nperiod = 2\n"), HasSubstr("use 'bsp'"));
  EXPECT_THAT(opened("[probes]\nevaluate = 1\n"), HasSubstr("no f is known"));
  EXPECT_FALSE(fs::exists(folder.path() / "none"));
}

TEST(LiveStudy, WrongStepsAreRefusedAndNothingIsLost) {
  const TemporaryFolder folder;
  LiveStudy study(kMethods, "live.toml", folder.path() / "out", small_training(2));
  const auto one = gradient_at(0, 0);
  const std::vector<const float*> two{one.data(), one.data()};
  std::vector<float> update(kEntries);
  EXPECT_THAT(message_of([&] { study.step({two.data(), 1}, 1, {}); }), HasSubstr("2 workers"));
  EXPECT_THAT(message_of([&] { study.step(two, -1, {}); }), HasSubstr("not negative"));
  EXPECT_THAT(message_of([&] { study.step(two, 1, update); }), HasSubstr("without asking"));
  EXPECT_THAT(message_of([&] {
                const LiveStudy second(
                    kMethods, "live.toml", folder.path() / "second", small_training(2));
              }),
              HasSubstr("attached already"));
  take_steps(study, 0, 2, 2);
  EXPECT_THAT(message_of([&] { study.load(folder.path()); }), HasSubstr("before the first step"));
  study.close();
  study.close();
  EXPECT_THAT(message_of([&] { study.step(two, 1, {}); }), HasSubstr("closed"));
}

TEST(LiveStudy, AStepThatStaysRefusedIsWhatTheRunsFailedOf) {
  for (const int steps : {0, 2}) {
    const TemporaryFolder folder;
    LiveStudy study(kMethods, "live.toml", folder.path() / "out", small_training(2));
    take_steps(study, 0, steps, 2);
    const auto one = gradient_at(0, 0);
    const std::vector<const float*> two{one.data(), one.data()};
    EXPECT_THAT(message_of([&] { study.step(two, std::nan(""), {}); }), HasSubstr("finite"));
    study.close();
    std::size_t runs = 0;
    for (const auto& run : fs::directory_iterator(folder.path() / "out/runs")) {
      const std::string status = read_text(run.path() / "status.json");
      EXPECT_THAT(status, HasSubstr("\"state\": \"failed\"")) << steps;
      EXPECT_THAT(status, HasSubstr("got nan in step " + std::to_string(steps)));
      ++runs;
    }
    EXPECT_EQ(runs, 2U);
  }
}

TEST(LiveStudy, AGradientThatIsNotFiniteEndsTheRunsAndNamesTheLayer) {
  const TemporaryFolder folder;
  LiveStudy study(kMethods, "live.toml", folder.path() / "out", small_training(2));
  take_steps(study, 0, 1, 2);
  auto broken = gradient_at(1, 1);
  broken[5] = std::numeric_limits<float>::quiet_NaN();
  const auto good = gradient_at(1, 0);
  const std::vector<const float*> gradients{good.data(), broken.data()};
  study.step(gradients, 1, {});
  const std::string message = message_of([&] { study.step(gradients, 1, {}); });
  EXPECT_THAT(message, HasSubstr("worker 1"));
  EXPECT_THAT(message, HasSubstr("iteration 1"));
  EXPECT_THAT(message, HasSubstr("bias"));
  EXPECT_THAT(message_of([&] { study.close(); }), HasSubstr("bias"))
      << "also where no step follows";
}

TEST(LiveStudy, AnObjectiveWithoutATrainingIsRefused) {
  const TemporaryFolder folder;
  folder.write(
      "live.toml",
      "schema = 1\nname = \"live\"\n[objective]\nkind = \"live\"\n[budget]\niterations = 3\n");
  const Finished run = residuum_program({"run", "live.toml"}, folder.path());
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("residuum.py"));
}

}  // namespace
}  // namespace residuum
