// `residuum check` as a user calls it, on the compressors in experiments/studies/compressors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/experiments/python.h"

namespace residuum {
namespace {

using testing::HasSubstr;

const std::filesystem::path kCompressors =
    std::filesystem::path(RESIDUUM_STUDIES) / "studies/compressors";

class CompressorExample : public testing::Test {
 protected:
  void SetUp() override {
    RESIDUUM_NEEDS_NUMPY();
    python_ = python_with("numpy");
  }

  /// Runs the check with the example and its arguments, and expects the exit code.
  nlohmann::json checked(std::vector<std::string> claims, const std::string& example, int code) {
    claims.insert(claims.begin(), "check");
    claims.insert(claims.end(), {"--json", "--", python_});
    std::istringstream words(example);
    for (std::string word; words >> word;) {
      claims.push_back(word.ends_with(".py") ? (kCompressors / word).string() : word);
    }
    const Finished finished = residuum_program(claims, folder_.path());
    EXPECT_EQ(finished.code, code) << finished.out << finished.err;
    return nlohmann::json::parse(finished.out);
  }

  static nlohmann::json law(const nlohmann::json& found, const std::string& name) {
    for (const auto& one : found["laws"]) {
      if (one["law"] == name) {
        return one;
      }
    }
    return {};
  }

  static std::vector<std::string> violated(const nlohmann::json& found) {
    std::vector<std::string> names;
    for (const auto& one : found["laws"]) {
      if (one["verdict"] == "violated") {
        names.push_back(one["law"]);
      }
    }
    return names;
  }

  TemporaryFolder folder_;
  std::string python_;
};

TEST_F(CompressorExample, ARightTopKKeepsAllLaws) {
  const auto found = checked({"--k", "6", "--memory"}, "top_k.py 6 memory", 0);

  for (const char* name : {"contraction",
                           "conservation",
                           "sparsity",
                           "zero",
                           "finite",
                           "determinism",
                           "nan and inf",
                           "tensors",
                           "lengths",
                           "bytes"}) {
    EXPECT_EQ(law(found, name)["verdict"], "holds") << name;
  }
}

TEST_F(CompressorExample, ATopKWithoutMemoryKeepsTheLawsOfAStatelessOne) {
  const auto found = checked({"--k", "6"}, "top_k.py 6", 0);

  EXPECT_EQ(law(found, "stateless")["verdict"], "holds");
  EXPECT_EQ(law(found, "determinism")["verdict"], "holds");
}

// Draws that are seeded by the requests repeat themselves after a new start.
TEST_F(CompressorExample, RandKDrawsByTheSeedsOfTheRequests) {
  const auto found = checked({"--omega", "9"}, "rand_k.py 6", 4);

  EXPECT_EQ(law(found, "determinism")["verdict"], "holds");
}

TEST_F(CompressorExample, TopKWithoutTheAbsoluteValueIsNoContraction) {
  const auto found = checked({"--k", "6"}, "top_k_signed.py 6", 4);

  EXPECT_THAT(violated(found), testing::ElementsAre("contraction", "lengths"));
  EXPECT_EQ(
      law(found, "contraction")["explanation"],
      "vector 'first entry alone' of 60 entries: |x - C(x)|^2 = 1 |x|^2, allowed is 0.9 |x|^2");
}

TEST_F(CompressorExample, AResidualThatIgnoresTheQuantisationLosesMassAndTheRightOneDoesNot) {
  const std::vector<std::string> claims{"--k", "6", "--contraction", "0.09", "--memory"};

  checked(claims, "top_k_4bit.py 6 sent", 0);
  const auto found = checked(claims, "top_k_4bit.py 6 selected", 4);

  EXPECT_THAT(violated(found), testing::ElementsAre("conservation"));
}

TEST_F(CompressorExample, PowerSgdTellsItsResidualAndKeepsAllLaws) {
  const auto found =
      checked({"--contraction", "0", "--memory", "--shape", "6x10"}, "powersgd.py 2", 0);

  EXPECT_EQ(law(found, "conservation")["verdict"], "holds");
}

TEST_F(CompressorExample, RandKIsUnbiasedAndItsOmegaIsDOverKLessOne) {
  const auto found = checked({"--k", "6", "--unbiased", "--omega", "9"}, "rand_k.py 6", 0);
  const auto closer = checked({"--k", "6", "--unbiased", "--omega", "8.5"}, "rand_k.py 6", 4);

  EXPECT_EQ(law(found, "unbiased")["verdict"], "holds");
  EXPECT_THAT(violated(closer), testing::ElementsAre("contraction"));
}

TEST_F(CompressorExample, OneThatEndsAtNanBreaksTheLawOfFiniteNumbersAndIsQuoted) {
  folder_.write("ends.py",
                "import frames\n"
                "import math\n"
                "while (request := frames.read_request()) is not None:\n"
                "    tensor, shape, x = request\n"
                "    if not all(map(math.isfinite, x)):\n"
                "        raise ValueError('cannot sort')\n"
                "    frames.write_answer(x, shape, frames.singles(x))\n");
  std::filesystem::copy(kCompressors / "frames.py", folder_.path() / "frames.py");

  const Finished finished =
      residuum_program({"check", "--json", "--", "python3", "ends.py"}, folder_.path());
  const auto found = nlohmann::json::parse(finished.out);

  EXPECT_EQ(finished.code, 4) << finished.err;
  EXPECT_THAT(violated(found), testing::ElementsAre("nan and inf"));
  EXPECT_THAT(law(found, "nan and inf")["explanation"].get<std::string>(),
              HasSubstr("no answer came: it ended with exit code 1; its last line on standard "
                        "error: ValueError: cannot sort"));
}

TEST_F(CompressorExample, OneForFiniteVectorsAloneIsGivenNoOthers) {
  folder_.write("ends.py",
                "import frames\n"
                "while (request := frames.read_request()) is not None:\n"
                "    tensor, shape, x = request\n"
                "    assert all(value - value == 0 for value in x)\n"
                "    frames.write_answer(x, shape, frames.singles(x))\n");
  std::filesystem::copy(kCompressors / "frames.py", folder_.path() / "frames.py");

  const Finished finished = residuum_program(
      {"check", "--finite-only", "--json", "--", "python3", "ends.py"}, folder_.path());

  EXPECT_EQ(finished.code, 0) << finished.err << finished.out;
  EXPECT_EQ(law(nlohmann::json::parse(finished.out), "nan and inf")["verdict"], "not looked at");
}

TEST_F(CompressorExample, PrintsATableOfLawsAndVerdicts) {
  const Finished finished = residuum_program(
      {"check", "--k", "6", "--", python_, (kCompressors / "top_k_signed.py").string(), "6"},
      folder_.path());

  EXPECT_EQ(finished.code, 4);
  EXPECT_THAT(finished.out, HasSubstr("contraction   violated       vector 'first entry alone'"));
  EXPECT_THAT(finished.out, HasSubstr("unbiased      not looked at  it is not claimed"));
}

}  // namespace
}  // namespace residuum
