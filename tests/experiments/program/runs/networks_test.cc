// Networks of a study as a user gets them: the table, its part in iterations.csv, and refused
// networks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

// Every message has 2 entries of 8 bytes. An all-gather of 4 workers has two rounds and passes
// three lists along every port: 2 alpha + 3 * 16 beta, 13 s on the line.
const std::string kNetworksStudy = R"(schema = 1
name = "networks"
[objective]
kind = "quadratic"
dimension = 8
[workers]
count = 4
[sparsifier]
kind = "top-k"
k = 2
[aggregator]
kind = "allgather"
[step]
value = 0.1
[budget]
iterations = 3
[probes]
times = false
every = 1
)";
const std::string kLine = R"({ name = "line", alpha_s = 0.5, beta_s_per_byte = 0.25 })";

class NetworkRuns : public testing::Test {
 protected:
  Finished run(const std::string& sections, std::vector<std::string> options = {}) const {
    folder_.write("s.toml", kNetworksStudy + sections);
    options.insert(options.begin(), {"run", "s.toml", "--progress=none"});
    return residuum_program(options, folder_.path());
  }
  std::string error_of(const std::string& network, const std::string& protocol = "") const {
    const Finished finished = run(protocol + "[network]\n" + network + "\n");
    EXPECT_EQ(finished.code, 2) << network;
    return finished.err;
  }
  std::filesystem::path results() const { return folder_.path() / "results" / "networks"; }
  std::vector<std::string> column(const std::string& table, std::string_view name) const {
    reports::CsvReader rows(results() / table);
    std::vector<std::string> values;
    while (rows.next()) {
      values.push_back(rows.text(rows.column(name)));
    }
    return values;
  }

  TemporaryFolder folder_;
};

using Texts = std::vector<std::string>;

TEST_F(NetworkRuns, AreFollowedTogetherInATableOfTheirOwn) {
  const Finished finished =
      run("[protocol]\ncompute = 2\n[network]\nmodel = [" + kLine + ", \"none\"]");
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(column("networks.csv", "iteration"), (Texts{"0", "0", "1", "1", "2", "2"}));
  EXPECT_EQ(column("networks.csv", "network"),
            (Texts{"line", "none", "line", "none", "line", "none"}));
  EXPECT_EQ(column("networks.csv", "compute_s"), (Texts{"2", "2", "4", "4", "6", "6"}));
  EXPECT_EQ(column("networks.csv", "wire_s"), (Texts{"13", "0", "26", "0", "39", "0"}));
  EXPECT_EQ(column("networks.csv", "virtual_s"), (Texts{"15", "2", "30", "4", "45", "6"}));
  EXPECT_EQ(column("networks.csv", "iteration_s"), (Texts{"15", "2", "15", "2", "15", "2"}));
  EXPECT_EQ(column("iterations.csv", "model_time_s"), (Texts{"15", "15", "15"}));
  EXPECT_EQ(column("iterations.csv", "virtual_s"), (Texts{"15", "30", "45"}));
  ASSERT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);
  EXPECT_THAT(read_text(results() / "report.html"), HasSubstr("On networks"));
  EXPECT_THAT(read_text(results() / "summary.json"), HasSubstr("\"to_target_s\""));
}

