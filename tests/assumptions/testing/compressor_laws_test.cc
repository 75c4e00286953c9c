// The laws of compressors on compressors whose faults are known.

#include "assumptions/testing/compressor_laws.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "assumptions/testing/compressor_memory.h"
#include "core/error.h"
#include "tests/assumptions/testing/function_compressor.h"

namespace residuum::laws {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Error feedback around Top_6; `kept` is the vector that the memory takes for sent.
FunctionCompressor::Rule with_memory(const std::function<Floats(const Floats&)>& sent,
                                     const std::function<Floats(const Floats&)>& kept) {
  return [=](Floats& memory, const Floats& x, RandomStream&) {
    if (!is_finite(x)) {
      return refusal();
    }
    std::transform(x.begin(), x.end(), memory.begin(), memory.begin(), std::plus<>());
    const Floats output = sent(memory);
    const Floats gone = kept(memory);
    std::transform(memory.begin(), memory.end(), gone.begin(), memory.begin(), std::minus<>());
    return answer_of(output);
  };
}

/// Rand_6 of 60 entries, those that are drawn times `scale`; 10 makes it unbiased.
FunctionCompressor::Rule rand_six(float scale) {
  return [scale](Floats&, const Floats& x, RandomStream& random) {
    Floats left = x;
    Floats kept(x.size());
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::uint32_t i = 0; i < 6; ++i) {
      std::swap(order[i], order[i + random.below(static_cast<std::uint32_t>(x.size()) - i)]);
      kept[order[i]] = scale * x[order[i]];
    }
    return is_finite(x) ? answer_of(kept) : refusal();
  };
}

CompressorClaims remembering_six() {
  CompressorClaims claims = top_six();
  claims.has_memory = true;
  return claims;
}

CompressorClaims drawing(bool unbiased) {
  CompressorClaims claims = top_six();
  claims.random = true;
  claims.unbiased = unbiased;
  return claims;
}

TEST(CompressorLaws, TopKKeepsThemAllWithAndWithoutMemory) {
  EXPECT_THAT(violated_by(stateless(six_largest), top_six()), IsEmpty());
  EXPECT_THAT(violated_by(with_memory(six_largest, six_largest), remembering_six()), IsEmpty());
}

TEST(CompressorLaws, TopKOfTheValuesInPlaceOfTheirMagnitudesIsNoContraction) {
  FunctionCompressor signed_top_k(stateless([](const Floats& x) {
    Floats positive = x;
    std::replace_if(
        positive.begin(), positive.end(), [](float a) { return a < 0; }, 0.0F);
    return six_largest(positive);
  }));

  const auto findings = check_compressor(signed_top_k, top_six());

  EXPECT_THAT(violated(findings), ElementsAre("contraction"));
  EXPECT_THAT(
      explanation_of(findings, "contraction"),
      HasSubstr("'first entry alone' of 60 entries: |x - C(x)|^2 = 1 |x|^2, allowed is 0.9"));
}

TEST(CompressorLaws, MassThatTheMemoryForgetsShowsOnceZerosHaveDrainedIt) {
  const auto halves = [](const Floats& x) {
    Floats sent = six_largest(x);
    std::for_each(sent.begin(), sent.end(), [](float& value) { value *= 0.75F; });
    return sent;
  };
  CompressorClaims claims = remembering_six();
  claims.contraction = 0.09;  // 1 - (1 - 0.75)^2 of a tenth is 0.09375

  EXPECT_THAT(violated_by(with_memory(halves, halves), claims), IsEmpty());
  EXPECT_THAT(violated_by(with_memory(halves, six_largest), claims), ElementsAre("conservation"));
}

TEST(CompressorLaws, AResidualThatIsToldMustBeInputsLessOutputs) {
  const auto telling = [](float factor) {
    const auto inner = with_memory(six_largest, six_largest);
    return FunctionCompressor::Rule([=](Floats& memory, const Floats& x, RandomStream& random) {
      CompressorAnswer answer = inner(memory, x, random);
      answer.residual = memory;
      std::for_each(answer.residual.begin(), answer.residual.end(), [=](float& e) { e *= factor; });
      return answer;
    });
  };

  EXPECT_THAT(violated_by(telling(1), remembering_six()), IsEmpty());
  EXPECT_THAT(violated_by(telling(1.001F), remembering_six()), ElementsAre("conservation"));
}

