// Files, folders and streams that are out to break the program: one line each, the documented exit
// code, and what else was done stays readable.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Hostile : public TinyStudy {
 protected:
  /// The program as a shell starts it, with redirections; the words are ours.
  Finished in_shell(const std::string& words) const {
    return run_program({"bash", "-c", std::string(RESIDUUM_PROGRAM) + " " + words}, folder_.path());
  }
  nlohmann::json summary() const {
    return nlohmann::json::parse(read_text(results() / "summary.json"));
  }
  /// The folders of the runs, in the order of their names.
  std::vector<std::filesystem::path> run_folders() const {
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(results() / "runs")) {
      folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    return folders;
  }
};

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(Hostile, TextsOfAStudyReachTheTerminalHarmlessly) {
  const std::string escape = R"("\u001b]0;x\u0007\nline2")";
  const Finished kind = run(kStudy, {"--set", "aggregator.kind=" + escape});
  EXPECT_EQ(kind.code, 2);
  EXPECT_THAT(kind.err, AllOf(HasSubstr("'?]0;x??line2'"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(lines_of(kind.err), 1) << kind.err;

  const Finished argument = residuum_program({"\x1b[2J\n"}, folder_.path());
  EXPECT_EQ(argument.code, 2);
  EXPECT_THAT(argument.err, AllOf(HasSubstr("'?[2J?'"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(residuum_program({""}, folder_.path()).code, 2);

  const Finished bytes = run(kStudy, {"--set", "objective.data=\xff"});
  EXPECT_EQ(bytes.code, 2);
  EXPECT_THAT(bytes.err, HasSubstr("no UTF-8"));
}

TEST_F(Hostile, ATitleReachesThePageHarmlessly) {
  std::string study = kStudy;
  study.replace(study.find("seeds = 2"), 9, "seeds = 1\ntitle = \"a\\u001b[2J\\u009b b<script>\"");
  ASSERT_EQ(run(study).code, 0);
  ASSERT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);
  const std::string page = read_text(results() / "report.html");
  EXPECT_THAT(page, HasSubstr("a?[2J? b&lt;script&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\xc2\x9b")));
}

TEST_F(Hostile, AStudyIsARegularFileOfAStudysSize) {
  const auto pipe = folder_.path() / "pipe.toml";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  folder_.write("long.toml", std::string((std::size_t{1} << 24U) + 1, '\n'));
  const std::vector<std::pair<std::string, std::string>> cases{
      {"/dev/zero", "it is a device or a pipe"},
      {pipe.string(), "it is a device or a pipe"},
      {"/", "it is a folder"},
      {"nowhere.toml", "there is no such file"},
      {"long.toml", "it has more than 16777216 bytes"}};
  for (const auto& [file, message] : cases) {
    for (const char* command : {"plan", "run", "verify"}) {
      const Finished finished = residuum_program({command, file}, folder_.path());
      EXPECT_EQ(finished.code, 2) << command << " " << file;
      EXPECT_THAT(finished.err, HasSubstr(message)) << command << " " << file;
    }
  }
  for (const char* file : {"/dev/zero", "pipe.toml"}) {
    const Finished finished =
        residuum_program({"inspect", file, "--aggregator", "dense", "--k", "1"}, folder_.path());
    EXPECT_EQ(finished.code, 2) << file;
    EXPECT_THAT(finished.err, HasSubstr("it is a device or a pipe")) << file;
  }
}

// A check that passes for want of anything to check is none.
TEST_F(Hostile, AStudyThatCannotRunIsNotVerified) {
  folder_.write("s.toml", kStudy);
  for (const char* set : {"workers.count=-3", "workers.count=\"four\"", "workers.count=0"}) {
    const Finished verify = residuum_program({"verify", "s.toml", "--set", set}, folder_.path());
    EXPECT_EQ(verify.code, 2) << set;
    EXPECT_THAT(verify.err, HasSubstr("'workers.count' at --set")) << set;
    EXPECT_EQ(lines_of(verify.err), 1) << verify.err;
  }
}

TEST_F(Hostile, AStandardOutputThatTakesNothingIsAResourceError) {
  folder_.write("s.toml", kStudy);
  for (const char* words :
       {"plan s.toml >/dev/full", "plan s.toml >&-", "list >/dev/full", "--help >/dev/full"}) {
    const Finished finished = in_shell(words);
    EXPECT_EQ(finished.code, 6) << words;
    EXPECT_THAT(finished.err, HasSubstr("error: cannot write to ")) << words;
    EXPECT_EQ(lines_of(finished.err), 1) << finished.err;
  }
}

TEST_F(Hostile, ARunNeedsNoStandardError) {
  folder_.write("s.toml", kStudy);
  for (const char* words : {"run s.toml --out closed 2>&-",
                            "run s.toml --out full 2>/dev/full",
                            "run s.toml --out none 2>&- <&-"}) {
    const Finished finished = in_shell(words);
    EXPECT_EQ(finished.code, 0) << words << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("captured")) << words;
  }
  for (const char* out : {"closed", "full", "none"}) {
    const Finished report =
        residuum_program({"report", (folder_.path() / out).string()}, folder_.path());
    EXPECT_EQ(report.code, 0) << report.err;
  }
}

TEST_F(Hostile, ARunGoesOnWhenItsReaderLeaves) {
  folder_.write("s.toml", kStudy);
  const Finished finished =
      in_shell("run s.toml --progress=lines 2>&1 | head -n 0; exit ${PIPESTATUS[0]}");
  EXPECT_EQ(finished.code, 6) << "the table at the end reached nobody";
  EXPECT_EQ(summary()["counts"]["finished"], 4);
}

// A file stands where the run's folder is to be made: nobody can write into it, root neither.
TEST_F(Hostile, ARunWhoseFolderCannotBeWrittenFailsAlone) {
  const Finished plan = residuum_program(
      {"plan", folder_.write("s.toml", kStudy).string(), "--format", "json"}, folder_.path());
  ASSERT_EQ(plan.code, 0) << plan.err;
  const auto id = nlohmann::json::parse(plan.out)[1]["run_id"].get<std::string>();
  std::filesystem::create_directories(results() / "runs");
  std::ofstream(results() / ".lock") << "";
  std::ofstream(results() / "runs" / id) << "no folder";

  const Finished first = run(kStudy);
  EXPECT_EQ(first.code, 3) << first.err;
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr(id + ",tiny,failed,"));
  EXPECT_EQ(summary()["counts"]["finished"], 3) << summary()["counts"];
  EXPECT_EQ(summary()["counts"]["failed"], 1);
  const Finished report = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr("cannot make the folder"));

  std::filesystem::remove(results() / "runs" / id);
  EXPECT_EQ(run(kStudy).code, 0);
  EXPECT_EQ(summary()["counts"]["finished"], 4);
}

