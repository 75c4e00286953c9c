// The bytes that a compressor declares, against what its answers cannot do without.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/assumptions/testing/function_compressor.h"

namespace residuum::laws {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Top_6 that declares `declared` bytes for its message, and shows one of `shown` bytes.
FunctionCompressor::Rule saying(std::uint64_t declared, std::optional<std::uint64_t> shown) {
  return [=](Floats&, const Floats& x, RandomStream&) {
    CompressorAnswer answer = is_finite(x) ? answer_of(six_largest(x)) : refusal();
    answer.declared_bytes = declared;
    answer.message_bytes = shown;
    return answer;
  };
}

TEST(CompressorBytes, DeclaredBytesMustCarryWhatArrivesAndBeThoseOfTheMessage) {
  EXPECT_THAT(violated_by(saying(48, 48), top_six()), IsEmpty());
  EXPECT_THAT(violated_by(saying(48, 52), top_six()), ElementsAre("bytes"));
  EXPECT_THAT(violated_by(saying(19, std::nullopt), top_six()), IsEmpty());
  // Six float32 values of 30 random bits, less one as room for luck, are 150 bits: 19 bytes.
  EXPECT_THAT(violated_by(saying(18, std::nullopt), top_six()), ElementsAre("bytes"));
}

/// A rule whose messages are declared to have `declared` bytes.
FunctionCompressor::Rule saying_of(std::uint64_t declared,
                                   const std::function<Floats(const Floats&)>& rule) {
  return [=](Floats&, const Floats& x, RandomStream&) {
    CompressorAnswer answer = is_finite(x) ? answer_of(rule(x)) : refusal();
    answer.declared_bytes = declared;
    return answer;
  };
}

Floats signs_of(const Floats& x) {
  Floats signs(x.size());
  std::transform(x.begin(), x.end(), signs.begin(), [](float a) {
    return static_cast<float>(a > 0) - static_cast<float>(a < 0);
  });
  return signs;
}

TEST(CompressorBytes, AQuantisedAnswerTakesTheBytesThatItsNearnessNeeds) {
  CompressorClaims none;
  // 60 signs take 60 bits, so that no rule is accused of 8 bytes, and the cap of the sphere around
  // them, of sin^2 = 1 - 2/pi, leaves log2(sin^-59) = 43 bits a vector: 0 bytes are impossible.
  EXPECT_THAT(violated_by(saying_of(8, signs_of), none), IsEmpty());
  EXPECT_THAT(violated_by(saying_of(0, signs_of), none), ElementsAre("bytes"));
  EXPECT_THAT(violated_by(saying_of(2, signs_of), none), ElementsAre("bytes"));
  // A direction that arrives to 23.5 bits of each of 59 coordinates takes 173 bytes.
  const auto nearly = [](Floats sent) {
    std::for_each(sent.begin(), sent.end(), [](float& value) { value *= 0.999F; });
    return sent;
  };
  EXPECT_THAT(violated_by(saying_of(240, nearly), none), IsEmpty());
  EXPECT_THAT(violated_by(saying_of(165, nearly), none), ElementsAre("bytes"));
  // Random numbers that the receiver draws too do not tell the vector.
  CompressorClaims drawn = top_six();
  drawn.random = true;
  const auto six = [&](const Floats& x) { return nearly(six_largest(x)); };
  EXPECT_THAT(violated_by(saying_of(24, six), drawn), IsEmpty());
  EXPECT_THAT(violated_by(saying_of(0, six), drawn), ElementsAre("bytes"));
}

TEST(CompressorBytes, OneEntryThatIsRoundedExcusesNoOther) {
  const auto one_off = [](const Floats& x) {
    Floats sent = six_largest(x);
    const auto largest = std::max_element(
        sent.begin(), sent.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
    *largest = std::nextafter(*largest, 0.0F);
    return sent;
  };

  EXPECT_THAT(violated_by(saying_of(48, one_off), top_six()), IsEmpty());
  // Five float32 values of 30 random bits, less one, less log2 of the 6 choices: 117.4 bits.
  EXPECT_THAT(violated_by(saying_of(15, one_off), top_six()), IsEmpty());
  EXPECT_THAT(violated_by(saying_of(14, one_off), top_six()), ElementsAre("bytes"));
}

TEST(CompressorBytes, AnswersThatDifferAreNotAllOfNoBytes) {
  const auto sign_of_first = [](const Floats& x) {
    Floats sent(x.size());
    sent.front() = x.front() > 0 ? 1.0F : -1.0F;
    return sent;
  };
  const auto constant = [](const Floats& x) { return Floats(x.size()); };
  const auto bytes_verdict = [](const FunctionCompressor::Rule& rule) {
    FunctionCompressor compressor(rule);
    for (const auto& finding : check_compressor(compressor, CompressorClaims{})) {
      if (finding.law == "bytes") {
        return finding.holds;
      }
    }
    return std::optional<bool>();
  };

  EXPECT_EQ(bytes_verdict(saying_of(0, sign_of_first)), false);
  EXPECT_EQ(bytes_verdict(saying_of(1, sign_of_first)), true);
  EXPECT_EQ(bytes_verdict(saying_of(0, constant)), std::nullopt);
}

}  // namespace
}  // namespace residuum::laws
