// The laws of compressors that speak of single answers. Those of expectations, of memory and of
// bytes have files of their own.

#include "assumptions/testing/compressor_laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "assumptions/testing/compressor_session.h"

namespace residuum::laws {
namespace {

std::size_t nonzeros(std::span<const float> x) {
  return static_cast<std::size_t>(
      std::count_if(x.begin(), x.end(), [](float value) { return value != 0; }));
}

bool all_finite(std::span<const float> x) {
  return std::all_of(x.begin(), x.end(), [](float value) { return std::isfinite(value); });
}

/// Everything that a deterministic compressor must repeat: each vector for a tensor of its own,
/// then several for one.
std::vector<std::vector<float>> transcript(CompressorSession& session) {
  constexpr std::uint32_t kSteps = 5;
  std::vector<std::vector<float>> outputs;
  for (const auto& [name, x] : single_accumulators(session.dimension())) {
    outputs.push_back(session.ask(name, x, name).output);
  }
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    const auto x = normal_singles(session.dimension(), step);
    outputs.push_back(session.ask("several", x, fmt::format("step {}", step)).output);
  }
  return outputs;
}

/// Returns the answers for one tensor in three steps, alone or with other tensors in between.
std::vector<std::vector<float>> steps_of_one(CompressorSession& session, bool alone) {
  constexpr std::uint32_t kSteps = 3;
  constexpr float kLoud = 1000;
  const std::size_t d = session.dimension();
  Tensor longer{.name = "longer", .shape = session.shape()};
  ++longer.shape.front();
  std::vector<std::vector<float>> outputs;
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    outputs.push_back(
        session.ask("a", normal_singles(d, step), fmt::format("step {}", step)).output);
    if (!alone) {
      auto loud = normal_singles(d, kSteps + step);
      std::for_each(loud.begin(), loud.end(), [](float& value) { value *= kLoud; });
      session.ask("b", loud, "loud");
      const auto other = normal_singles(entries_of(longer.shape), 2 * kSteps + step);
      session.ask(longer, other, "of another length");
    }
  }
  return outputs;
}

/// Names what the compressor makes of an entry that is no number; empty: as it should be.
std::string not_finite_fault(CompressorSession& session, float entry) {
  const std::size_t d = session.dimension();
  const std::size_t place = d / 2;
  auto x = normal_singles(d, 0);
  x[place] = entry;
  session.restart();
  const CompressorAnswer answer = session.try_fresh(x);
  if (answer.ended) {
    return fmt::format(
        "entry {} of the vector is {}, and no answer came: {}; it should pass it on, or answer "
        "that it refuses the vector",
        place,
        entry,
        answer.refusal);
  }
  if (answer.refusal.empty() && all_finite(answer.output)) {
    return fmt::format(
        "entry {} of the vector is {}, and the answer is finite: it should pass it on, or refuse "
        "the vector",
        place,
        entry);
  }
  const auto after = session.ask_fresh(normal_singles(d, 1), "after one that is not finite");
  if (!all_finite(after.output)) {
    return fmt::format("after {} in one tensor, the answer for another tensor is not finite",
                       entry);
  }
  return "";
}

}  // namespace

std::optional<double> contraction_of(const CompressorClaims& claims, std::size_t dimension) {
  if (claims.contraction || claims.omega || claims.unbiased || !claims.k) {
    return claims.contraction;
  }
  return static_cast<double>(*claims.k) / static_cast<double>(dimension);
}

LawFinding sparsity_finding(CompressorSession& session, const CompressorClaims& claims) {
  if (!claims.k) {
    return not_looked_at("sparsity", "no k is claimed");
  }
  std::size_t most = 0;
  for (const auto& [name, x] : single_accumulators(session.dimension())) {
    const std::size_t sent = nonzeros(session.ask_fresh(x, name).output);
    if (sent > *claims.k) {
      return {"sparsity",
              false,
              fmt::format("{}: {} entries are not zero, but k is {}",
                          vector_words(name, x.size()),
                          sent,
                          *claims.k)};
    }
    most = std::max(most, sent);
  }
  return {"sparsity", true, fmt::format("at most {} entries are not zero", most)};
}