// Theory section 6: with the constants of Shi et al. (ICDCS 2019) the tree takes less time than the
// all-gather if and only if 2 k beta (P - 1 - 2 log2 P) is more than alpha log2 P, beta that of
// four bytes: from k = 1442 on at P = 32.
TEST_F(NetworkRuns, AreFollowedWithoutAnyProbeToo) {
  const Finished finished =
      run("[protocol]\ncompute = 2\n[network]\nmodel = " + kLine, {"--set", "probes.names=[]"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(column("networks.csv", "virtual_s"), (Texts{"15", "30", "45"}));
  EXPECT_EQ(column("iterations.csv", "delta"), (Texts{"", "", ""}));
}

TEST_F(NetworkRuns, TheTreeIsAheadOfTheAllGatherFromTheNumberOfEntriesThatTheoryHas) {
  for (const int k : {1441, 1442}) {
    std::map<std::string, double> seconds;
    for (const std::string kind : {"allgather", "gtopk-tree"}) {
      const Finished finished = run("[network]\nmodel = \"1gbe\"",
                                    {"--set",
                                     "objective.kind=signal",
                                     "--set",
                                     "objective.dimension=20000",
                                     "--set",
                                     "feedback.kind=none",
                                     "--set",
                                     "workers.count=32",
                                     "--set",
                                     "budget.iterations=1",
                                     "--set",
                                     "sparsifier.k=" + std::to_string(k),
                                     "--set",
                                     "aggregator.kind=" + kind,
                                     "--out",
                                     kind + std::to_string(k)});
      ASSERT_EQ(finished.code, 0) << finished.err;
      reports::CsvReader rows(folder_.path() / (kind + std::to_string(k)) / "networks.csv");
      ASSERT_TRUE(rows.next());
      seconds[kind] = rows.number(rows.column("virtual_s")).value();
    }
    EXPECT_EQ(seconds["gtopk-tree"] < seconds["allgather"], k >= 1442);
    EXPECT_NEAR(seconds["gtopk-tree"], 10 * 4.36e-4 + 20 * 3.6e-8 * k, 1e-12);
    EXPECT_NEAR(seconds["allgather"], 5 * 4.36e-4 + 62 * 3.6e-8 * k, 1e-12);
  }
}

TEST_F(NetworkRuns, ChangeNothingOfWhatIsTrained) {
  ASSERT_EQ(run("").code, 0);
  const auto loss = column("iterations.csv", "loss");
  const auto bytes = column("iterations.csv", "uplink_bytes");
  std::filesystem::remove_all(results());
  ASSERT_EQ(run("[network]\nmodel = \"1gbe\"\nlocal = \"measured\"").code, 0);
  EXPECT_EQ(column("iterations.csv", "loss"), loss);
  EXPECT_EQ(column("iterations.csv", "uplink_bytes"), bytes);
  EXPECT_EQ(column("iterations.csv", "virtual_s"), (Texts{"", "", ""}))
      << "times = false, and some of these were measured";
}

TEST_F(NetworkRuns, CanHaveLinksInsideOfNodes) {
  const Finished finished = run("[network]\nmodel = " + kLine +
                                "\nworkers_per_node = 4\n"
                                "within = { alpha_s = 1, beta_s_per_byte = 0 }");
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(column("iterations.csv", "virtual_s"), (Texts{"2", "4", "6"}));
}

TEST_F(NetworkRuns, AreListedWithTheirNumbers) {
  const Finished listed = residuum_program({"list", "networks"}, folder_.path());
  for (const char* name : {"none", "100mbit", "1gbe", "10gbe"}) {
    EXPECT_THAT(listed.out, HasSubstr(name));
  }
}

TEST_F(NetworkRuns, ThatCannotBeAreRefused) {
  EXPECT_THAT(error_of("model = \"1gb\""), HasSubstr("did you mean '1gbe'?"));
  for (const char* model : {"{ alpha_s = 1 }",
                            "{ alpha_s = -1, beta_s_per_byte = 0 }",
                            "{ alpha_s = 1, beta_s_per_byte = \"x\" }",
                            "{ alpha_s = 1, beta_s_per_byte = 0, nam = \"x\" }",
                            "{ alpha_s = 1, beta_s_per_byte = 0, name = 3 }",
                            "[]",
                            "3",
                            "[\"1gbe\", 3]"}) {
    EXPECT_THAT(error_of(std::string("model = ") + model), HasSubstr("network.model")) << model;
  }
  EXPECT_THAT(error_of("model = [\"1gbe\", \"1gbe\"]"), HasSubstr("has the network '1gbe' twice"));
  const std::string within = "within = { alpha_s = 1, beta_s_per_byte = 0 }";
  EXPECT_THAT(error_of("workers_per_node = 3\n" + within), HasSubstr("must divide the 4 workers"));
  EXPECT_THAT(error_of("workers_per_node = 2"), HasSubstr("network.within"));
  EXPECT_THAT(error_of(within), HasSubstr("network.workers_per_node"));
  EXPECT_THAT(error_of("local = \"measure\""), HasSubstr("did you mean 'measured'?"));
}

TEST_F(NetworkRuns, AreOneForLateGradients) {
  const std::string late = "[protocol]\nkind = \"asp\"\n";
  EXPECT_THAT(error_of("model = [\"1gbe\", \"10gbe\"]", late),
              HasSubstr("sweep over network.model"));
  EXPECT_THAT(error_of("local = \"measured\"", late), HasSubstr("protocol.nodes"));
}

TEST_F(NetworkRuns, NeedAsManySpeedsAsWorkers) {
  const Finished finished = run("[protocol]\ncompute = 1\nspeeds = [1, 2]\n");
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("2 speeds for 4 workers"));
}

}  // namespace
}  // namespace residuum
