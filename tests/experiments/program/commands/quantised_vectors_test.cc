// residuum inspect, falsify and list with a quantiser, as a user calls them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

class QuantisedVectors : public testing::Test {
 protected:
  Finished call(const std::vector<std::string>& arguments) const {
    return residuum_program(arguments, folder_.path());
  }
  nlohmann::json json(const std::vector<std::string>& arguments) const {
    const Finished finished = call(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(finished.out);
  }
  TemporaryFolder folder_;
};

/// (3, -1, 2, 2) and (5, 1, 1, 1) are sent as (2, -2, 2, 2) and (2, 2, 2, 2); e = (1, 1, 0, 0) and
/// (3, -1, -1, -1).
TEST_F(QuantisedVectors, AreInspectedAsTheyAreSent) {
  const std::string file = folder_.write("a.csv", "3,-1,2,2\n5,1,1,1\n").string();
  const auto seen = json({"inspect",
                          file,
                          "--aggregator",
                          "allgather",
                          "--k",
                          "4",
                          "--quantiser",
                          "sign",
                          "--json",
                          "--entries"});
  EXPECT_EQ(seen["quantiser"], "sign");
  EXPECT_EQ(seen["update"], (std::vector<double>{4, 4, 4}));
  EXPECT_EQ(seen["selected"], (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(seen["residual_norm_sq"], (2 + 12) / 2.0);
  EXPECT_EQ(seen["lost_mass_norm_sq"], 0);
  EXPECT_EQ(seen["sent_bytes"], 2 * (4 + 1)) << "a float32 scale and a byte of signs";
  EXPECT_EQ(seen["predicted_delta_iid"], nullptr) << "the messages are not the largest entries";
}

TEST_F(QuantisedVectors, OnATreeAreRefused) {
  const std::string file = folder_.write("a.csv", "3,-1\n5,1\n").string();
  const Finished finished = call({"inspect", file, "--k", "1", "--quantiser", "sign"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("use aggregator \"allgather\", \"gtopk-exact\""));
  const Finished bits = call({"inspect",
                              file,
                              "--k",
                              "1",
                              "--aggregator",
                              "allgather",
                              "--quantiser",
                              "linear",
                              "--bits",
                              "20"});
  EXPECT_EQ(bits.code, 2);
  EXPECT_THAT(bits.err, HasSubstr("must lie in 1..16, got 20"));
}

/// With one worker the gap is the error of the signs: at worst |x|^2 - |x|_1^2/n of |x|^2, 1 - 1/n.
TEST_F(QuantisedVectors, AreSearchedForTheWorstThatSignLeaves) {
  std::vector<std::string> search{"falsify",
                                  "--workers",
                                  "1",
                                  "--dim",
                                  "4",
                                  "--k",
                                  "4",
                                  "--aggregator",
                                  "allgather",
                                  "--against",
                                  "contraction",
                                  "--quantiser",
                                  "sign",
                                  "--evaluations",
                                  "4000",
                                  "--out",
                                  "w.npy",
                                  "--json"};
  const auto found = json(search);
  EXPECT_EQ(found["quantiser"], "sign");
  EXPECT_EQ(found["verdict"], "not violated");
  EXPECT_LE(found["worst"].get<double>(), 0.75 * (1 + 1e-12));
  EXPECT_GT(found["worst"].get<double>(), 0.7);
  const auto back = json({"inspect",
                          "w.npy",
                          "--k",
                          "4",
                          "--aggregator",
                          "allgather",
                          "--quantiser",
                          "sign",
                          "--json"});
  EXPECT_DOUBLE_EQ(back["contraction"].get<double>(), found["worst"].get<double>());
}

TEST_F(QuantisedVectors, AreNotJudgedByOneDraw) {
  const std::vector<std::string> search{"falsify",
                                        "--workers",
                                        "2",
                                        "--dim",
                                        "4",
                                        "--k",
                                        "2",
                                        "--aggregator",
                                        "allgather",
                                        "--quantiser",
                                        "qsgd",
                                        "--evaluations",
                                        "500"};
  const Finished refused = call(search);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("one draw says nothing of the expectation"));
  auto conservation = search;
  conservation.insert(conservation.end(), {"--against", "conservation", "--json"});
  EXPECT_EQ(json(conservation)["verdict"], "not violated");
}

TEST_F(QuantisedVectors, HaveTheirQuantisersListed) {
  const Finished finished = call({"list", "quantisers"});
  EXPECT_EQ(finished.code, 0);
  for (const char* name : {"sign", "qsgd", "terngrad", "natural", "linear", "table"}) {
    EXPECT_THAT(finished.out, HasSubstr(name));
  }
}

}  // namespace
}  // namespace residuum
