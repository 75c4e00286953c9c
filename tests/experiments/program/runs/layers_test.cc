// The layers of a network as a user sees them: listed, named in a study, and measured.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using reports::CsvReader;
using testing::HasSubstr;

const std::string kLayersStudy = R"(schema = 1
name = "lenet"
[objective]
kind = "lenet"
data = "synthetic-images"
rows = 60
[workers]
count = 3
batch = 4
[sparsifier]
kind = "top-k"
density = 0.01
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.02
[budget]
iterations = 4
[probes]
times = false
every = 1
full_gradient = false
layers = "all"
[sweep]
"sparsifier.scope" = ["model", "layer"]
)";

class Layers : public testing::Test {
 protected:
  void SetUp() override {
    RESIDUUM_NEEDS_NETWORKS();
    folder_.write("s.toml", kLayersStudy);
  }
  Finished call(const std::vector<std::string>& arguments) const {
    return residuum_program(arguments, folder_.path());
  }
  std::filesystem::path results() const { return folder_.path() / "results" / "lenet"; }

  TemporaryFolder folder_;
};

TEST_F(Layers, AreListedWithTheirShapesAndPlaces) {
  const Finished table = call({"plan", "s.toml", "--layers"});
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, testing::StartsWith("layer "));
  EXPECT_THAT(table.out, HasSubstr("\nconv2.weight  16x6x5x5     156   2400\n"));

  const Finished plan = call({"plan", "s.toml", "--layers", "--format", "json"});
  const auto json = nlohmann::json::parse(plan.out);
  ASSERT_EQ(json.size(), 1U) << "one model, however many runs";
  ASSERT_EQ(json[0]["layers"].size(), 10U);
  std::size_t offset = 0;
  for (const auto& layer : json[0]["layers"]) {
    EXPECT_EQ(layer["offset"], offset);
    offset += layer["size"].get<std::size_t>();
  }
  EXPECT_EQ(offset, 61706U) << "LeNet-5";
}

TEST_F(Layers, ThatAreUnknownAreAnsweredWithTheNearestAndWhereTheyAreListed) {
  const std::string misspelt = "probes.layers=[\"fc1.bias\", \"conv1.wieght\"]";

  const Finished run = call({"run", "s.toml", "--set", misspelt});

  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.err,
            "error: unknown layer 'conv1.wieght' in 'probes.layers' at --set; did you mean "
            "'conv1.weight'? (residuum plan STUDY.toml --layers lists them)\n");
  EXPECT_EQ(call({"plan", "s.toml", "--layers", "--set", misspelt}).code, 0)
      << "the cure works on the study that needs it";
}

TEST_F(Layers, ThatAreNamedAloneAreMeasured) {
  const Finished run = call({"run",
                             "s.toml",
                             "--set",
                             "probes.layers=[\"fc3.weight\", \"conv1.bias\"]",
                             "--progress=none"});
  ASSERT_EQ(run.code, 0) << run.err;

  CsvReader rows(results() / "layers.csv");
  std::size_t count = 0;
  for (; rows.next(); ++count) {
    EXPECT_EQ(rows.text(2), count % 2 == 0 ? "conv1.bias" : "fc3.weight") << "in the model's order";
  }
  EXPECT_EQ(count, 2U * 4 * 2);
}

using Key = std::pair<std::string, std::uint64_t>;

/// Sums of a column over the layers, by run and iteration.
std::map<Key, double> sums_of(const std::filesystem::path& file, const std::string& column) {
  CsvReader rows(file);
  std::map<Key, double> sums;
  while (rows.next()) {
    sums[{rows.text(0), rows.integer(1)}] += rows.number(rows.column(column)).value();
  }
  return sums;
}

TEST_F(Layers, AddUpToTheColumnsOfTheIterations) {
  ASSERT_EQ(call({"run", "s.toml", "--progress=none"}).code, 0);

  constexpr double kRounding = 2 * 61706 * 0x1.0p-53;  // two orders of adding d squares
  for (const char* column : {"nnz_sent",
                             "nnz_applied",
                             "mean_grad_norm_sq",
                             "accumulator_norm_sq",
                             "mean_residual_norm_sq",
                             "gap_norm_sq"}) {
    const auto parts = sums_of(results() / "layers.csv", column);
    const auto whole = sums_of(results() / "iterations.csv", column);
    ASSERT_EQ(parts.size(), 8U);
    for (const auto& [key, sum] : whole) {
      EXPECT_NEAR(parts.at(key), sum, kRounding * sum) << column;
    }
  }
}

TEST_F(Layers, HaveTheirOwnKWhereTheyAreSelectedFromOneByOne) {
  ASSERT_EQ(call({"run", "s.toml", "--progress=none"}).code, 0);

  CsvReader runs(results() / "runs.csv");
  std::map<std::string, std::string> scopes;
  while (runs.next()) {
    scopes[runs.text(0)] = runs.text(runs.column("p_sparsifier_scope"));
  }
  CsvReader rows(results() / "layers.csv");
  while (rows.next()) {
    const bool by_layer = scopes.at(rows.text(0)) == "layer";
    const auto number = [&](const char* name) { return rows.number(rows.column(name)).value(); };
    // Top-k of the whole model: 617 of 61706 entries; of a layer: the whole part, but at least one.
    const double expected = by_layer ? std::max(1.0, std::floor(0.01 * number("size")))
                                     : 617.0 / 61706 * number("size");
    EXPECT_DOUBLE_EQ(number("k"), expected) << rows.text(2);
    if (by_layer) {
      EXPECT_EQ(number("nnz_sent"), 3 * expected) << rows.text(2);
    }
  }
}

TEST_F(Layers, AreTheSameAtAnyNumberOfProcesses) {
  const Finished verify = call({"verify", "s.toml", "--ranks", "1,2,3"});

  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("PASS"));
}

// A table has 4 values of 4 bytes: ten layers have nine more of them than a message as a whole, and
// each may fill a byte more. Three workers send to two others in 4 iterations.
TEST_F(Layers, CanBeQuantisedOneByOne) {
  folder_.write("s.toml", kLayersStudy.substr(0, kLayersStudy.find("[sweep]")));
  const auto bytes_of = [&](const std::string& scope) {
    const Finished finished = call({"run",
                                    "s.toml",
                                    "--progress=none",
                                    "--out=" + scope,
                                    "--set=sparsifier.scope=layer",
                                    "--set=aggregator.kind=allgather",
                                    "--set=quantiser.kind=table",
                                    "--set=quantiser.scope=" + scope});
    EXPECT_EQ(finished.code, 0) << finished.err;
    CsvReader rows(folder_.path() / scope / "iterations.csv");
    double bytes = 0;
    while (rows.next()) {
      bytes += rows.number(rows.column("uplink_bytes")).value_or(0);
    }
    return bytes;
  };
  const double of_a_message = (bytes_of("layer") - bytes_of("model")) / (3 * 2 * 4);
  EXPECT_GE(of_a_message, 9 * 16);
  EXPECT_LE(of_a_message, 9 * 16 + 9);
}

}  // namespace
}  // namespace residuum
