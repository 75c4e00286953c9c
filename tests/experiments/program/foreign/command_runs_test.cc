// A compressor in Python takes part in a study as one of the program's own.

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/experiments/program/foreign/command_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;

class CommandRuns : public CommandStudy {
 protected:
  void SetUp() override { RESIDUUM_NEEDS_NUMPY(); }
};

/// The tables of all runs without their first column, the ids of runs.
std::multiset<std::string> tables_without_ids(const std::filesystem::path& results) {
  std::multiset<std::string> tables;
  for (const auto& [path, content] : run_tables(results)) {
    tables.insert(std::regex_replace(content, std::regex("(^|\n)[^,\n]*,"), "$1"));
  }
  return tables;
}

const std::string kManyMethods = R"([sweep]
"feedback.kind" = ["ef14", "ef21"]
[[point]]
aggregator.kind = "gtopk-tree"
[[point]]
protocol.kind = "local"
protocol.period = 2
[[point]]
protocol.kind = "asp"
protocol.compute = "exponential:0.01"
[[point]]
protocol.kind = "gossip"
protocol.graph = "ring"
protocol.mixing = "choco"
protocol.consensus_step = 0.3
feedback.kind = "none"
)";

TEST_F(CommandRuns, TopKInPythonHasTheBitsOfTheBuiltInOneInAllColumns) {
  const std::string claims = "k = 3\ncontraction = 0.15\ndeterministic = true\n";
  const Finished built_in =
      run(own_study("kind = \"top-k\"\nk = 3", 30, kManyMethods), {"--out", "built-in"});
  const Finished python = run(own_study(python_command("top_k.py", "3") + claims, 30, kManyMethods),
                              {"--out", "python"});
  ASSERT_EQ(built_in.code, 0) << built_in.err;
  ASSERT_EQ(python.code, 0) << python.err;

  const auto expected = tables_without_ids(folder_.path() / "built-in");
  EXPECT_EQ(expected.size(), 30U);
  EXPECT_GT(expected.rbegin()->size(), 1000U);
  EXPECT_EQ(tables_without_ids(folder_.path() / "python"), expected);
}

TEST_F(CommandRuns, RandomOnesHaveTheSameBitsOnAnyNumberOfProcesses) {
  const std::string study =
      own_study(python_command("rand_k.py", "3") + "k = 3\n", 10, kManyMethods);
  const Finished one = run(study, {"--out", "one"});
  ASSERT_EQ(one.code, 0) << one.err;
  const auto expected = run_tables(folder_.path() / "one");

  for (const int processes : {2, 4}) {
    const std::string out = fmt::format("on-{}", processes);
    const Finished several = run_on(processes, study, out);
    ASSERT_EQ(several.code, 0) << several.err;
    EXPECT_EQ(run_tables(folder_.path() / out), expected) << processes;
  }
}

TEST_F(CommandRuns, VerifyPassesTheFlagOn) {
  const std::string study = own_study(python_command("rand_k.py", "3") + "per_worker = true\n", 5);

  const Finished finished = run_program(
      words_of(study, {"--ranks", "1,2", "--allow-commands"}, "verify"), folder_.path());

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("PASS"));
}

TEST_F(CommandRuns, ResumeStartsTheCommandAnewAndHasTheSameBits) {
  const std::string study = own_study(python_command("rand_k.py", "3"), 8);
  const Finished whole = run(study, {"--out", "whole"});
  ASSERT_EQ(whole.code, 0) << whole.err;
  int stops = 0;
  Finished part;
  do {
    part = run(study, {"--out", "parts", "--time-limit", "0.000001s"});
    stops += part.code == 124 ? 1 : 0;
  } while (part.code == 124 && stops < 100);
  ASSERT_EQ(part.code, 0) << part.err;

  EXPECT_GE(stops, 3);
  EXPECT_EQ(run_tables(folder_.path() / "parts"), run_tables(folder_.path() / "whole"));
}

