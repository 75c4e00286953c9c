// residuum inspect and falsify with another sparsifier than Top-k, as a user calls them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

class SelectedVectors : public testing::Test {
 protected:
  Finished call(const std::vector<std::string>& arguments) const {
    return residuum_program(arguments, folder_.path());
  }
  nlohmann::json json(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    const Finished finished = call(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(finished.out);
  }
  TemporaryFolder folder_;
};

/// A search among the vectors of one worker.
std::vector<std::string> search_for(const std::vector<std::string>& more) {
  std::vector<std::string> words{"falsify", "--workers", "1", "--aggregator", "allgather"};
  words.insert(words.end(), {"--evaluations", "4000", "--out", "w.npy"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Blocks of 3 keep 1 and 2 entries: -4 and (2, -2), and 6 and 1. Two counts of two bits take a
/// byte, three or two places of two bits another one.
TEST_F(SelectedVectors, AreInspectedByBlocks) {
  const std::string file = folder_.write("a.csv", "1,-4,4,0,2,-2\n6,0,0,0,0,1\n").string();
  const auto seen = json({"inspect",
                          file,
                          "--aggregator",
                          "allgather",
                          "--k",
                          "3",
                          "--sparsifier",
                          "chunk-top-k",
                          "--block",
                          "3",
                          "--entries"});
  EXPECT_EQ(seen["sparsifier"], "chunk-top-k");
  EXPECT_EQ(seen["k"], 3);
  EXPECT_EQ(seen["selected"], (std::vector<int>{0, 1, 4, 5}));
  EXPECT_EQ(seen["update"], (std::vector<double>{6, -4, 2, -1}));
  EXPECT_EQ(seen["residual_norm_sq"], (1 + 16) / 2.0);
  EXPECT_EQ(seen["sent_bytes"], (2 + 3 * 4) + (2 + 2 * 4));
  EXPECT_EQ(seen["predicted_delta_iid"], nullptr) << "they are not the largest of all";
}

/// Blocks of 4 and 1 keep an entry each: 3/4 is lost of four equal ones, and Top-2 loses 3/5.
TEST_F(SelectedVectors, AreSearchedForTheWorstThatBlocksLeave) {
  const auto found = json(search_for({"--against",
                                      "contraction",
                                      "--dim",
                                      "5",
                                      "--k",
                                      "1",
                                      "--sparsifier",
                                      "chunk-top-k",
                                      "--block",
                                      "4"}));
  EXPECT_EQ(found["sparsifier"], "chunk-top-k");
  EXPECT_EQ(found["verdict"], "not violated");
  EXPECT_LE(found["worst"].get<double>(), 0.75 * (1 + 1e-12));
  EXPECT_GT(found["worst"].get<double>(), 0.7);
}

TEST_F(SelectedVectors, OfADrawAreSearchedAgainstConservationAlone) {
  std::vector<std::string> search =
      search_for({"--dim", "4", "--k", "2", "--sparsifier", "random-block", "--block", "2"});
  search.insert(search.end(), {"--against", "contraction"});
  const Finished finished = call(search);
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--sparsifier random-block draws at random"));
  search.back() = "conservation";
  EXPECT_EQ(json(search)["verdict"], "not violated");
}

TEST_F(SelectedVectors, NeedASparsifierWithAK) {
  const std::string file = folder_.write("a.csv", "3,-1\n5,1\n").string();
  const auto error = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"inspect", file, "--aggregator", "allgather"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = call(words);
    EXPECT_EQ(finished.code, 2);
    return finished.err;
  };
  EXPECT_THAT(error({"--k", "1", "--sparsifier", "gaussian-k"}), HasSubstr("use one that keeps k"));
  EXPECT_THAT(error({"--threshold", "1", "--sparsifier", "rand-k"}),
              HasSubstr("leave out --sparsifier and --block"));
  EXPECT_THAT(error({"--k", "1", "--block", "2"}), HasSubstr("'sparsifier.block'"));
  EXPECT_THAT(error({"--k", "1", "--sparsifier", "chunk-top-k", "--block", "0"}),
              HasSubstr("must lie between 1 and 4294967295, got 0"));
  EXPECT_THAT(error({"--k", "3", "--sparsifier", "random-block"}), HasSubstr("only 2 parameters"));
}

}  // namespace
}  // namespace residuum
