// The sentence of a search gives the ratio that was found, undecided ones, and the confidence; the
// plan in a folder is read with suspicion.

#include "reports/analysis/search_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A folder whose runs end at 1 for dense training and 1 + `losses` for the ratios 10, 100 and
/// 1000, with a small spread over four seeds.
ResultFolder folder_of(const std::vector<double>& losses, const Json& changes = Json::object()) {
  ResultFolder folder;
  folder.path = "results/x";
  folder.search = {{"key", "sparsifier.density"},
                   {"values", {0.1, 0.01, 0.001}},
                   {"ratios", {10, 100, 1000}},
                   {"quantity", "loss"},
                   {"margin", 0.5},
                   {"relative", false},
                   {"alpha", 0.05},
                   {"looks", {4}},
                   {"order", "bisection"}};
  folder.search.update(changes);
  Json runs = Json::array();
  for (std::size_t method = 0; method < 4; ++method) {
    Json ids = Json::array();
    for (int seed = 1; seed <= 4; ++seed) {
      Run run;
      run.id = "m" + std::to_string(method) + "-s" + std::to_string(seed);
      run.state = "finished";
      const double spread = seed % 2 == 0 ? 0.001 : -0.001;
      const double loss = method == 0 ? 0 : losses[method - 1] + spread;
      run.status = {{"final", {{"loss", 1 + loss}}}};
      ids.push_back(run.id);
      folder.runs.push_back(run);
    }
    runs.push_back(ids);
  }
  folder.search["runs"] = runs;
  return folder;
}

std::string sentence(const ResultFolder& folder) { return sentence_of(*critical_ratio(folder)); }

// Deviation 0.002/sqrt(3), three degrees of freedom, error 0.05/3: t = 4.857, so +- 0.0028.
TEST(SearchSentence, NamesTheLargestRatioAndTheLossBeyondIt) {
  EXPECT_EQ(sentence(folder_of({0, 0.25, 2})),
            "largest compression with no significant loss: 100 of 10, 100, 1000; there the loss is "
            "0.25 [0.247, 0.253], n = 4; at 1000 the loss is 2 [2, 2], n = 4 (loss, a margin of "
            "0.5; all intervals hold together with probability 0.95 if differences are normal; the "
            "largest skewness seen is 0)");
}

TEST(SearchSentence, SaysThatNoneIsWithoutLoss) {
  EXPECT_THAT(sentence(folder_of({1, 2, 3})),
              HasSubstr("no compression of 10, 100, 1000 is without significant loss; at 10 the "
                        "loss is 1 ["));
}

TEST(SearchSentence, SaysWhatIsUndecidedAndWhereTheLossBegins) {
  const auto text = sentence(folder_of({0, 0.5, 2}, {{"margin", 0.5}}));
  EXPECT_THAT(text, HasSubstr("no significant loss: 10 of"));
  EXPECT_THAT(text, HasSubstr("; at 100 it is not decided: the loss is 0.5 ["));
  EXPECT_THAT(text, Not(HasSubstr("; at 1000"))) << "which was not looked at";
}

TEST(SearchSentence, SaysWithoutAMarginThatNoneWasFound) {
  const auto text = sentence(folder_of({0, 0, 1}, {{"margin", 0}}));
  EXPECT_THAT(text, HasSubstr("no significant loss: 100 of"));
  EXPECT_THAT(text, HasSubstr("there none was found: the loss is"));
  EXPECT_THAT(text, HasSubstr("no margin"));
}

TEST(SearchSentence, NamesADivergedRun) {
  auto folder = folder_of({0, 0, 1});
  folder.runs[4 * 3 + 1].state = "diverged";
  EXPECT_THAT(sentence(folder), HasSubstr("; at 1000 a run diverged, n = 4"));
}

TEST(SearchSentence, SaysThatTheSearchIsNotOverOrWhyItCannotBe) {
  auto folder = folder_of({0, 0, 1});
  folder.runs[4 * 2 + 1].state = "interrupted";
  EXPECT_EQ(sentence(folder), "the search for the largest compression is not over");
  folder.runs[4 * 2 + 1].state = "failed";
  EXPECT_THAT(sentence(folder), HasSubstr("is not decided: compression number 2 failed"));
}

TEST(SearchSentence, CallsValuesByTheirKey) {
  const auto text = sentence(folder_of(
      {0, 0, 1}, {{"key", "sparsifier.k"}, {"values", {20, 10, 5}}, {"ratios", Json::array()}}));
  EXPECT_THAT(text, HasSubstr("sparsifier.k = 10 of 20, 10, 5; there"));
}

TEST(SearchSentence, WarnsWhereLossesFallWithCompression) {
  EXPECT_THAT(sentence(folder_of({2, 1, 3})),
              HasSubstr("a weaker compression lost more than a stronger one"));
}

TEST(CriticalRatioOfAFolder, IsAbsentWithoutASearch) {
  auto folder = folder_of({0, 0, 0});
  folder.search = nullptr;
  EXPECT_FALSE(critical_ratio(folder).has_value());
}

TEST(CriticalRatioOfAFolder, RefusesAPlanThatTheProgramHasNotWritten) {
  const std::vector<Json> changes{{{"values", Json::array()}},
                                  {{"values", 3}},
                                  {{"alpha", 0}},
                                  {{"alpha", "x"}},
                                  {{"looks", Json::array()}},
                                  {{"looks", {4, 2}}},
                                  {{"looks", {-1}}},
                                  {{"looks", {1e300}}},
                                  {{"margin", -1}},
                                  {{"ratios", {10}}}};
  for (const auto& change : changes) {
    EXPECT_THROW(critical_ratio(folder_of({0, 0, 0}, change)), Error) << change;
  }
  auto folder = folder_of({0, 0, 0});
  folder.search["runs"] = "none";
  EXPECT_THROW(critical_ratio(folder), Error);
  folder.search = "search";
  EXPECT_THROW(critical_ratio(folder), Error);
}

}  // namespace
}  // namespace residuum::reports
