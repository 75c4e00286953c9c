// The known answers, through the program as a user calls it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

class Inspect : public testing::Test {
 protected:
  nlohmann::json inspect(const std::string& csv, const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{
        "inspect", folder_.write("a.csv", csv).string(), "--json", "--entries", "--fits"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished finished = residuum_program(arguments, folder_.path());
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(finished.out);
  }
  TemporaryFolder folder_;
};

TEST_F(Inspect, DeltaIsUnboundedUnderCancellation) {
  const auto json = inspect("1.01,1\n-1,-1.01\n", {"--aggregator", "gtopk-exact", "--k", "1"});

  EXPECT_NEAR(json["delta"].get<double>(), 10001, 10001 * 1e-12);
}

TEST_F(Inspect, DeltaOfTheOtherSmallExamples) {
  const auto cancelled = inspect("2,1.5\n-2,1.5\n", {"--aggregator", "gtopk-exact", "--k", "1"});
  EXPECT_NEAR(cancelled["delta"].get<double>(), 2, 1e-12);

  const auto split = inspect("30,0,0\n-20,21,21\n", {"--aggregator", "gtopk-exact", "--k", "2"});
  // Mean a = (5, 10.5, 10.5), messages (30,0,0) and (0,21,21): the selection is {0, 1}, g = (30,
  // 21). in: (5-15)^2 = 100, out: 10.5^2 = 110.25; D = (1 - 2/3) (25 + 2 * 110.25).
  const double d = (25 + 2 * 110.25) / 3;
  EXPECT_NEAR(split["delta_in"].get<double>(), 100 / d, 1e-12);
  EXPECT_NEAR(split["delta_out"].get<double>(), 110.25 / d, 1e-12);
  EXPECT_NEAR(split["delta"].get<double>(), 2.569246, 5e-7);
}

TEST_F(Inspect, TheTreeIsNotTheOracle) {
  const std::string workers = "3,0,0\n0,4,0\n3,0,0\n0,0,4\n";

  const auto exact = inspect(workers, {"--aggregator", "gtopk-exact", "--k", "1"});
  EXPECT_NEAR(exact["delta"].get<double>(), 12.0 / 17, 1e-12);
  EXPECT_EQ(exact["update"], (std::vector<double>{6}));
  EXPECT_EQ(exact["selected"], (std::vector<int>{0}));

  const auto tree = inspect(workers, {"--aggregator", "gtopk-tree", "--k", "1"});
  EXPECT_NEAR(tree["delta"].get<double>(), 1.147059, 5e-7);
  EXPECT_EQ(tree["update"], (std::vector<double>{4}));
}

TEST_F(Inspect, PublishedPutBackLosesWhatCapturedKeeps) {
  const std::string workers = "5,0\n5,0\n0,6\n1,0\n";

  const auto published =
      inspect(workers, {"--aggregator", "gtopk-tree", "--k", "1", "--putback", "published"});
  EXPECT_EQ(published["lost_mass_norm_sq"].get<double>(), 1);
  EXPECT_GT(published["conservation_defect"].get<double>(), 0.05);

  const auto captured =
      inspect(workers, {"--aggregator", "gtopk-tree", "--k", "1", "--putback", "captured"});
  EXPECT_EQ(captured["lost_mass_norm_sq"].get<double>(), 0);
  EXPECT_LT(captured["conservation_defect"].get<double>(), 1e-12);
}

TEST_F(Inspect, DisjointOneHotsHaveDeltaOneAndXiFromGeometry) {
  const std::string workers = "1,0,0,0\n0,1,0,0\n0,0,1,0\n0,0,0,1\n";

  const auto json = inspect(workers, {"--aggregator", "gtopk-exact", "--k", "1"});
  EXPECT_NEAR(json["delta"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(json["xi"].get<double>(), std::sqrt(3.0) / 2, 1e-12);
  EXPECT_EQ(json["nnz_sent"], 4);
  EXPECT_EQ(json["nnz_applied"], 1);
}

TEST_F(Inspect, CountsEightBytesPerEntryAndEdge) {
  const auto json =
      inspect("3,1,0,0\n0,2,1,0\n0,0,5,1\n1,0,0,7\n", {"--aggregator", "gtopk-tree", "--k", "2"});

  // Three edges up, three down, two entries of eight bytes each.
  EXPECT_EQ(json["sent_bytes"], 6 * 2 * 8);
  EXPECT_EQ(json["rounds"], 4);
}

TEST_F(Inspect, PredictsDeltaOfIndependentGaussians) {
  // Density 0.1 and P = 1: the table of captured energies gives delta 0.623015.
  const auto json = inspect("1,2,3,4,5,6,7,8,9,10\n", {"--aggregator", "gtopk-tree", "--k", "1"});

  EXPECT_NEAR(json["predicted_delta_iid"].get<double>(), 0.623015, 1e-6);
}

TEST_F(Inspect, PredictsNothingOfAThreshold) {
  const auto json = inspect("3,1,0\n0,2,-4\n", {"--aggregator", "allgather", "--threshold", "2"});

  EXPECT_TRUE(json["predicted_delta_iid"].is_null());
}

TEST_F(Inspect, TakesThresholdsAndDensities) {
  const auto json = inspect("3,1,0\n0,2,-4\n", {"--aggregator", "allgather", "--threshold", "2"});
  EXPECT_EQ(json["nnz_sent"], 3);
  EXPECT_EQ(json["update"], (std::vector<double>{3, 2, -4}));
  EXPECT_EQ(json["k"], 1.5) << "the mean number of entries a worker sent";

  EXPECT_EQ(inspect("3,1,0,0\n", {"--density", "0.5"})["k"], 2);
}

TEST_F(Inspect, XiIsRelativeToTheGradientWhereGiven) {
  const auto gradients = folder_.write("g.csv", "0.5,0,0,0\n0,0.5,0,0\n0,0,0.5,0\n0,0,0,0.5\n");
  const auto json =
      inspect("1,0,0,0\n0,1,0,0\n0,0,1,0\n0,0,0,1\n",
              {"--aggregator", "gtopk-exact", "--k", "1", "--gradient", gradients.string()});

  EXPECT_NEAR(json["xi"].get<double>(), std::sqrt(3.0), 1e-12);
}

// Mean a = (5, 10.5, 10.5), messages (30, 0, 0) and (0, 21, 21), g = (30, 21, 0): the mean residual
// is (-10, 0, 10.5), and Top_2(mean a) lacks the mean message by 15.
TEST_F(Inspect, SaysASentenceForEachQuantity) {
  const auto file = folder_.write("a.csv", "30,0,0\n-20,21,21\n").string();
  const std::vector<std::string> question{
      "inspect", file, "--aggregator", "gtopk-exact", "--k", "2"};
  const Finished told = residuum_program(question, folder_.path());
  EXPECT_EQ(told.code, 0) << told.err;
  for (const char* line :
       {"2 workers, d = 3, k = 2 (density 0.6667), aggregator gtopk-exact, put-back captured\n",
        "\ndelta = 2.569 > 1: the assumption fails for these vectors\n",
        "\npredicted delta = ",
        "\ncontraction = 0.8564 <= 1: the mean residual keeps 85.6 % of |mean a|^2\n",
        "\nxi = 0.9573, |Top_k(mean a) - mean Top_k(a)| over the norm of the step\n",
        "\nnothing is lost: what is not applied is in the residuals\n",
        "\n3 entries are sent, in ",
        "; 2 are applied\n"}) {
    EXPECT_THAT(told.out, HasSubstr(line));
  }
  EXPECT_THAT(told.out, Not(HasSubstr("update")));

  auto all = question;
  all.insert(all.end(), {"--entries", "--fits"});
  const Finished whole = residuum_program(all, folder_.path());
  EXPECT_THAT(whole.out, HasSubstr("\nupdate 0: 30\nupdate 1: 21\n"));
  EXPECT_THAT(whole.out, HasSubstr("\nmagnitudes: normal has the distance "));
}

TEST_F(Inspect, TakesOneStepOfManyInAnyOrder) {
  const std::vector<double> numbers{9, 9, 9, 9, 3, 1, 0, 2};  // T = 2, P = 2, d = 2
  const auto array = [&](const std::string& name, const char* order, bool by_column) {
    std::string header =
        fmt::format("{{'descr': '<f8', 'fortran_order': {}, 'shape': (2, 2, 2), }}", order);
    header.resize(117, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    bytes += header;
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t from = by_column ? (i % 2) * 4 + (i / 2 % 2) * 2 + i / 4 : i;
      bytes.append(reinterpret_cast<const char*>(&numbers[from]), 8);  // NOLINT
    }
    return folder_.write(name, bytes).string();
  };
  const auto expected = inspect("3,1\n0,2\n", {"--k", "1"});
  for (const std::string& file : {array("c.npy", "False", false), array("f.npy", "True", true)}) {
    const Finished read = residuum_program(
        {"inspect", file, "--step", "1", "--k", "1", "--json", "--entries", "--fits"},
        folder_.path());
    ASSERT_EQ(read.code, 0) << read.err;
    EXPECT_EQ(nlohmann::json::parse(read.out), expected);
    for (const char* none : {"2", "-1"}) {
      EXPECT_THAT(
          residuum_program({"inspect", file, "--step", none, "--k", "1"}, folder_.path()).err,
          HasSubstr("is (T, P, d): name a step by --step, from 0 to T - 1"));
    }
    EXPECT_THAT(residuum_program({"inspect", file, "--k", "1"}, folder_.path()).err,
                HasSubstr("name a step by --step"));
  }
  const auto csv = folder_.write("a.csv", "1,2\n").string();
  EXPECT_THAT(residuum_program({"inspect", csv, "--step", "0", "--k", "1"}, folder_.path()).err,
              HasSubstr("only a .npy array of shape (T, P, d) has steps"));
}

TEST_F(Inspect, TellsWhichLawTheMagnitudesFollow) {
  // The quantiles of the exponential law at (i + 1/2)/400, signs alternating: the distance of the
  // distribution functions is 1/800 but for the fitted mean.
  std::string csv;
  for (int i = 0; i < 400; ++i) {
    csv += fmt::format(
        "{}{}", i == 0 ? "" : ",", (i % 2 == 0 ? -1 : 1) * std::log(1 - (i + 0.5) / 400));
  }
  const auto laws =
      inspect(csv + "\n", {"--aggregator", "allgather", "--density", "0.1"})["magnitude_laws"];

  EXPECT_LT(laws["exponential"]["ks_distance"].get<double>(), 0.003);
  EXPECT_GT(laws["exponential"]["p_value"].get<double>(), 0.99);
  EXPECT_NEAR(laws["exponential"]["scale"].get<double>(), 1, 0.002);
  EXPECT_NEAR(laws["exponential"]["threshold"].get<double>(), std::log(10), 0.01);
  EXPECT_NEAR(laws["gamma"]["shape"].get<double>(), 1, 0.02);
  EXPECT_LT(laws["normal"]["p_value"].get<double>(), 0.01);
}

// The norm of a one-hot vector is its entry, which a quantiser of norms then sends exactly.
TEST_F(Inspect, SendsVectorsOfAnyLengthRoundAQuantisedRing) {
  const std::string one_hots = "0,0,3,0,0,0,0\n0,0,4,0,0,0,0\n";
  const auto json = inspect(one_hots, {"--aggregator", "quantised-ring"});
  EXPECT_EQ(json["update"], nlohmann::json::array({7.0})) << "without zeros";
  EXPECT_TRUE(json["k"].is_null());
  const Finished refused = residuum_program(
      {"inspect", "a.csv", "--aggregator", "quantised-ring", "--rows", "7"}, folder_.path());
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("goes with an aggregator that reads matrices"));
}

// A ring of two workers carries d = 16 numbers per worker: 6 bits less of each are 24 bytes less.
TEST_F(Inspect, GivesTheRingTheQuantiserThatIsAskedFor) {
  const std::string row = "8,7,6,5,4,3,2,1,-1,-2,-3,-4,-5,-6,-7,-8\n";
  const auto bytes_at = [&](const std::string& bits) {
    const auto json = inspect(
        row + row, {"--aggregator", "quantised-ring", "--quantiser", "linear", "--bits", bits});
    return json["sent_bytes"].get<double>();
  };
  EXPECT_EQ(bytes_at("8") - bytes_at("2"), 24);
  for (const char* const other : {"terngrad", "none"}) {
    const Finished refused = residuum_program(
        {"inspect", "a.csv", "--aggregator", "quantised-ring", "--quantiser", other},
        folder_.path());
    EXPECT_EQ(refused.code, 2) << other;
    EXPECT_THAT(refused.err, HasSubstr("'aggregator.quantiser'"));
  }
}

TEST_F(Inspect, RefusesBadInputInOneLine) {
  const std::string file = folder_.write("a.csv", "1,2\n").string();
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"inspect", file}, "--k"},
      {{"inspect", file, "--k", "3"}, "only 2 parameters"},
      {{"inspect", file, "--k", "0"}, "at least 1"},
      {{"inspect", file, "--k", "1", "--density", "0.1"}, "one of"},
      {{"inspect", file, "--k", "1", "--aggregator", "gtopk-tre"}, "did you mean 'gtopk-tree'?"},
      {{"inspect", file, "--k", "1", "--putback", "capture"}, "did you mean 'captured'?"},
      {{"inspect", file, "--threshold", "1", "--aggregator", "gtopk-tree"}, "--k or --density"},
      {{"inspect", "nowhere.csv", "--k", "1"}, "nowhere.csv"}};
  for (const auto& [arguments, message] : cases) {
    const Finished finished = residuum_program(arguments, folder_.path());
    EXPECT_EQ(finished.code, 2) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
}

}  // namespace
}  // namespace residuum
