// The table of staleness as a user gets it, against a schedule that is solved by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

// Gradients take 1 s and 2.5 s, messages nothing. Versions are made at 1, 2, 2.5, 3, 4 and 5 s by
// workers 0, 0, 1, 0, 0 and 1. Worker 1 reads versions 0 and 3; worker 0's gradient of 3 s was read
// at version 2. So their staleness is 0, 0, 2, 1, 0 and 2.
const std::string kStalenessStudy = R"(schema = 1
name = "late"
[objective]
kind = "quadratic"
dimension = 8
[workers]
count = 2
[sparsifier]
kind = "top-k"
k = 2
[aggregator]
kind = "allgather"
[protocol]
kind = "asp"
speeds = [1, 0.4]
[step]
value = 0.1
[budget]
iterations = 6
[probes]
times = false
every = 1
staleness = true
)";

class StalenessTable : public testing::Test {
 protected:
  void SetUp() override { folder_.write("s.toml", kStalenessStudy); }
  Finished call(const std::vector<std::string>& arguments) const {
    return residuum_program(arguments, folder_.path());
  }
  std::filesystem::path results() const { return folder_.path() / "results" / "late"; }

  TemporaryFolder folder_;
};

TEST_F(StalenessTable, CountsTheGradientsUpToEachVersion) {
  const Finished run = call({"run", "s.toml", "--progress=none"});
  ASSERT_EQ(run.code, 0) << run.err;

  reports::CsvReader rows(results() / "staleness.csv");
  std::string counts;
  while (rows.next()) {
    counts += rows.text(1) + ':' + rows.text(2) + '=' + rows.text(3) + ' ';
  }
  EXPECT_EQ(rows.header(),
            (std::vector<std::string>{"run_id", "iteration", "staleness", "gradients"}));
  EXPECT_EQ(counts,
            "0:0=1 1:0=2 2:0=2 2:2=1 3:0=2 3:1=1 3:2=1 4:0=3 4:1=1 4:2=1 5:0=3 5:1=1 5:2=2 ");
  EXPECT_THAT(read_text(results() / "datapackage.json"), HasSubstr("\"staleness.csv\""));
  EXPECT_THAT(call({"list", "columns"}).out, HasSubstr("staleness.gradients"));
}

// Worker 1 takes 1/0.000222 = 4504.5 s for a gradient, which so enters after 4504 of worker 0.
TEST_F(StalenessTable, EndsWithTheStalenessThatStandsForMore) {
  const Finished run = call({"run",
                             "s.toml",
                             "--progress=none",
                             "--set",
                             "protocol.speeds=[1, 0.000222]",
                             "--set",
                             "budget.iterations=4505",
                             "--set",
                             "probes.every=4505"});
  ASSERT_EQ(run.code, 0) << run.err;

  const std::string table = read_text(results() / "staleness.csv");
  EXPECT_THAT(table, HasSubstr(",4504,0,4504\n"));
  EXPECT_THAT(table, testing::EndsWith(",4504,4095,1\n"));
  EXPECT_EQ(call({"report", "results/late"}).code, 0);
}

TEST_F(StalenessTable, IsTheSameAtAnyNumberOfProcesses) {
  const Finished verify = call({"verify", "s.toml", "--ranks", "1,2"});

  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
}

TEST_F(StalenessTable, IsRefusedWhereNoGradientIsLate) {
  std::string study = kStalenessStudy;
  study.replace(study.find("kind = \"asp\"\nspeeds = [1, 0.4]"), 30, "kind = \"bsp\"");
  folder_.write("s.toml", study);

  const Finished run = call({"run", "s.toml"});

  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(
      run.err,
      "error: 'probes.staleness' at s.toml:22:1: no gradient is late under this protocol; "
      "take the key out, or take a protocol with late gradients (ssp, asp, inhad, or bsp with "
      "a lag)\n");
}

}  // namespace
}  // namespace residuum
