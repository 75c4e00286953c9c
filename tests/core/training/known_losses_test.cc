// A method names what it loses by design, and conserves where it names nothing.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;
using Losses = std::vector<std::string>;

Losses losses_of(const Json& aggregator, const Json& feedback, bool sends_everything = false) {
  constexpr int kWorkers = 4;
  const Recipe recipe{.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                      .aggregator = aggregator,
                      .feedback = feedback,
                      .quantiser = {{"kind", "table"}}};
  const Method method = test::method_of(recipe, 12);
  const Losses losses = method.known_losses(sends_everything, kWorkers);
  EXPECT_EQ(method.conserves(sends_everything, kWorkers), losses.empty());
  return losses;
}

const Json kAllGather{{"kind", "allgather"}};
const Json kSenders{{"kind", "allgather"}, {"weighting", "senders"}};

TEST(KnownLosses, AreThoseOfTheFeedbackAndOfTheAggregator) {
  EXPECT_EQ(losses_of(kAllGather, {{"kind", "ef14"}}), Losses());
  EXPECT_EQ(losses_of(kAllGather, {{"kind", "ef14"}, {"decay", 0.5}}), (Losses{"residuals decay"}));
  EXPECT_EQ(losses_of(kSenders, {{"kind", "ef14"}, {"decay", 0.5}}),
            (Losses{"residuals decay", "messages are weighed after residuals were updated"}));
  EXPECT_EQ(losses_of(kAllGather, {{"kind", "ef14"}, {"clears", "selected"}}),
            (Losses{"residuals ignore what a quantiser rounds"}));
  EXPECT_EQ(losses_of({{"kind", "gtopk-tree"}}, {{"kind", "ef14"}}), Losses());
  EXPECT_EQ(losses_of({{"kind", "gtopk-tree"}}, {{"kind", "ef14"}, {"putback", "published"}}),
            (Losses{"the put-back rule does not return all that was dropped"}));
  EXPECT_EQ(losses_of(kAllGather, {{"kind", "none"}}), (Losses{"what is not sent is forgotten"}));
  EXPECT_EQ(losses_of(kAllGather, {{"kind", "none"}}, /*sends_everything=*/true), Losses());
}

}  // namespace
}  // namespace residuum
