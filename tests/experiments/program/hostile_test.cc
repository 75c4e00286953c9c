// Files, folders and streams that are out to break the program: one line each, the documented exit
// code, and what else was done stays readable.

#include "tests/experiments/hostile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

namespace residuum {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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
  folder_.write("a\x1b[2J\n.toml", study);
  for (const char* format : {"table", "json", "slurm", "parallel", "snakemake"}) {
    for (const char* file : {"s.toml", "a\x1b[2J\n.toml"}) {
      const Finished plan = residuum_program({"plan", file, "--format", format}, folder_.path());
      EXPECT_EQ(plan.code, 0) << plan.err;
      EXPECT_TRUE(is_harmless(plan.out)) << plan.out;
      EXPECT_THAT(plan.out, Not(HasSubstr("\x1b")));
    }
  }
  const Finished slurm = residuum_program(  // the runs of other seeds are left to do
      {"plan", "a\x1b[2J\n.toml", "--format=slurm", "--set", "seeds=[7]"},
      folder_.path());
  EXPECT_THAT(slurm.out, HasSubstr(R"(/a\x1b[2J\x0a.toml' )"));
  EXPECT_THAT(slurm.out, HasSubstr("srun residuum run $'/"));
  ASSERT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);
  EXPECT_TRUE(is_harmless(read_text(results() / "report.html")));
}

}  // namespace
}  // namespace residuum
