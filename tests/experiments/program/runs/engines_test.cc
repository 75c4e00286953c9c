// Plans that engines for many processes take: what they start must survive their quoting, and leave
// what a plain run leaves.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/experiments/real_study.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// All of these mean something to a shell, to GNU parallel, to Snakemake or to Python.
const std::string kHardName = R"(my "hard" study's {} {1} {run} $HOME `id` \n 100% #;&.toml)";
const std::string kHardFolder = R"(out 'put' {run} "{}" \x41)";

/// The tiny study without what a clock says, so that its tables can be compared.
std::string timeless_study() {
  std::string study = kStudy;
  study.replace(study.find("every = 1"), 9, "every = 1\ntimes = false");
  return study;
}

std::vector<std::string> task_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// The tables of each finished run, by the run's id.
std::map<std::string, std::string> finished_tables(const fs::path& result_dir) {
  std::map<std::string, std::string> tables;
  for (const auto& run : fs::directory_iterator(result_dir / "runs")) {
    const std::string status = read_text(run.path() / "status.json");
    if (status.find("\"finished\"") != std::string::npos) {
      tables[run.path().filename()] =
          read_text(run.path() / "iterations.csv") + read_text(run.path() / "checks.csv");
    }
  }
  return tables;
}

class Engines : public TinyStudy {
 protected:
  void SetUp() override {
    const std::string path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
    const std::string folder = fs::path(RESIDUUM_PROGRAM).parent_path();
    setenv("PATH", (folder + ":" + path).c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    ASSERT_EQ(run(timeless_study()).code, 0);
    plain_ = finished_tables(results());
    ASSERT_THAT(plain_, SizeIs(4));
  }

  std::string plan(const std::string& format, const std::string& study, const std::string& out) {
    folder_.write(study, timeless_study());
    const Finished planned = residuum_program({"plan",
                                               study,
                                               "--format",
                                               format,
                                               "--out",
                                               out,
                                               "--set",
                                               "seeds=[1, 2]",
                                               "--set",
                                               R"(objective.kind="logistic")"},
                                              folder_.path());
    EXPECT_EQ(planned.code, 0) << planned.err;
    return planned.out;
  }

  bool is_installed(const std::string& program) const {
    return run_program({"which", program}, folder_.path()).code == 0;
  }

  std::map<std::string, std::string> plain_;  // what a plain run leaves
};

TEST_F(Engines, GetLinesThatEveryShellRuns) {
  const std::string out = kHardFolder;
  const auto lines = task_lines(plan("parallel", kHardName, out));
  ASSERT_THAT(lines, SizeIs(4));
  for (const auto& line : lines) {
    const Finished finished = run_program({"sh", "-c", line}, folder_.path());
    ASSERT_EQ(finished.code, 0) << line << "\n" << finished.err;
  }
  EXPECT_EQ(finished_tables(folder_.path() / out), plain_);
}

TEST_F(Engines, GetALineForANameThatHasLineEnds) {
  const std::string out = "out\n\x1b[2J'\\";
  const auto lines = task_lines(plan("parallel", "two\nlines' \\.toml", out));
  ASSERT_THAT(lines, SizeIs(4));
  for (const auto& line : lines) {
    const Finished finished = run_program({"sh", "-c", line}, folder_.path());
    ASSERT_EQ(finished.code, 0) << line << "\n" << finished.err;
  }
  EXPECT_EQ(finished_tables(folder_.path() / out), plain_);
}

TEST_F(Engines, GetOneLineForEachRunThatIsLeft) {
  const auto before = task_lines(plan("parallel", "s.toml", "out"));
  ASSERT_THAT(before, SizeIs(4));
  for (const std::size_t done : {0U, 2U}) {
    ASSERT_EQ(run_program({"sh", "-c", before[done]}, folder_.path()).code, 0);
  }
  EXPECT_THAT(finished_tables(folder_.path() / "out"), SizeIs(2));

  const auto left = task_lines(plan("parallel", "s.toml", "out"));

  EXPECT_EQ(left, (std::vector{before[1], before[3]}));
  ASSERT_EQ(run_program({"sh", "-c", left[0]}, folder_.path()).code, 0);
  ASSERT_EQ(run_program({"sh", "-c", left[1]}, folder_.path()).code, 0);
  EXPECT_THAT(task_lines(plan("parallel", "s.toml", "out")), IsEmpty());
  EXPECT_EQ(finished_tables(folder_.path() / "out"), plain_);
}

TEST_F(Engines, StartRealRunsOnAsManyProcessesAsTheyCanHave) {
  folder_.write("real.toml", real_study("kind = \"asp\"", 10));
  const Finished planned =
      residuum_program({"plan", "real.toml", "--format=parallel"}, folder_.path());
  ASSERT_EQ(planned.code, 0) << planned.err;
  const auto lines = task_lines(planned.out);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0],
              StartsWith("mpirun -n 5 --oversubscribe --bind-to none residuum run real.toml "));
  const Finished finished = run_program({"sh", "-c", lines[0]}, folder_.path());
  EXPECT_EQ(finished.code, 0) << finished.err;
}

TEST_F(Engines, DoNotListLayers) {
  for (const std::string format : {"slurm", "parallel", "snakemake"}) {
    const Finished planned = residuum_program(
        {"plan", folder_.write("s.toml", kStudy).string(), "--layers", "--format", format},
        folder_.path());
    EXPECT_EQ(planned.code, 2);
    EXPECT_THAT(planned.err, HasSubstr("leave --format " + format + " out"));
  }
}

TEST_F(Engines, RunInGnuParallel) {
  if (!is_installed("parallel")) {
    GTEST_SKIP() << "GNU parallel is not installed (Debian package parallel)";
  }
  folder_.write("plan", plan("parallel", kHardName, kHardFolder));
  const Finished finished =
      run_program({"sh", "-c", "timeout 120 parallel -j2 --will-cite < plan"}, folder_.path());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished_tables(folder_.path() / kHardFolder), plain_);
}

TEST_F(Engines, RunInXargs) {
  folder_.write("plan", plan("parallel", kHardName, kHardFolder));
  const Finished finished =
      run_program({"timeout", "120", "xargs", "-a", "plan", "-d", "\\n", "-n1", "-P2", "sh", "-c"},
                  folder_.path());
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished_tables(folder_.path() / kHardFolder), plain_);
}

TEST_F(Engines, RunInSnakemakeAndGoOnWithWhatIsMissing) {
  if (!is_installed("snakemake")) {
    GTEST_SKIP() << "Snakemake is not installed (Debian package snakemake)";
  }
  setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  folder_.write("Snakefile", plan("snakemake", kHardName, kHardFolder));
  const std::vector<std::string> snakemake{"timeout", "200", "snakemake", "-j2", "--nocolor"};
  const Finished finished = run_program(snakemake, folder_.path());
  ASSERT_EQ(finished.code, 0) << finished.err;
  const fs::path out = folder_.path() / kHardFolder;
  EXPECT_EQ(finished_tables(out), plain_);

  const std::string lost = plain_.begin()->first;
  fs::remove_all(out / "runs" / lost);
  const std::string marks = R"-(out 'put' (run) "()" \x41.marks)-";  // no braces
  ASSERT_TRUE(fs::remove(folder_.path() / marks / lost));
  const Finished again = run_program(snakemake, folder_.path());

  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("1 of 2 steps (50%) done"));
  EXPECT_EQ(finished_tables(out), plain_);
}

}  // namespace
}  // namespace residuum
