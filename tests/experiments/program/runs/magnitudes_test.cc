// The table of magnitudes and the overlap of selections, as a user gets them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::string kMagnitudesStudy = R"(schema = 1
name = "sizes"
[objective]
kind = "quadratic"
dimension = 16
[workers]
count = 3
[sparsifier]
kind = "top-k"
k = 2
[aggregator]
kind = "allgather"
[step]
value = 0.1
[budget]
iterations = 20
[probes]
times = false
every = 5
names = ["overlap"]
magnitudes_every = 8
)";

class MagnitudesTable : public testing::Test {
 protected:
  void SetUp() override { folder_.write("s.toml", kMagnitudesStudy); }
  Finished call(const std::vector<std::string>& arguments) const {
    return residuum_program(arguments, folder_.path());
  }

  TemporaryFolder folder_;
};

TEST_F(MagnitudesTable, CountsEveryEntryWhereItIsDue) {
  const Finished run = call({"run", "s.toml", "--progress=none"});
  ASSERT_EQ(run.code, 0) << run.err;

  reports::CsvReader rows(folder_.path() / "results" / "sizes" / "magnitudes.csv");
  std::map<std::uint64_t, double> shares;
  while (rows.next()) {
    shares[rows.integer(1)] += rows.number(3).value();
  }
  EXPECT_EQ(rows.header(), (std::vector<std::string>{"run_id", "iteration", "exponent", "share"}));
  ASSERT_EQ(shares.size(), 4U) << "0, 8, 16 and the last";
  EXPECT_NEAR(shares[0], 1, 1e-12) << "nothing has been sent: no entry is zero";
  EXPECT_NEAR(shares[16], 1, 1e-12) << "each has got another gradient";
  EXPECT_EQ(call({"report", "results/sizes"}).code, 0);
  EXPECT_THAT(read_text(folder_.path() / "results/sizes/report.html"),
              HasSubstr("data-figure=\"overlap\""));
}

TEST_F(MagnitudesTable, IsTheSameAtAnyNumberOfProcesses) {
  const Finished verify = call({"verify", "s.toml", "--ranks", "1,2,3"});

  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
}

TEST_F(MagnitudesTable, IsRefusedWhereWorkersDoNotExchangeAtATime) {
  using Settings = std::vector<std::string>;
  for (const auto& protocol :
       {Settings{"protocol.kind=asp"},
        Settings{"protocol.kind=gossip", "protocol.graph=ring", "sparsifier.kind=none"}}) {
    std::vector<std::string> arguments{"run", "s.toml"};
    for (const auto& setting : protocol) {
      arguments.insert(arguments.end(), {"--set", setting});
    }
    const Finished run = call(arguments);

    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.err,
              "error: 'probes.magnitudes_every' at s.toml:21:1: this table needs a protocol in "
              "lockstep; take the key out, or take \"bsp\" or \"local\"\n");
  }
}

TEST_F(MagnitudesTable, ChangesNoIdOfARunThatDoesNotAskForIt) {
  folder_.write("s.toml", kMagnitudesStudy.substr(0, kMagnitudesStudy.find("magnitudes_every")));
  const Finished plan = call({"plan", "s.toml", "--format", "json"});

  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, testing::Not(HasSubstr("magnitudes")));
}

}  // namespace
}  // namespace residuum
