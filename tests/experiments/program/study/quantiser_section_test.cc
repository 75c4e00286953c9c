// The section [quantiser] of a study: identities, refusals, and the bytes that a run counts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "experiments/program/study/prepare_all.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::string kQuantisedStudy = R"(schema = 1
name = "tiny"
seeds = 1
[objective]
kind = "quadratic"
dimension = 50
[workers]
count = 4
[sparsifier]
kind = "top-k"
k = 8
[aggregator]
kind = "allgather"
[step]
value = 0.05
[budget]
iterations = 12
[probes]
every = 1
)";

PreparedRun quantised_run(const std::vector<std::string>& overrides) {
  ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
  return std::move(
      prepare_all(parse_study(kQuantisedStudy, "s.toml", overrides), objectives).front());
}

std::string quantised_error(const std::vector<std::string>& overrides) {
  try {
    quantised_run(overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(QuantiserSection, LeavesTheIdOfARunWithoutIt) {
  const std::string id = quantised_run({}).id;
  EXPECT_EQ(quantised_run({"quantiser.kind=none"}).id, id);
  EXPECT_FALSE(quantised_run({"quantiser.kind=none"}).config.contains("quantiser"));
  EXPECT_NE(quantised_run({"quantiser.kind=sign"}).id, id);
  EXPECT_EQ(quantised_run({"quantiser.kind=qsgd"}).id,
            quantised_run({"quantiser.kind=qsgd", "quantiser.bits=4"}).id)
      << "a default, spelt out";
}

TEST(QuantiserSection, MayWriteEveryLayerByItself) {
  const auto layers_of = [](const std::vector<std::string>& overrides) {
    ObjectiveCache objectives({.data_dir = "data", .cache_dir = "", .workers = 1});
    KnownKeys known;
    const auto study = parse_study(kQuantisedStudy, "s.toml", overrides);
    return prepare(study.runs.front(), objectives, known).method->quantised_layers;
  };
  EXPECT_TRUE(layers_of({"quantiser.kind=table"}).empty());
  EXPECT_TRUE(layers_of({"quantiser.kind=table", "quantiser.scope=model"}).empty());
  EXPECT_EQ(layers_of({"quantiser.kind=table", "quantiser.scope=layer"}),
            (std::vector<Segment>{{.begin = 0, .size = 50}}))
      << "the model is one layer";
  EXPECT_THAT(quantised_error({"quantiser.kind=table", "quantiser.scope=tensor"}),
              HasSubstr("'quantiser.scope'"));
}

TEST(QuantiserSection, WithBitsThatNoCodeHasIsRefused) {
  EXPECT_EQ(quantised_error({"quantiser.kind=linear", "quantiser.bits=17"}),
            "'quantiser.bits' at --set must lie in 1..16, got 17: it is the bits of one value");
  EXPECT_THAT(quantised_error({"quantiser.kind=linear", "quantiser.bits=0"}),
              HasSubstr("must lie in 1..16, got 0"));
  EXPECT_THAT(quantised_error({"quantiser.kind=sign", "quantiser.bits=2"}), HasSubstr("bits"));
}

/// The law of an aggregator decides, not its name.
TEST(QuantiserSection, IsRefusedWhereMessagesAreSummedOnTheWay) {
  for (const std::string aggregator : {"dense", "gtopk-tree", "gtopk-mask"}) {
    EXPECT_EQ(quantised_error({"quantiser.kind=sign", "aggregator.kind=" + aggregator}),
              "'quantiser.kind' at --set: aggregator '" + aggregator +
                  "' sums messages on their way, and the codes of a quantiser cannot be summed; "
                  "use aggregator \"allgather\", \"gtopk-exact\" or \"parameter-server\"");
  }
  EXPECT_NO_THROW(quantised_run({"quantiser.kind=sign", "aggregator.kind=gtopk-exact"}));
}

TEST(QuantiserSection, GoesWithProtocolsThatUseNoAggregatorOnTheWay) {
  const std::vector<std::string> asp{"quantiser.kind=sign", "protocol.kind=asp"};
  EXPECT_NO_THROW(quantised_run(asp));
  const std::vector<std::string> gossip{
      "quantiser.kind=sign", "protocol.kind=gossip", "protocol.graph=ring", "feedback.kind=none"};
  auto choco = gossip;
  choco.insert(choco.end(), {"protocol.mixing=choco", "protocol.consensus_step=0.3"});
  EXPECT_NO_THROW(quantised_run(choco));
  auto plain = gossip;
  plain.emplace_back("sparsifier.kind=none");
  EXPECT_THAT(quantised_error(plain), HasSubstr("leave out [quantiser]"));
}

class QuantisedRun : public TinyStudy {
 protected:
  /// Runs the study with these settings; returns its only run's folder.
  std::filesystem::path folder_of(const std::string& name,
                                  const std::vector<std::string>& settings) const {
    std::vector<std::string> options{"--out", name};
    for (const auto& setting : settings) {
      options.insert(options.end(), {"--set", setting});
    }
    const Finished finished = run(kQuantisedStudy, options);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return std::filesystem::directory_iterator(folder_.path() / name / "runs")->path();
  }
  static nlohmann::json status(const std::filesystem::path& run) {
    return nlohmann::json::parse(read_text(run / "status.json"));
  }
  /// The distinct values of a column.
  static std::set<std::string> column(const std::filesystem::path& run, const std::string& name) {
    std::istringstream lines(read_text(run / "iterations.csv"));
    std::string line;
    std::getline(lines, line);
    const auto cells_of = [](const std::string& text) {
      std::vector<std::string> cells;
      std::istringstream row(text);
      for (std::string cell; std::getline(row, cell, ',');) {
        cells.push_back(cell);
      }
      return cells;
    };
    const auto names = cells_of(line);
    const auto at = std::find(names.begin(), names.end(), name) - names.begin();
    std::set<std::string> values;
    while (std::getline(lines, line)) {
      values.insert(cells_of(line).at(static_cast<std::size_t>(at)));
    }
    return values;
  }
};

/// Four workers send three copies each of 8 indices of 4 bytes and 8 codes with their scales.
TEST_F(QuantisedRun, CountsTheBytesOfThePackedForm) {
  const auto bytes_of = [&](const std::string& kind, std::vector<std::string> settings) {
    settings.push_back("quantiser.kind=" + kind);
    return column(folder_of(kind, settings), "uplink_bytes");
  };
  EXPECT_EQ(bytes_of("none", {}), std::set<std::string>{std::to_string(12 * 8 * 8)});
  EXPECT_EQ(bytes_of("sign", {}), std::set<std::string>{std::to_string(12 * (32 + 4 + 1))});
  EXPECT_EQ(bytes_of("qsgd", {"quantiser.bits=5"}),
            std::set<std::string>{std::to_string(12 * (32 + 4 + 5))});
  EXPECT_EQ(bytes_of("natural", {}), std::set<std::string>{std::to_string(12 * (32 + 4 + 9))});
  EXPECT_EQ(bytes_of("table", {}), std::set<std::string>{std::to_string(12 * (32 + 16 + 2))});
}

/// Each of two neighbours on the ring gets 37 bytes of each of four workers; the server one of
/// each.
TEST_F(QuantisedRun, CountsThemUnderEveryProtocol) {
  const auto choco = folder_of("choco",
                               {"quantiser.kind=sign",
                                "protocol.kind=gossip",
                                "protocol.graph=ring",
                                "protocol.mixing=choco",
                                "protocol.consensus_step=0.3",
                                "feedback.kind=none"});
  EXPECT_EQ(column(choco, "uplink_bytes"), std::set<std::string>{std::to_string(8 * 37)});
  const auto asp = folder_of("asp", {"quantiser.kind=sign", "protocol.kind=asp"});
  EXPECT_EQ(status(asp)["totals"]["uplink_bytes"], 12 * 37);
  EXPECT_TRUE(status(asp)["checks"]["conservation"]["holds"]);
}

TEST_F(QuantisedRun, TellsTheLawOfBothTogether) {
  const auto laws = status(folder_of("sign", {"quantiser.kind=sign"}))["laws"];
  EXPECT_EQ(laws["quantiser"],
            (nlohmann::json{{"contraction", 1.0 / 8}, {"random", false}, {"bits", 1}}));
  EXPECT_EQ(laws["sparsifier"]["contraction"], 8.0 / 50 / 8);
  EXPECT_EQ(laws["sparsifier"]["keeps_largest"], false);
  const auto terngrad =
      status(folder_of("terngrad", {"quantiser.kind=terngrad", "sparsifier.k=40"}));
  EXPECT_FALSE(terngrad["laws"]["sparsifier"].contains("contraction"));
  EXPECT_EQ(terngrad["laws"]["sparsifier"]["deterministic"], false);
  EXPECT_EQ(terngrad["sends_everything"], false);
}

/// Theorems use the law of both rules together, or name the constant that is missing.
TEST_F(QuantisedRun, IsJudgedByTheLawOfBothTogether) {
  const auto theorem = [&](const std::string& kind, const std::string& name) {
    folder_of(kind, {"quantiser.kind=" + kind, "sparsifier.k=40", "probes.evaluate=1"});
    const auto summary = nlohmann::json::parse(read_text(folder_.path() / kind / "summary.json"));
    const auto& all = summary["groups"][0]["theorems"];
    return *std::find_if(
        all.begin(), all.end(), [&](const auto& one) { return one["name"] == name; });
  };
  EXPECT_NE(theorem("none", "alistarh")["verdict"], "not applicable");
  const auto alistarh = theorem("sign", "alistarh");
  EXPECT_EQ(alistarh["verdict"], "not applicable") << "the k largest entries are not sent";
  EXPECT_THAT(alistarh["reason"].dump(), HasSubstr("sparsifier is top-k with values by sign"));
  EXPECT_NE(theorem("natural", "top-k")["verdict"], "not applicable");
  const auto terngrad = theorem("terngrad", "top-k");
  EXPECT_EQ(terngrad["verdict"], "not applicable");
  EXPECT_THAT(terngrad["reason"].dump(),
              HasSubstr("keeps a share of every accumulator, in expectation: sparsifier is top-k "
                        "with values by terngrad"));
}

TEST_F(QuantisedRun, HasTheSameBitsOnOneAndTwoProcesses) {
  for (const std::string kind : {"sign", "qsgd", "terngrad", "natural", "linear", "table"}) {
    const auto study = folder_.write(kind + ".toml", kQuantisedStudy);
    const Finished finished = residuum_program(
        {"verify", study.string(), "--ranks", "1,2", "--set", "quantiser.kind=" + kind},
        folder_.path());
    EXPECT_EQ(finished.code, 0) << kind << finished.out << finished.err;
  }
}

TEST_F(QuantisedRun, OfLateGradientsIsTheSameOnTwoProcesses) {
  const auto study = folder_.write("s.toml", kQuantisedStudy);
  const Finished finished = residuum_program({"verify",
                                              study.string(),
                                              "--ranks",
                                              "1,2",
                                              "--set",
                                              "quantiser.kind=natural",
                                              "--set",
                                              "protocol.kind=ssp",
                                              "--set",
                                              "protocol.staleness=2"},
                                             folder_.path());
  EXPECT_EQ(finished.code, 0) << finished.out << finished.err;
}

}  // namespace
}  // namespace residuum
