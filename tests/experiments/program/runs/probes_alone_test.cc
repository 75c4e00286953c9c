// A probe measures the same alone as beside others: a run takes the vectors that its probes look
// at, and only these.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assumptions/monitor.h"
#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

const std::string kMeasuredStudy = R"(schema = 1
name = "alone"
[objective]
kind = "quadratic"
dimension = 30
noise_variance = 0.5
[sparsifier]
kind = "top-k"
k = 3
[step]
value = 0.1
[budget]
iterations = 12
[probes]
every = 1
evaluate = 1
[workers]
count = 4
)";

/// The cells of iterations.csv by iteration and column; those of a clock are left out.
using Cells = std::map<std::pair<std::uint64_t, std::string>, std::string>;

Cells cells_of(const std::string& names, const std::string& rest) {
  const TemporaryFolder folder;
  folder.write("s.toml", kMeasuredStudy + rest);
  const auto finished = residuum_program({"run",
                                          "s.toml",
                                          "--out",
                                          "r",
                                          "--progress",
                                          "none",
                                          "--set",
                                          "probes.names=[" + names + "]"},
                                         folder.path());
  EXPECT_EQ(finished.code, 0) << names << ": " << finished.err;
  Cells cells;
  reports::CsvReader rows(folder.path() / "r/iterations.csv");
  while (rows.next()) {
    const std::uint64_t iteration = rows.integer(rows.column("iteration"));
    for (const auto& column : kColumns) {
      if (const auto place = rows.find(std::string(column.name)); place && column.unit != "s") {
        cells[{iteration, std::string(column.name)}] = rows.text(*place);
      }
    }
  }
  return cells;
}

class ProbesAlone : public testing::TestWithParam<const char*> {};

TEST_P(ProbesAlone, MeasureWhatTheyMeasureTogether) {
  std::string names;
  for (const auto& probe : probes()) {
    names += (names.empty() ? "\"" : ",\"") + std::string(probe.name) + '"';
  }
  const Cells together = cells_of(names, GetParam());
  for (const auto& probe : probes()) {
    const Cells alone = cells_of('"' + std::string(probe.name) + '"', GetParam());
    std::size_t compared = 0;
    for (const Column column : probe.make(example_section("probes", probe))->columns()) {
      const std::string name(kColumns[static_cast<std::size_t>(column)].name);
      for (std::uint64_t t = 0; t < 12; ++t) {
        const auto one = alone.find({t, name});
        const auto other = together.find({t, name});
        EXPECT_EQ(one != alone.end() ? one->second : "",
                  other != together.end() ? other->second : "")
            << probe.name << ", " << name << ", iteration " << t;
        ++compared;
      }
    }
    EXPECT_GT(compared, 0U) << probe.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    ProbesAlone,
    testing::Values("[aggregator]\nkind = \"gtopk-tree\"\n",
                    "participation = 0.75\n",
                    "[feedback]\nkind = \"dgc\"\n",
                    "[feedback]\nkind = \"ef21\"\n",
                    "[protocol]\nkind = \"local\"\nperiod = 2\n",
                    "[protocol]\nkind = \"asp\"\n",
                    "[protocol]\nkind = \"gossip\"\ngraph = \"ring\"\nmixing "
                    "= \"choco\"\nconsensus_step = 0.3\n[feedback]\nkind = \"none\"\n"));

}  // namespace
}  // namespace residuum