// The linear terms of all workers are 2e10 draws, which take longer than this test may.
TEST_F(Hostile, APlanDrawsNoProblem) {
  folder_.write("s.toml", R"(schema = 1
name = "tiny"
[objective]
kind = "quadratic"
dimension = 20000
[workers]
count = 1000000
[step]
value = 0.1
[budget]
iterations = 1
)");
  const Finished plan = residuum_program({"plan", "s.toml"}, folder_.path());
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("P=1000000"));
}

/// Models of 2 and of 4294967295 parameters, and too little address space for the second.
class OutOfMemory : public Hostile {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer needs more address space than these tests leave";
#endif
    folder_.write("small.svm", "1 1:1\n-1 2:1\n1 1:2\n-1 2:2\n");
    folder_.write("vast.svm", "1 1:1\n-1 4294967295:1\n1 1:2\n-1 2:2\n");
    folder_.write("s.toml", R"(schema = 1
name = "tiny"
seeds = 1
[objective]
kind = "logistic"
[workers]
count = 2
batch = 1
[sparsifier]
kind = "top-k"
k = 1
[step]
value = 0.2
[budget]
iterations = 5
[sweep]
"objective.data" = ["./small.svm", "./vast.svm"]
)");
  }
  Finished with_little_memory(const std::string& words) const {
    return run_program(
        {"bash", "-c", "ulimit -v 8000000; exec " + std::string(RESIDUUM_PROGRAM) + " " + words},
        folder_.path());
  }
};

TEST_F(OutOfMemory, ARunFailsAlone) {
  const Finished finished = with_little_memory("run s.toml");
  EXPECT_EQ(finished.code, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("failed: out of memory"));
  EXPECT_EQ(summary()["counts"]["finished"], 1) << summary()["counts"];
  const Finished report = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr("failed,out of memory,1,./vast.svm"));
}