LawFinding zero_finding(CompressorSession& session) {
  const std::vector<float> zero(session.dimension());
  const auto output = session.ask_fresh(zero, "zero").output;
  const auto other = std::find_if(output.begin(), output.end(), [](float a) { return a != 0; });
  if (other != output.end()) {
    return {"zero",
            false,
            fmt::format(
                "entry {} of the answer to the zero vector is {}", other - output.begin(), *other)};
  }
  return {"zero", true, "the zero vector comes back as it is"};
}

LawFinding finite_finding(CompressorSession& session) {
  for (const auto& [name, x] : single_accumulators(session.dimension())) {
    if (!all_finite(session.ask_fresh(x, name).output)) {
      return {"finite",
              false,
              fmt::format("{}: the answer is not finite", vector_words(name, x.size()))};
    }
  }
  return {"finite", true, "finite vectors have finite answers"};
}

LawFinding not_finite_finding(CompressorSession& session, const CompressorClaims& claims) {
  if (claims.finite_only) {
    return not_looked_at("nan and inf", "vectors are said to be finite");
  }
  for (const float entry :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::string fault = not_finite_fault(session, entry);
    if (!fault.empty()) {
      return {"nan and inf", false, std::move(fault)};
    }
  }
  return {"nan and inf", true, "they are passed on or refused"};
}

/// The share of |x|^2 that an answer may be off at tensors of d entries, where the claims say so. A
/// contraction that is given may be that of the usual shape, but is nowhere below 0.
std::optional<double> allowed_at(const CompressorClaims& claims, std::size_t d) {
  if (claims.random || claims.unbiased || claims.omega || !(claims.contraction || claims.k)) {
    return std::nullopt;
  }
  return claims.contraction ? 1 : 1 - static_cast<double>(*claims.k) / static_cast<double>(d);
}

/// Returns the fault of an answer for a longer tensor; empty: nothing.
std::string length_fault(std::span<const float> x,
                         std::span<const float> output,
                         const CompressorClaims& claims) {
  if (!all_finite(output)) {
    return "the answer is not finite";
  }
  if (claims.k && nonzeros(output) > *claims.k) {
    return fmt::format("{} entries are not zero, but k is {}", nonzeros(output), *claims.k);
  }
  const auto allowed = allowed_at(claims, x.size());
  const double error = distance_sq(x, output) / norm_sq_of(x);
  if (allowed && !(error <= *allowed * (1 + kSingleRounding) + kSingleRounding)) {
    return fmt::format("|x - C(x)|^2 = {:.6g} |x|^2, allowed is {:.6g} |x|^2", error, *allowed);
  }
  return "";
}

/// One-hot vectors show an index that does not fit its type, the others a buffer that is too short.
LawFinding lengths_finding(CompressorSession& session, const CompressorClaims& claims) {
  if (session.lengths().empty()) {
    return not_looked_at("lengths", "no tensors of other lengths are asked for");
  }
  constexpr std::array kShown{
      "all of one magnitude", "first entry alone", "last entry alone", "normal 1"};
  for (const std::size_t d : session.lengths()) {
    for (const auto& [name, x] : single_accumulators(d)) {
      if (std::find(kShown.begin(), kShown.end(), name) == kShown.end()) {
        continue;
      }
      const Tensor tensor{.name = fmt::format("{} of {}", name, d), .shape = {d}};
      const std::string fault = length_fault(x, session.ask(tensor, x, name).output, claims);
      if (!fault.empty()) {
        return {"lengths", false, fmt::format("{}: {}", vector_words(name, d), fault)};
      }
    }
  }
  return {"lengths",
          true,
          fmt::format("tensors of {} entries are answered as the others",
                      fmt::join(session.lengths(), " and "))};
}

