#pragma once
// A study of four short runs, and a folder to start it in.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/experiments/support.h"

namespace residuum {

inline const std::string kStudy = R"(schema = 1
name = "tiny"
seeds = 2
[objective]
kind = "logistic"
rows = 200
features = 20
[workers]
count = 4
batch = 8
[sparsifier]
kind = "top-k"
k = 2
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.2
[budget]
iterations = 40
[probes]
every = 1
[sweep]
"feedback.putback" = ["captured", "published"]
)";

class TinyStudy : public testing::Test {
 protected:
  Finished run(const std::string& study, std::vector<std::string> options = {}) const {
    std::vector<std::string> arguments{"run", folder_.write("s.toml", study).string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return residuum_program(arguments, folder_.path());
  }
  /// Makes the folder of results one of this study's in which no run has ended.
  void begin_folder() const {
    std::filesystem::create_directories(results());
    std::ofstream(results() / "study.resolved.json") << R"({"schema": 6, "name": "tiny"})";
  }
  std::filesystem::path results() const { return folder_.path() / "results" / "tiny"; }
  TemporaryFolder folder_;
};

}  // namespace residuum