TEST(CompressorLaws, ADecayOfTheMemoryIsALossThatMustBeSaid) {
  const auto decaying = [](Floats& memory, const Floats& x, RandomStream& random) {
    std::for_each(memory.begin(), memory.end(), [](float& e) { e *= 0.5F; });
    CompressorAnswer answer = with_memory(six_largest, six_largest)(memory, x, random);
    answer.residual = memory;
    return answer;
  };
  CompressorClaims claims = remembering_six();

  EXPECT_THAT(violated_by(decaying, claims), ElementsAre("conservation"));
  claims.decay = 0.5;
  EXPECT_THAT(violated_by(decaying, claims), IsEmpty());
}

TEST(CompressorLaws, RandKScaledIsUnbiasedAndUnscaledIsAContraction) {
  EXPECT_THAT(violated_by(rand_six(10), drawing(true)), IsEmpty());
  EXPECT_THAT(violated_by(rand_six(1), drawing(false)), IsEmpty());
  EXPECT_THAT(violated_by(rand_six(1), drawing(true)), ElementsAre("unbiased"));
  EXPECT_THAT(violated_by(rand_six(9), drawing(true)), ElementsAre("unbiased"));
}

TEST(CompressorLaws, OmegaOfRandKIsDOverKLessOne) {
  CompressorClaims claims = drawing(true);

  claims.omega = 9;
  EXPECT_THAT(violated_by(rand_six(10), claims), IsEmpty());
  claims.omega = 8;
  EXPECT_THAT(violated_by(rand_six(10), claims), ElementsAre("contraction"));
}

TEST(CompressorLaws, AnOmegaBesideAKIsTheClaim) {
  CompressorClaims claims = top_six();

  // Top_6 leaves nine tenths of 60 entries of one magnitude.
  claims.omega = 0.9;
  EXPECT_THAT(violated_by(stateless(six_largest), claims), IsEmpty());
  claims.omega = 0.8;
  EXPECT_THAT(violated_by(stateless(six_largest), claims), ElementsAre("contraction"));
}

TEST(CompressorLaws, DrawsThatAreNotSaidAreSeen) {
  EXPECT_THAT(violated_by(rand_six(1), CompressorClaims{}),
              ElementsAre("determinism", "stateless", "tensors"));
}

TEST(CompressorLaws, AMemoryThatTensorsShareIsALeak) {
  FunctionCompressor shared(
      [](Floats& memory, const Floats& x, RandomStream& random) {
        return with_memory(six_largest, six_largest)(memory, x, random);
      },
      true);
  CompressorClaims claims;
  claims.has_memory = true;

  const auto findings = check_compressor(shared, claims);

  EXPECT_THAT(explanation_of(findings, "tensors"), HasSubstr("6 entries of other tensors"));
  EXPECT_THAT(violated(findings), testing::Contains("tensors"));
}

TEST(CompressorLaws, AMemoryThatIsNotSaidIsSeen) {
  EXPECT_THAT(violated_by(with_memory(six_largest, six_largest), top_six()),
              ElementsAre("stateless"));
}

TEST(CompressorLaws, ANanThatVanishesIsAFault) {
  const auto dropping = [](Floats&, const Floats& x, RandomStream&) {
    Floats clean = x;
    std::replace_if(
        clean.begin(), clean.end(), [](float a) { return !std::isfinite(a); }, 0.0F);
    return answer_of(six_largest(clean));
  };
  const auto passing = [](Floats&, const Floats& x, RandomStream&) { return answer_of(x); };

  EXPECT_THAT(violated_by(dropping, top_six()), ElementsAre("nan and inf"));
  EXPECT_THAT(violated_by(passing, CompressorClaims{}), IsEmpty());
  CompressorClaims finite = top_six();
  finite.finite_only = true;
  EXPECT_THAT(violated_by(dropping, finite), IsEmpty());
}