TEST_F(OutOfMemory, NothingIsVerifiedByRunsThatFail) {
  const Finished verify =
      with_little_memory("verify s.toml --ranks 1 --set objective.data=./vast.svm");
  EXPECT_EQ(verify.code, 2) << verify.out;
  EXPECT_THAT(verify.err, HasSubstr("no run of the study came to its end on 1 processes"));
  const Finished partly = with_little_memory("verify s.toml --ranks 1");
  EXPECT_EQ(partly.code, 3) << partly.out;
  EXPECT_THAT(partly.out, HasSubstr("Some runs failed or diverged"));
}

// As programs before this one left a run that failed early.
TEST_F(Hostile, ARunThatFailedBeforeItsConfigurationIsReadAsFailed) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto one = run_folders().front();
  std::filesystem::remove(one / "config.json");
  std::ofstream(one / "status.json") << R"({"state": "failed", "message": "out of memory"})";
  const Finished report = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr(",tiny,failed,out of memory,"));
}

TEST_F(Hostile, AFailureThatIsOverHidesNothing) {
  ASSERT_EQ(run(kStudy).code, 0);
  auto aside = run_folders().front();
  aside += ".failed.json";
  for (const char* content : {"{}", R"({"config": {}, "status": {"state": "failed"}})"}) {
    std::ofstream(aside) << content;
    EXPECT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0) << content;
    EXPECT_EQ(run(kStudy).code, 0) << content;
    EXPECT_FALSE(std::filesystem::exists(aside));
    EXPECT_EQ(summary()["counts"]["finished"], 4);
  }
}

TEST_F(Hostile, AFolderOfAnotherRunIsMadeAgain) {
  const std::vector<std::string> without_times{"--set", "probes.times=false"};
  ASSERT_EQ(run(kStudy, without_times).code, 0);
  const auto folders = run_folders();
  const std::string table = read_text(folders[0] / "iterations.csv");
  for (const bool with_config : {true, false}) {
    for (const char* file : {"iterations.csv", "checks.csv", "status.json", "config.json"}) {
      if (with_config || std::string(file) != "config.json") {
        std::filesystem::copy_file(folders[1] / file,
                                   folders[0] / file,
                                   std::filesystem::copy_options::overwrite_existing);
      }
    }
    const Finished again = run(kStudy, without_times);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("it is of run " + folders[1].filename().string()));
    EXPECT_EQ(read_text(folders[0] / "iterations.csv"), table);
  }
}

TEST_F(Hostile, AFileThatMayNotGrowIsAResourceError) {
  folder_.write("s.toml", kStudy);
  const Finished finished =
      run_program({"bash",
                   "-c",
                   "ulimit -f 20; exec " + std::string(RESIDUUM_PROGRAM) + " run s.toml 2>err.txt"},
                  folder_.path());
  EXPECT_TRUE(finished.code == 3 || finished.code == 6) << finished.code;
  EXPECT_THAT(read_text(folder_.path() / "err.txt"), HasSubstr("cannot write"));
  EXPECT_EQ(run(kStudy).code, 0);
}

TEST_F(Hostile, WordsThatAreNoTextAreUsageErrors) {
  folder_.write("v.csv", "1,2\n3,4\n");
  const std::vector<std::vector<std::string>> lines{
      {"inspect", "v.csv", "--aggregator", "\xff", "--k", "1"},
      {"inspect", "v.csv", "--aggregator", "dense", "--putback", "\xff", "--k", "1"},
      {"falsify", "--aggregator", "\xff", "--workers", "2", "--k", "1", "--dim", "2"},
      {"compare", "a", "b", "--tolerance", "nan"},
      {"compare", "a", "b", "--tolerance", "inf"},
      {"compare", "a", "b", "--tolerance", "-1"},
      {"run", "s.toml", "--set", "step.value=0.1\n[budget]\niterations=5"}};
  folder_.write("s.toml", kStudy);
  for (const auto& line : lines) {
    const Finished finished = residuum_program(line, folder_.path());
    EXPECT_EQ(finished.code, 2) << line[0] << finished.err;
    EXPECT_EQ(lines_of(finished.err), 1) << finished.err;
  }
  const Finished named = residuum_program({"falsify",
                                           "--aggregator=gtopk-exact",
                                           "--workers=2",
                                           "--k=1",
                                           "--dim=2",
                                           "--evaluations=100",
                                           "--json",
                                           "--out",
                                           "w\xff.npy"},
                                          folder_.path());
  EXPECT_EQ(named.code, 0) << named.err;
}

