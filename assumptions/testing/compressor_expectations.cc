// The laws of compressors about expectations: the contraction, or omega, and unbiasedness. If the
// compressor draws at random, both are judged by means over the same draws, at a risk of 1e-9 for
// each vector.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "assumptions/estimators/intervals.h"
#include "assumptions/testing/compressor_session.h"

namespace residuum::laws {
namespace {

/// The answers to one vector x, in units of |x|.
struct Draws {
  std::vector<double> errors;       // |C(x) - x|^2/|x|^2
  std::vector<double> projections;  // <C(x), x>/|x|^2
  double deviation = 0;             // |mean of C(x) - x|/|x|
};

Draws draws_of(CompressorSession& session, const NamedSingles& vector, std::size_t count) {
  const std::vector<float>& x = vector.values;
  const double total = norm_sq_of(x);
  std::vector<double> sum(x.size());
  Draws draws;
  for (std::size_t n = 0; n < count; ++n) {
    const auto output = session.ask_fresh(x, vector.name).output;
    double projection = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto value = static_cast<double>(output[i]);
      projection += value * static_cast<double>(x[i]);
      sum[i] += value - static_cast<double>(x[i]);
    }
    draws.errors.push_back(distance_sq(output, x) / total);
    draws.projections.push_back(projection / total);
  }
  double deviation = 0;
  for (const double lost : sum) {
    deviation += lost * lost;
  }
  draws.deviation = std::sqrt(deviation / total) / static_cast<double>(count);
  return draws;
}

std::string in_the_mean(std::size_t draws) {
  return draws > 1 ? fmt::format(" in the mean of {} draws", draws) : "";
}

/// Names the vector whose error is above |x|^2 times `allowed`; empty: it is not.
std::string error_fault(const Draws& draws, double allowed) {
  const DrawnMean ratio = drawn_mean(draws.errors);
  if (ratio.value - ratio.room <= allowed * (1 + kSingleRounding) + kSingleRounding) {
    return "";
  }
  return fmt::format("|x - C(x)|^2 = {:.6g} |x|^2{}, allowed is {:.6g} |x|^2",
                     ratio.value,
                     in_the_mean(draws.errors.size()),
                     allowed);
}

/// The mean of <C(x), x> is seen to a few per mille. The rest of the bias is a vector, whose mean
/// of n draws is within 2 R l/n + sqrt(2 s^2 l/n) of its expectation, l = log(2/risk), for draws
/// within R of it whose mean square distance is s^2 (Pinelis; Smale and Zhou 2007, lemma 2).
std::string bias_fault(const Draws& draws) {
  const auto n = static_cast<double>(draws.errors.size());
  const DrawnMean along = drawn_mean(draws.projections);
  if (!(std::abs(along.value - 1) <= along.room + kSingleRounding)) {
    return fmt::format("<C(x), x> = {:.6g} |x|^2{}, and |x|^2 +- {:.2g} is expected",
                       along.value,
                       in_the_mean(draws.errors.size()),
                       along.room);
  }
  const DrawnMean error = drawn_mean(draws.errors);
  const double radius = std::sqrt(*std::max_element(draws.errors.begin(), draws.errors.end()));
  const double room = 2 * radius * kLogRisk / n +
                      std::sqrt(2 * (error.value + error.room) * kLogRisk / n) + kSingleRounding;
  if (!(draws.deviation <= room)) {
    return fmt::format("the mean of {} draws is {:.6g} |x| from x, and {:.2g} |x| is expected",
                       draws.errors.size(),
                       draws.deviation,
                       room);
  }
  return "";
}

std::optional<double> allowed_error(const CompressorClaims& claims, std::size_t dimension) {
  const auto contraction = contraction_of(claims, dimension);
  return contraction ? 1 - *contraction : claims.omega;
}

/// The first fault that was seen of each law, empty for none, and the largest error.
struct ExpectationFaults {
  std::string error;
  std::string bias;
  double largest_error = 0;  // |C(x) - x|^2/|x|^2, the mean of draws
  std::string largest_at;    // the vector
};

ExpectationFaults expectation_faults(CompressorSession& session,
                                     const CompressorClaims& claims,
                                     std::optional<double> allowed,
                                     std::size_t count) {
  ExpectationFaults first;
  const auto note = [](std::string& fault, const NamedSingles& vector, const std::string& found) {
    if (fault.empty() && !found.empty()) {
      fault = fmt::format("{}: {}", vector_words(vector.name, vector.values.size()), found);
    }
  };
  for (const auto& vector : single_accumulators(session.dimension())) {
    if (norm_sq_of(vector.values) == 0) {
      continue;
    }
    const Draws draws = draws_of(session, vector, count);
    const double error = drawn_mean(draws.errors).value;
    if (first.largest_at.empty() || error > first.largest_error) {
      first.largest_error = error;
      first.largest_at = vector_words(vector.name, vector.values.size());
    }
    if (allowed) {
      note(first.error, vector, error_fault(draws, *allowed));
    }
    if (claims.unbiased) {
      note(first.bias, vector, bias_fault(draws));
    }
  }
  return first;
}

LawFinding finding_of(std::string law, const std::string& fault, const std::string& otherwise) {
  return {.law = std::move(law),
          .holds = fault.empty(),
          .explanation = fault.empty() ? otherwise : fault};
}

}  // namespace

std::vector<LawFinding> expectation_findings(CompressorSession& session,
                                             const CompressorClaims& claims) {
  const auto allowed = allowed_error(claims, session.dimension());
  LawFinding unbiased = not_looked_at("unbiased", "it is not claimed");
  const bool draws = claims.unbiased || (claims.random && allowed);
  const std::size_t count = draws ? session.draws() : 1;
  const auto faults = expectation_faults(session, claims, allowed, count);
  const std::string measured = fmt::format("measured {:.6g} |x|^2{}, of {}",
                                           faults.largest_error,
                                           in_the_mean(count),
                                           faults.largest_at);
  LawFinding contraction = not_looked_at(
      "contraction",
      "no k of a biased rule, no contraction and no omega; |x - C(x)|^2 is " + measured);
  if (allowed) {
    contraction =
        finding_of("contraction",
                   faults.error,
                   fmt::format("|x - C(x)|^2 is at most {:.6g} |x|^2; {}", *allowed, measured));
  }
  if (claims.unbiased) {
    unbiased = finding_of("unbiased", faults.bias, fmt::format("C(x) is x{}", in_the_mean(count)));
  }
  return {contraction, unbiased};
}

}  // namespace residuum::laws
