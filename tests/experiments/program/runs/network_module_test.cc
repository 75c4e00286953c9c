// The library of networks is loaded when a study names one, and only then.

#include "objectives/network_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/experiments/hostile.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::Eq;
using testing::HasSubstr;

constexpr const char* kNetworkStudy = R"(schema = 1
name = "net"
[objective]
kind = "mlp"
data = "synthetic-images"
rows = 60
hidden = 4
[workers]
count = 2
batch = 2
[sparsifier]
kind = "top-k"
density = 0.1
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.1
[budget]
iterations = 3
)";

constexpr const char* kModule = "libresiduum_networks.so";

class NetworkModuleFile : public Hostile {
 protected:
  /// A copy of the program, beside which something lies that is no library.
  void SetUp() override {
    RESIDUUM_NEEDS_NETWORKS();
    Hostile::SetUp();
    std::filesystem::copy_file(RESIDUUM_PROGRAM, program());
    std::ofstream(folder_.path() / kModule) << "nonsense\n";
  }
  std::filesystem::path program() const { return folder_.path() / "residuum"; }
  Finished copy_of_program(std::vector<std::string> words) const {
    words.insert(words.begin(), program().string());
    return run_program(words, folder_.path());
  }
};

TEST_F(NetworkModuleFile, ThatCannotBeLoadedIsOneLine) {
  std::ofstream(folder_.path() / "net.toml") << kNetworkStudy;
  const Finished plan = copy_of_program({"plan", "net.toml"});
  EXPECT_EQ(plan.code, 6) << plan.err;
  EXPECT_EQ(lines_of(plan.err), 1) << plan.err;
  EXPECT_THAT(plan.err, AllOf(HasSubstr("libresiduum_networks.so"), HasSubstr("install libtorch")));
  const Finished run = copy_of_program({"run", "net.toml"});
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_THAT(run.err, HasSubstr("libresiduum_networks.so"));
}

TEST_F(NetworkModuleFile, ThatIsTruncatedIsSaidToBe) {
  const auto whole = std::filesystem::path(RESIDUUM_PROGRAM).parent_path() / kModule;
  const auto copy = folder_.path() / kModule;
  std::filesystem::copy_file(whole, copy, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(copy, std::filesystem::file_size(whole) / 2);
  std::ofstream(folder_.path() / "net.toml") << kNetworkStudy;
  const Finished plan = copy_of_program({"plan", "net.toml"});
  EXPECT_EQ(plan.code, 6) << plan.err;
  EXPECT_EQ(lines_of(plan.err), 1) << plan.err;
  EXPECT_THAT(plan.err, HasSubstr("is truncated; build or install it again"));
}

TEST_F(NetworkModuleFile, IsNotNeededWithoutNetworks) {
  std::ofstream(folder_.path() / "s.toml") << kStudy;
  const Finished run = copy_of_program({"run", "s.toml"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(copy_of_program({"list", "objectives"}).out, HasSubstr("lenet"));
  const Finished info = copy_of_program({"info"});
  EXPECT_EQ(info.code, 0);
  EXPECT_THAT(info.out, HasSubstr("not loaded"));
  EXPECT_THAT(info.err, HasSubstr("note: networks and libtorch's baselines need"));
}

TEST(NetworkModule, IsMissedByNameInABuildWithoutLibtorch) {
  if (networks_are_built()) {
    GTEST_SKIP() << "this build has libtorch";
  }
  const TemporaryFolder folder;
  folder.write("net.toml", kNetworkStudy);

  const Finished run = residuum_program({"run", "net.toml"}, folder.path());

  EXPECT_EQ(run.code, 6);
  EXPECT_THAT(run.err,
              Eq("error: the network 'mlp' needs libtorch, which this program was built without; "
                 "build it with -DRESIDUUM_TORCH=ON\n"));
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  const Finished info = residuum_program({"info"}, folder.path());
  EXPECT_EQ(info.code, 0);
  EXPECT_THAT(info.out, HasSubstr("none, not loaded"));
}

TEST(NetworkModule, MakesEveryNetworkThatCanBeNamed) {
  RESIDUUM_NEEDS_NETWORKS();
  const ObjectiveContext context{.data_dir = {}, .cache_dir = {}, .workers = 2};
  for (const auto& entry : network_objectives()) {
    if (!entry.foreign_code.empty()) {
      continue;  // it needs a file
    }
    auto settings = nlohmann::json::parse(entry.example);
    const Section section("objective", settings);
    EXPECT_GT(entry.make(section, context)->dimension(), 0U) << entry.name;
  }
  EXPECT_EQ(loaded_network_module(), &network_module());
}

}  // namespace
}  // namespace residuum