// An index of two bytes takes entry 69999 for entry 4463, one of a byte entry 299 for entry 43.
TEST(CompressorLaws, AnIndexThatDoesNotFitItsTypeShowsInLongTensors) {
  const auto with_indices_below = [](std::size_t limit) {
    return stateless([limit](const Floats& x) {
      const Floats kept = six_largest(x);
      Floats placed(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (kept[i] != 0) {
          placed[i % limit] = kept[i];
        }
      }
      return placed;
    });
  };
  for (const auto& [limit, d] : {std::pair(256, 300), {65536, 70000}}) {
    FunctionCompressor compressor(with_indices_below(static_cast<std::size_t>(limit)));
    EXPECT_THAT(violated(check_compressor(compressor, top_six())), IsEmpty());

    const auto findings = check_compressor(compressor, top_six(), {.lengths = {300, 70000}});

    EXPECT_THAT(violated(findings), ElementsAre("lengths"));
    EXPECT_THAT(explanation_of(findings, "lengths"),
                HasSubstr(fmt::format("'last entry alone' of {} entries: |x - C(x)|^2 = 2", d)));
  }
}

TEST(CompressorLaws, TheContractionIsMeasuredWithItsVector) {
  FunctionCompressor top_k(stateless(six_largest));
  // Six of 60 equal magnitudes are a tenth of their energy: nothing is worse for Top-6.
  EXPECT_EQ(explanation_of(check_compressor(top_k, top_six()), "contraction"),
            "|x - C(x)|^2 is at most 0.9 |x|^2; measured 0.9 |x|^2, of vector 'all of one "
            "magnitude' of 60 entries");
  EXPECT_THAT(explanation_of(check_compressor(top_k, CompressorClaims{}), "contraction"),
              HasSubstr("no omega; |x - C(x)|^2 is measured 0.9 |x|^2, of vector 'all of one"));
}

TEST(CompressorLaws, AnEndInPlaceOfAnAnswerIsNoRefusal) {
  FunctionCompressor ending([](Floats&, const Floats& x, RandomStream&) {
    CompressorAnswer answer = is_finite(x) ? answer_of(six_largest(x)) : refusal();
    answer.refusal += answer.refusal.empty() ? "" : ": it ended";
    answer.ended = !answer.refusal.empty();
    return answer;
  });

  const auto findings = check_compressor(ending, top_six());

  EXPECT_THAT(violated(findings), ElementsAre("nan and inf"));
  EXPECT_THAT(explanation_of(findings, "nan and inf"),
              HasSubstr("entry 30 of the vector is nan, and no answer came: not finite: it ended"));
}

TEST(CompressorLaws, AnAnswerThatIsNotFiniteBreaksFiniteAndContraction) {
  const auto dividing = stateless([](const Floats& x) {
    Floats kept = six_largest(x);
    const float sum = std::accumulate(x.begin(), x.end(), 0.0F);
    kept.front() += 0 / sum;  // nan for alternating signs and for zero
    return kept;
  });

  EXPECT_THAT(violated_by(dividing, top_six()),
              ElementsAre("contraction", "zero", "finite", "tensors"));
}

TEST(CompressorLaws, MoreThanKEntriesAndAnswersToZeroAreSeen) {
  const auto noisy = stateless([](const Floats& x) {
    Floats kept = six_largest(x);
    kept[0] += kept[0] == 0 ? 1e-20F : 0;
    return kept;
  });

  EXPECT_THAT(violated_by(noisy, top_six()), testing::IsSupersetOf({"sparsity", "zero"}));
}

TEST(CompressorLaws, ClaimsThatAreNotMadeAreNotLookedAtAndSayWhy) {
  FunctionCompressor identity([](Floats&, const Floats& x, RandomStream&) { return answer_of(x); });

  for (const auto& finding : check_compressor(identity, CompressorClaims{})) {
    const bool needs_a_claim = finding.law == "contraction" || finding.law == "unbiased" ||
                               finding.law == "sparsity" || finding.law == "conservation" ||
                               finding.law == "lengths" || finding.law == "bytes";
    EXPECT_EQ(finding.holds.has_value(), !needs_a_claim) << finding.law;
    EXPECT_FALSE(finding.explanation.empty()) << finding.law;
  }
}

TEST(CompressorLaws, ARefusedFiniteVectorIsAnErrorThatNamesIt) {
  FunctionCompressor refusing([](Floats&, const Floats&, RandomStream&) { return refusal(); });

  try {
    check_compressor(refusing, top_six());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(),
                HasSubstr("no answer to vector 'all of one magnitude' of 60 entries"));
  }
}

