// A theorem whose proof takes gradients at w_t, in lockstep, may not be applied to other protocols.

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tests/assumptions/theorems/support.h"

namespace residuum {
namespace {

using Names = std::vector<std::string_view>;

/// The theorems that were proved for workers that stay in step in this way.
Names proved_for(Synchrony synchrony) {
  switch (synchrony) {
    case Synchrony::lockstep:
      return {};
    case Synchrony::periodic:
      return {"local-sgd", "qsparse-local-sgd", "certificate-any-rule"};
    case Synchrony::late:
      return {"delayed", "concurrency", "delayed-convex", "ssp-regret"};
    case Synchrony::neighbours:
      return {"gossip", "gossip-certificate"};
  }
  return {};
}

bool names_the_protocol(const Bound& bound) {
  return std::any_of(
      bound.preconditions.begin(), bound.preconditions.end(), [](const Precondition& one) {
        return one.state == PreconditionState::not_met && one.detail == "protocol is another one";
      });
}

TEST(Theorems, AreAppliedOnlyToProtocolsThatTheyWereProvedFor) {
  for (const auto synchrony : {Synchrony::periodic, Synchrony::late, Synchrony::neighbours}) {
    RunFacts facts = test::plain_facts();
    facts.names.protocol = "another one";
    facts.protocol.synchrony = synchrony;
    const Evidence evidence = test::SteadyRun{.gradient = 1e-3}.evidence(facts);
    const Names proved = proved_for(synchrony);
    for (const auto& theorem : theorems()) {
      const Bound bound = theorem.evaluate(evidence);
      const bool fits = std::find(proved.begin(), proved.end(), theorem.name) != proved.end();
      EXPECT_EQ(names_the_protocol(bound), !fits) << theorem.name << ", " << name_of(synchrony);
      EXPECT_EQ(bound.has_verdict(), false) << theorem.name << ", " << name_of(synchrony);
    }
  }
}

}  // namespace
}  // namespace residuum