TEST_F(Hostile, PlansAndFiguresShowLabelsHarmlessly) {
  std::string study = kStudy;
  study.replace(study.find("seeds = 2"), 9, "seeds = 1");
  for (const char* name : {"a\xc2\x9b.svm", "b\xe2\x80\xae.svm"}) {
    folder_.write(name, "1 1:1\n-1 2:1\n1 1:2\n-1 2:2\n");
  }
  study.replace(study.find("rows = 200\nfeatures = 20\n"), 25, "");
  study.replace(study.find("batch = 8"), 9, "batch = 1");
  study.replace(study.find("k = 2"), 5, "k = 1");
  study += R"("objective.data" = ["./a\u009b.svm", "./b\u202e.svm"])";
  const auto is_harmless = [](const std::string& text) {
    return text.find("\xc2\x9b") == std::string::npos &&
           text.find("\xe2\x80\xae") == std::string::npos;
  };
  const Finished made = run(study, {"--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(is_harmless(made.out)) << made.out;
  for (const char* format : {"table", "json"}) {
    const Finished plan = residuum_program({"plan", "s.toml", "--format", format}, folder_.path());
    EXPECT_EQ(plan.code, 0) << plan.err;
    EXPECT_TRUE(is_harmless(plan.out)) << plan.out;
  }
  ASSERT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);
  EXPECT_TRUE(is_harmless(read_text(results() / "report.html")));
}

TEST_F(Hostile, AConfigurationThatWasDamagedIsWrittenAgain) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto config = run_folders().front() / "config.json";
  const std::string whole = read_text(config);
  for (const char* content : {"", "{}", "[]", "{\"run_id\": 5}"}) {
    std::ofstream(config) << content;
    const Finished again = run(kStudy);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("4 of 4 runs were done before"));
    EXPECT_EQ(read_text(config), whole);
  }
  std::ofstream(results() / "study.resolved.json") << "{";
  const Finished unknown = run(kStudy);
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("remove it if the results beside it are of this study"));
}

// Cut at a line's end, so that nothing but its print tells it.
TEST_F(Hostile, ATableThatWasCutIsNotTrusted) {
  const std::vector<std::string> without_times{"--set", "probes.times=false"};
  ASSERT_EQ(run(kStudy, without_times).code, 0);
  std::filesystem::copy(
      results(), folder_.path() / "whole", std::filesystem::copy_options::recursive);
  const auto table = run_folders().front() / "iterations.csv";
  const std::string whole = read_text(table);
  std::ofstream(table) << whole.substr(0, whole.find('\n', whole.size() / 2) + 1);

  const Finished report = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(report.code, 2);
  EXPECT_THAT(report.err, AllOf(HasSubstr("iterations.csv' has "), HasSubstr("bytes, it had")));
  for (const auto& [a, b] :
       {std::pair("whole", "results/tiny"), std::pair("results/tiny", "whole")}) {
    EXPECT_EQ(residuum_program({"compare", a, b}, folder_.path()).code, 2);
  }
  std::string changed = whole;
  changed[whole.size() - 2] = changed[whole.size() - 2] == '1' ? '2' : '1';
  std::ofstream(table) << changed;
  const Finished again = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("was changed since the run finished"));
  EXPECT_EQ(run(kStudy, without_times).code, 0);
  EXPECT_EQ(read_text(table), whole) << "'run' makes it again";
}

TEST_F(Hostile, StudiesOfOtherProblemsAreNotCompared) {
  const auto make = [&](const char* out, const char* set) {
    ASSERT_EQ(run(kStudy, {"--set", set, "--out", out}).code, 0);
  };
  make("a", "seeds=2");
  make("features", "objective.features=21");
  make("seed", "objective.data_seed=5");
  for (const auto& [other, message] :
       {std::pair("features", "objective.features is 20 in the first and 21 in the second"),
        std::pair("seed", "objective.data_seed is 1 in the first and 5 in the second")}) {
    const Finished refused = residuum_program({"compare", "a", other}, folder_.path());
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(message), HasSubstr("--anyway")));
    const Finished noted = residuum_program({"compare", "a", other, "--anyway"}, folder_.path());
    EXPECT_EQ(noted.code, 0) << noted.err;
    EXPECT_THAT(noted.out, HasSubstr(message));
  }
}

}  // namespace
}  // namespace residuum