LawFinding determinism_finding(CompressorSession& session, const CompressorClaims& claims) {
  if (claims.random) {
    return not_looked_at("determinism", "the compressor is said to draw at random");
  }
  const auto first = transcript(session);
  session.restart();
  const auto again = transcript(session);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!same_bits(first[i], again[i])) {
      const std::size_t entry = first_difference(first[i], again[i]);
      return {"determinism",
              false,
              fmt::format("request {}: entry {} of the answer is {}, and {} after a new start",
                          i + 1,
                          entry,
                          first[i][entry],
                          again[i][entry])};
    }
  }
  return {"determinism",
          true,
          fmt::format("{} answers have the same bits after a new start", first.size())};
}

LawFinding stateless_finding(CompressorSession& session, const CompressorClaims& claims) {
  if (claims.has_memory || claims.random) {
    return not_looked_at("stateless",
                         claims.has_memory ? "the compressor is said to have a memory"
                                           : "the compressor is said to draw at random");
  }
  for (const auto& [name, x] : single_accumulators(session.dimension())) {
    const auto first = session.ask(name, x, name).output;
    const auto again = session.ask(name, x, name).output;
    if (!same_bits(first, again)) {
      const std::size_t entry = first_difference(first, again);
      return {"stateless",
              false,
              fmt::format("{}: entry {} of the answer is {} and the second time {}; a residual of "
                          "its own must be said",
                          vector_words(name, x.size()),
                          entry,
                          first[entry],
                          again[entry])};
    }
  }
  return {"stateless", true, "the same vector twice has the same answer"};
}

LawFinding tensors_finding(CompressorSession& session, const CompressorClaims& claims) {
  const auto alone = steps_of_one(session, true);
  session.restart();
  const auto among_others = steps_of_one(session, false);
  const std::vector<float> zero(session.dimension());
  const auto silence = session.ask("unseen", zero, "zero").output;
  if (const std::size_t leaked = nonzeros(silence); leaked > 0) {
    return {"tensors",
            false,
            fmt::format("the answer to the zero vector of a tensor that was never seen has {} "
                        "entries of other tensors",
                        leaked)};
  }
  if (claims.random) {
    return {"tensors", true, "a tensor that was never seen has no memory of others"};
  }
  for (std::size_t step = 0; step < alone.size(); ++step) {
    if (!same_bits(alone[step], among_others[step])) {
      const std::size_t entry = first_difference(alone[step], among_others[step]);
      return {"tensors",
              false,
              fmt::format("step {} of tensor 'a': entry {} of the answer is {} when the tensor is "
                          "alone, and {} with others in between",
                          step + 1,
                          entry,
                          alone[step][entry],
                          among_others[step][entry])};
    }
  }
  return {"tensors", true, "no tensor changes the answers for another"};
}

std::vector<LawFinding> check_compressor(Compressor& compressor,
                                         const CompressorClaims& claims,
                                         const CompressorCases& cases,
                                         const std::function<void(std::string_view)>& begins) {
  const auto begin = [&](std::string_view law) {
    if (begins) {
      begins(law);
    }
  };
  begin("contraction");
  CompressorSession session(compressor, cases);
  std::vector<LawFinding> findings = expectation_findings(session, claims);
  const auto look = [&](std::string_view law, const auto& finding) {
    begin(law);
    session.restart();
    findings.push_back(finding());
  };
  look("conservation", [&] { return conservation_finding(session, claims); });
  look("sparsity", [&] { return sparsity_finding(session, claims); });
  look("zero", [&] { return zero_finding(session); });
  look("finite", [&] { return finite_finding(session); });
  look("nan and inf", [&] { return not_finite_finding(session, claims); });
  look("determinism", [&] { return determinism_finding(session, claims); });
  look("stateless", [&] { return stateless_finding(session, claims); });
  look("tensors", [&] { return tensors_finding(session, claims); });
  look("lengths", [&] { return lengths_finding(session, claims); });
  look("bytes", [&] { return bytes_finding(session, claims); });
  return findings;
}

}  // namespace residuum::laws