TEST_F(CommandRuns, EveryLayerIsATensorOfItsOwn) {
  folder_.write("names.py",
                "import sys\n"
                "sys.path.insert(0, sys.argv[1])\n"
                "from frames_numpy import serve\n"
                "names = open('names', 'a')\n"
                "def keep(x, tensor):\n"
                "    print(tensor, *x.shape, file=names, flush=True)\n"
                "    return x\n"
                "serve(keep)\n");
  std::string study =
      own_study(command_of({python_with("numpy"), "names.py", kOwnCompressors.string()}) +
                    "scope = \"layer\"\n",
                1);
  study = std::regex_replace(study, std::regex("names = [^\\]]*\\]"), "");
  study = std::regex_replace(study,
                             std::regex("kind = \"logistic\"\nrows = 200\nfeatures = 20"),
                             "kind = \"mlp\"\nrows = 50");
  RESIDUUM_NEEDS_NETWORKS();

  const Finished finished = run(study);

  ASSERT_EQ(finished.code, 0) << finished.err;
  const std::string names = read_text(folder_.path() / "names");
  EXPECT_THAT(names, HasSubstr("worker-0/layer-0 "));
  EXPECT_THAT(names, HasSubstr("worker-3/layer-1 "));
}

TEST_F(CommandRuns, LawsAreToldAsClaimedByTheStudy) {
  const std::string study = own_study(
      python_command("top_k.py", "3") + "k = 3\ncontraction = 0.15\ndeterministic = true\n", 10);
  const Finished finished = run(study);
  ASSERT_EQ(finished.code, 0) << finished.err;

  for (const auto& folder : std::filesystem::directory_iterator(results() / "runs")) {
    const auto status = nlohmann::json::parse(read_text(folder.path() / "status.json"));
    const auto& law = status["laws"]["sparsifier"];
    EXPECT_EQ(law["claimed"], true);
    EXPECT_EQ(law["contraction"], 0.15);
    EXPECT_EQ(law["deterministic"], true);
    EXPECT_EQ(law["pathwise"], true);
    EXPECT_EQ(law["unbiased"], false);
    EXPECT_EQ(status["k"], 3);
  }
  const Finished told =
      residuum_program({"report", "results/own", "--theorem", "mem-sgd"}, folder_.path());
  EXPECT_THAT(told.out + told.err, HasSubstr("sparsifier is command, as claimed by the study"));
}

TEST_F(CommandRuns, WithoutClaimsThereIsNoLaw) {
  const Finished finished = run(own_study(python_command("top_k.py", "3"), 2));
  ASSERT_EQ(finished.code, 0) << finished.err;

  for (const auto& folder : std::filesystem::directory_iterator(results() / "runs")) {
    const auto status = nlohmann::json::parse(read_text(folder.path() / "status.json"));
    const auto& law = status["laws"]["sparsifier"];
    EXPECT_EQ(law["claimed"], true);
    EXPECT_FALSE(law.contains("contraction"));
    EXPECT_EQ(law["deterministic"], false);
    EXPECT_FALSE(status.contains("k"));
  }
}

TEST_F(CommandRuns, RealRunsHaveAProgramOnEveryProcessOfAWorker) {
  const std::string protocol = "[protocol]\nkind = \"asp\"\nexecution = \"real\"\n";

  const auto study_of = [&](const char* kept) {
    std::string study = own_study(python_command("top_k.py", kept) + "k = 3\n", 20, protocol);
    const auto begin = study.find("workers = true");  // a real server sees messages alone
    study.replace(begin, study.find(']', begin) + 1 - begin, "names = [\"traffic\"]");
    return study;
  };

  const Finished finished = run_on(5, study_of("3"), "real");
  const Finished broken = run_on(5, study_of("4"), "broken");

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(broken.code, 3) << broken.err;
  EXPECT_THAT(broken.err, HasSubstr("the study claims at most k = 3"));
}

TEST_F(CommandRuns, PyTorchTakesPartToo) {
  const std::string torch = python_with("torch");
  if (torch.empty()) {
    GTEST_SKIP() << "no python3 with PyTorch (python3-torch) is there";
  }
  folder_.write("mine.py",
                "import sys\n"
                "sys.path.insert(0, sys.argv[1])\n"
                "import frames_torch, torch\n"
                "def rand_k(x, generator):\n"
                "    kept = torch.randperm(len(x), generator=generator)[:3]\n"
                "    return torch.zeros_like(x).index_copy(0, kept, x[kept])\n"
                "frames_torch.serve(rand_k)\n");
  const std::string study =
      own_study(command_of({torch, "mine.py", kOwnCompressors.string()}) + "k = 3\n", 4);

  const Finished one = run(study, {"--out", "one"});
  const Finished again = run(study, {"--out", "again"});

  ASSERT_EQ(one.code, 0) << one.err;
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(run_tables(folder_.path() / "one"), run_tables(folder_.path() / "again"));
}

}  // namespace
}  // namespace residuum
