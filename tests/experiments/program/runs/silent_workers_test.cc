// Runs in which nothing is sent, and runs in which a ratio has a zero below it, say so.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "objectives/data/npy.h"
#include "reports/results/csv.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

// Of normal gradients of 5000 entries an exponential law expects none to be among the 20 largest.
const std::string kNothingSent = R"(schema = 1
name = "tiny"
[objective]
kind = "quadratic"
dimension = 5000
[workers]
count = 4
[sparsifier]
kind = "exponential-k"
k = 20
[aggregator]
kind = "allgather"
[step]
value = "0.5/L"
[budget]
iterations = 20
[probes]
every = 1
evaluate = 1
)";

class SilentRuns : public TinyStudy {
 protected:
  std::string of_run(const std::string& table) const {
    for (const auto& entry : std::filesystem::directory_iterator(results() / "runs")) {
      return read_text(entry.path() / table);
    }
    return {};
  }
};

TEST_F(SilentRuns, SayThatNothingWasEverSentAndHoldNothing) {
  const Finished finished = run(kNothingSent);

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("nothing was ever sent"));
  EXPECT_THAT(finished.out, Not(HasSubstr("  holds"))) << "a cell of the table";
  EXPECT_THAT(of_run("checks.csv"), HasSubstr(",19,every-worker-sends,,4,0,inf,0\n"));
  EXPECT_THAT(of_run("status.json"), HasSubstr("\"silent_workers\": 4"));
  ASSERT_EQ(residuum_program({"report", results().string()}, folder_.path()).code, 0);
  const std::string page = read_text(results() / "report.html");
  EXPECT_THAT(page.substr(0, page.find("</header>")), HasSubstr("nothing was ever sent"));
}

TEST_F(SilentRuns, AreNoneWhereEveryWorkerSends) {
  const Finished finished = run(kNothingSent, {"--set", "sparsifier.kind='top-k'"});

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, Not(HasSubstr("never sent")));
  EXPECT_THAT(of_run("checks.csv"), Not(HasSubstr("every-worker-sends")));
  EXPECT_THAT(of_run("status.json"), HasSubstr("\"silent_workers\": 0"));
}

TEST_F(SilentRuns, TellTheKThatRunsWhereItIsNotTheOneAskedFor) {
  // Ten blocks of 500 entries keep an entry each.
  const Finished finished = run(kNothingSent,
                                {"--set",
                                 "sparsifier.kind='chunk-top-k'",
                                 "--set",
                                 "sparsifier.k=3",
                                 "--set",
                                 "sparsifier.block=500"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("The k that runs is not the k asked for: 3 asked, 10 run"));
}

// The workers' gradients are opposite in the first step, and terngrad rounds them by chance: the
// mean accumulator is 0, the update is not.
TEST_F(SilentRuns, HaveInfiniteRatiosThatFailWhereTheMeanAccumulatorIsZero) {
  const std::vector<double> numbers{1, 2, 3, 4, -1, -2, -3, -4, 1, 1, 1, 1, 1, 1, 1, 1};
  std::string bytes = npy_header(NpyType::float64, std::vector<std::size_t>{2, 2, 4});
  const std::size_t start = bytes.size();
  bytes.resize(start + numbers.size() * sizeof(double));
  std::memcpy(bytes.data() + start, numbers.data(), numbers.size() * sizeof(double));
  folder_.write("g.npy", bytes);
  const Finished finished = run(R"(schema = 1
name = "tiny"
seeds = [3]
[objective]
kind = "recorded"
data = "./g.npy"
precision = "float64"
[workers]
count = 2
[sparsifier]
kind = "top-k"
k = 2
[quantiser]
kind = "terngrad"
[aggregator]
kind = "allgather"
[step]
value = 1.0
[budget]
iterations = 2
[probes]
every = 1
)");
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("fails 50 %"));

  reports::CsvReader rows(results() / "iterations.csv");
  ASSERT_TRUE(rows.next());
  for (const char* column : {"delta", "contraction"}) {
    EXPECT_EQ(rows.text(rows.column(column)), "inf") << column;
  }
  const std::string checks = of_run("checks.csv");
  for (const char* check : {"delta", "contraction"}) {
    EXPECT_THAT(checks, testing::ContainsRegex(std::string(",0,") + check + ",,[0-9.]+,0,inf,0\n"));
  }
}

// Rows are those of all cadences: of `every` at each fifth iteration, of the others by factors.
TEST_F(SilentRuns, HaveRowsAtEachIterationThatAnyCadenceAsksForAndAtTheLast) {
  const auto rows_of = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all{"--out", "r" + std::to_string(options.size())};
    for (const auto& option : options) {
      all.insert(all.end(), {"--set", option});
    }
    EXPECT_EQ(run(kStudy, all).code, 0);
    std::set<std::uint64_t> iterations;
    reports::CsvReader rows(folder_.path() / all[1] / "iterations.csv");
    while (rows.next()) {
      iterations.insert(rows.integer(1));
    }
    return iterations;
  };
  const std::set<std::uint64_t> fifths{0, 5, 10, 15, 20, 25, 30, 35, 39};
  EXPECT_EQ(rows_of({"seeds=1",
                     "probes.every=5",
                     "probes.evaluate=5",
                     "probes.noise_every=10",
                     "probes.virtual_every=10"}),
            fifths);

  std::set<std::uint64_t> all = fifths;
  for (const double factor : {1.1, 1.5, 4.0}) {
    for (double t = 0; t < 40; t = std::max(t + 1, std::ceil(t * factor))) {
      all.insert(static_cast<std::uint64_t>(t));
    }
  }
  EXPECT_EQ(rows_of({"seeds=1", "probes.every=5"}), all);
}

}  // namespace
}  // namespace residuum