TEST(ConservationWatch, BoundsTheResidualByTheContractionStepByStep) {
  // With contraction 0.75, |e_1| <= |g|/2 and after a zero vector |e_2| <= |g|/4.
  const auto second = [](float kept) {
    const Floats one{1};
    const Floats half{0.5};
    const Floats zero{0};
    const Floats rest{0.5F - kept};
    ConservationWatch watch(0.75, 1, false, 1);
    EXPECT_EQ(watch.step({.input = one, .output = half, .told_residual = {}}), "");
    return watch.step({.input = zero, .output = rest, .told_residual = {}});
  };

  EXPECT_EQ(second(0.25), "");
  EXPECT_THAT(second(0.26F), HasSubstr("norm 0.26, and a residual has at most 0.25"));
}

TEST(CompressedPairs, AreJudgedRowByRow) {
  CompressorClaims claims;
  claims.k = 1;
  using Rows = std::vector<std::vector<double>>;
  const Rows inputs{{3, 1}, {-3, 1}, {0, 0}, {3, 1}};

  EXPECT_THAT(
      violated(check_compressed_pairs(inputs, Rows{{3, 0}, {-3, 0}, {0, 0}, {3, 0}}, claims)),
      IsEmpty());
  EXPECT_THAT(
      violated(check_compressed_pairs(inputs, Rows{{3, 0}, {0, 1}, {0, 0}, {3, 0}}, claims)),
      ElementsAre("contraction"));
  EXPECT_THAT(
      violated(check_compressed_pairs(inputs, Rows{{3, 1}, {-3, 0}, {0, 1}, {3, 0}}, claims)),
      ElementsAre("contraction", "sparsity", "zero", "determinism"));
  EXPECT_THROW(check_compressed_pairs(inputs, Rows{{1, 2}}, claims), Error);
}

TEST(CompressedPairs, WithAMemoryAreTheStepsOfOneTensor) {
  CompressorClaims claims;
  claims.contraction = 0.5;
  claims.has_memory = true;
  using Rows = std::vector<std::vector<double>>;
  const Rows inputs{{3, 1}, {0, 0}, {0, 0}};

  EXPECT_THAT(violated(check_compressed_pairs(inputs, Rows{{3, 0}, {0, 1}, {0, 0}}, claims)),
              IsEmpty());
  // The entry that was not sent is 1, and |(3, 1)|/2^(3/2) = 1.118 after three steps: a step more.
  const Rows longer{{3, 1}, {0, 0}, {0, 0}, {0, 0}};
  EXPECT_THAT(
      violated(check_compressed_pairs(longer, Rows{{3, 0}, {0, 0}, {0, 0}, {0, 0}}, claims)),
      ElementsAre("conservation"));
}

TEST(CompressedPairs, SayNothingOfAMemoryThatHasNotBeenDrained) {
  CompressorClaims claims;
  claims.contraction = 0.5;
  claims.has_memory = true;
  using Rows = std::vector<std::vector<double>>;
  Rows inputs{{3, 1}};
  Rows forgetful{{3, 0}};
  Rows right{{3, 0}};
  const auto conservation = [&](const Rows& outputs) {
    return check_compressed_pairs(inputs, outputs, claims).at(1);
  };

  EXPECT_EQ(conservation(forgetful).holds, std::nullopt);
  // Each row halves the square of the bound: 1e-12 takes 39.9 of them.
  EXPECT_THAT(conservation(forgetful).explanation, HasSubstr("it takes 40 more"));
  inputs.resize(40, {0, 0});
  right.push_back({0, 1});
  right.resize(40, {0, 0});
  forgetful.resize(40, {0, 0});
  EXPECT_EQ(conservation(right).holds, std::nullopt);
  EXPECT_EQ(conservation(forgetful).holds, false);
  inputs.push_back({0, 0});
  right.push_back({0, 0});
  EXPECT_EQ(conservation(right).holds, true);
}

TEST(CompressorLaws, AContractionThatDrainsTooSlowlyShowsNoConservation) {
  CompressorClaims claims = remembering_six();
  claims.contraction = 1e-5;
  FunctionCompressor remembering(with_memory(six_largest, six_largest));

  EXPECT_THAT(explanation_of(check_compressor(remembering, claims), "conservation"),
              HasSubstr("20020 steps are too few"));
}

}  // namespace
}  // namespace residuum::laws
