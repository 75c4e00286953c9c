#pragma once
// GoogleTest matchers for tests of one's own components and runs; link residuum::testing.
//
//   EXPECT_THAT(*sparsifier, IsContractive(0.1));
//   EXPECT_THAT(laws::method_of(...), ConservesMass());
//   EXPECT_THAT(accumulators, SatisfiesGTopKAssumption("gtopk-exact", 3));
//
// A mismatch is explained by the case that speaks against the law.

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <utility>

#include "assumptions/testing/certificate.h"
#include "assumptions/testing/laws.h"

namespace residuum {

/// Failing tests print this in place of the object's bytes.
inline void PrintTo(const Sparsifier& /*sparsifier*/, std::ostream* out) { *out << "a sparsifier"; }
inline void PrintTo(const Method& /*method*/, std::ostream* out) { *out << "a method"; }
namespace laws {
inline void PrintTo(const RecordedRun& run, std::ostream* out) {
  *out << "a run of " << run.step_size.size() << " iterations";
}
}  // namespace laws

namespace matchers {

/// Matches a subject for which the law, a function from subject to Finding, holds.
template <class Law>
class LawMatcher {
 public:
  using is_gtest_matcher = void;

  LawMatcher(std::string law, Law look) : law_(std::move(law)), look_(std::move(look)) {}

  template <class Subject>
  bool MatchAndExplain(const Subject& subject, std::ostream* explanation) const {
    const laws::Finding finding = look_(subject);
    if (explanation != nullptr) {
      *explanation << finding.explanation;
    }
    return finding.holds;
  }
  void DescribeTo(std::ostream* out) const { *out << law_; }
  void DescribeNegationTo(std::ostream* out) const { *out << "not (" << law_ << ")"; }

 private:
  std::string law_;
  Law look_;
};

/// A Sparsifier with E|a - C(a)|^2 <= (1 - alpha) |a|^2.
inline auto IsContractive(double alpha, std::size_t dimension = 60) {
  return LawMatcher(fmt::format("E|a - C(a)|^2 <= (1 - {}) |a|^2", alpha),
                    [=](const Sparsifier& sparsifier) {
                      return laws::is_contractive(sparsifier, alpha, dimension);
                    });
}

/// A Sparsifier whose messages are sound and which does what its `law` says.
inline auto KeepsItsLaw(std::size_t dimension = 60) {
  return LawMatcher("keeps its own law", [=](const Sparsifier& sparsifier) {
    return laws::keeps_its_law(sparsifier, dimension);
  });
}

/// A Method under which nothing is ever lost, whatever the number of workers.
inline auto ConservesMass(std::size_t dimension = 24) {
  return LawMatcher("residuals and update add up to the accumulators",
                    [=](const Method& method) { return laws::conserves_mass(method, dimension); });
}

/// Accumulators, one per worker, with delta <= 1 under Top_k messages and this aggregator.
inline auto SatisfiesGTopKAssumption(std::string aggregator, std::int64_t k) {
  const std::string law = fmt::format("delta <= 1 with {} and k = {}", aggregator, k);
  return LawMatcher(law, [aggregator = std::move(aggregator), k](const laws::Vectors& vectors) {
    return laws::satisfies_gtopk_assumption(vectors, aggregator, k);
  });
}

/// Accumulators, one per worker, of which one step loses nothing.
inline auto HasNoLostMass(std::string aggregator, std::int64_t k, std::string put_back) {
  const std::string law =
      fmt::format("nothing is lost with {}, k = {} and put-back {}", aggregator, k, put_back);
  return LawMatcher(law,
                    [aggregator = std::move(aggregator), k, put_back = std::move(put_back)](
                        const laws::Vectors& vectors) {
                      return laws::has_no_lost_mass(vectors, aggregator, k, put_back);
                    });
}

/// A laws::RecordedRun whose average |grad f|^2 is at most its certificate.
inline auto StaysUnderCertificate() {
  return LawMatcher("|grad f|^2 stays under the certificate", [](const laws::RecordedRun& run) {
    return laws::stays_under_certificate(run);
  });
}

}  // namespace matchers
}  // namespace residuum
