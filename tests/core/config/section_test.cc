#include "core/config/section.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config/registry.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using test::error_of;
using test::Json;

/// A section as it comes from a file: [sparsifier] with one key at s.toml:14:3.
Section placed(const std::string& key, const Json& value) {
  return Section::with_places("sparsifier", {{key, {.value = value, .place = "s.toml:14:3"}}});
}

TEST(Section, ReadsValuesOfTheirTypes) {
  const Section section("s", {{"x", 0.5}, {"n", -3}, {"on", true}, {"word", "w"}, {"list", {1}}});

  EXPECT_EQ(section.number("x"), 0.5);
  EXPECT_EQ(section.number("n"), -3.0);
  EXPECT_EQ(section.integer("n"), -3);
  EXPECT_TRUE(section.flag("on"));
  EXPECT_EQ(section.text("word"), "w");
  EXPECT_EQ(section.choice("word", {"v", "w"}), "w");
  EXPECT_EQ(section.any("list"), Json({1}));
  EXPECT_EQ(section.name(), "s");
  EXPECT_NO_THROW(section.finish());
}

TEST(Section, FallsBackWhereAKeyIsMissingAndRecordsWhatWasRead) {
  const Section section("s", {{"k", 3}, {"unread", 1}});
  section.integer("k", 5);
  EXPECT_EQ(section.number("x", 0.25), 0.25);
  EXPECT_EQ(section.integer("n", 7), 7);
  EXPECT_FALSE(section.flag("on", false));
  EXPECT_EQ(section.choice("mask", {"a", "b"}, "b"), "b");
  EXPECT_EQ(section.any("every", 1), 1);

  EXPECT_EQ(section.resolved(),
            Json({{"k", 3}, {"x", 0.25}, {"n", 7}, {"on", false}, {"mask", "b"}, {"every", 1}}));
}

TEST(Section, NamesTheMissingKey) {
  const Section section("step", Json::object());

  EXPECT_EQ(error_of([&] { section.number("value"); }), "missing key 'step.value'");
  EXPECT_EQ(error_of([&] { section.any("value"); }), "missing key 'step.value'");
}

TEST(Section, NamesPlaceKeyAndWantedTypeOfAWrongValue) {
  EXPECT_EQ(error_of([] { placed("x", "ten").number("x"); }),
            "'sparsifier.x' at s.toml:14:3 must be a finite number, got \"ten\"");
  EXPECT_EQ(error_of([] { placed("x", 1.5).integer("x"); }),
            "'sparsifier.x' at s.toml:14:3 must be a whole number, got 1.5");
  EXPECT_EQ(error_of([] { placed("x", 1).flag("x"); }),
            "'sparsifier.x' at s.toml:14:3 must be true or false, got 1");
  EXPECT_EQ(error_of([] { placed("x", Json({1})).text("x"); }),
            "'sparsifier.x' at s.toml:14:3 must be a text, got [1]");
}

TEST(Section, AcceptsNoInfinityNoNanAndNoWholeNumberBeyond63Bits) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_NE(error_of([&] { placed("x", infinity).number("x"); }), "");
  EXPECT_NE(error_of([&] { placed("x", infinity - infinity).number("x"); }), "");
  EXPECT_NE(error_of([] { placed("x", std::uint64_t{1} << 63).integer("x"); }), "");
  EXPECT_EQ(placed("x", (std::uint64_t{1} << 63) - 1).integer("x"),
            std::numeric_limits<std::int64_t>::max());
}

TEST(Section, AnswersAnUnknownValueWithTheNearest) {
  EXPECT_EQ(error_of([] {
              placed("kind", "topk").choice("kind", {"none", "top-k"});
            }),
            "unknown value 'topk' of 'sparsifier.kind' at s.toml:14:3; did you mean 'top-k'?");
  EXPECT_EQ(error_of([] {
              placed("kind", "zebra").choice("kind", {"none", "top-k"});
            }),
            "unknown value 'zebra' of 'sparsifier.kind' at s.toml:14:3; known: none, top-k");
}

TEST(Section, RejectsKeysThatNobodyRead) {
  const Section section = placed("densty", 0.1);
  section.integer("k", 1);
  section.number("density", 1);

  EXPECT_EQ(error_of([&] { section.finish(); }),
            "unknown key 'sparsifier.densty' at s.toml:14:3; did you mean 'sparsifier.density'?");
}

TEST(Section, AcceptsAKeyThatWasAskedFor) {
  const Section section("s", {{"k", 3}});
  EXPECT_TRUE(section.has("k"));
  EXPECT_FALSE(section.has("density"));
  EXPECT_NO_THROW(section.finish());
  EXPECT_EQ(section.known(), (std::vector<std::string>{"k", "density"}));
  EXPECT_EQ(section.resolved(), Json::object()) << "it was not read";
}

TEST(Section, ReadsKeysOfAFeatureWhereItIsUsedAlone) {
  const Section section("s", {{"step", 0.5}, {"at", "worker"}, {"from", "1/P"}});
  const auto off = section.if_used(false);
  EXPECT_EQ(off.number("step"), std::nullopt);
  EXPECT_EQ(off.choice("at", {"update"}, "update"), std::nullopt);
  EXPECT_EQ(off.any("from", 1), std::nullopt);
  EXPECT_EQ(off.number("missing"), std::nullopt);
  EXPECT_NO_THROW(section.finish()) << "another run of the study may use them";
  EXPECT_EQ(section.resolved(), Json::object());

  const auto on = section.if_used(true);
  EXPECT_EQ(on.number("step"), 0.5);
  EXPECT_EQ(on.choice("at", {"worker", "update"}, "update"), "worker");
  EXPECT_EQ(on.any("from", 1), "1/P");
  EXPECT_EQ(error_of([&] { on.number("missing"); }), "missing key 's.missing'");
  EXPECT_EQ(section.resolved(), Json({{"step", 0.5}, {"at", "worker"}, {"from", "1/P"}}));
}

TEST(Section, ListsTheKnownKeysWhereNoneIsNear) {
  const Section section("s", {{"zebra", 1}});
  section.integer("k", 1);

  EXPECT_EQ(error_of([&] { section.finish(); }), "unknown key 's.zebra'; known: k");
}

TEST(Section, FailsWithTheExitCodeOfUsage) {
  try {
    Section("s", Json::object()).number("x");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
  }
}

TEST(Nearest, IsTheWordOfFewestEditsWithinAThirdOfItsLetters) {
  const std::vector<std::string> known{"dense", "allgather", "gtopk-tree"};

  EXPECT_EQ(nearest("gtopk-tre", known), "gtopk-tree");
  EXPECT_EQ(nearest("dense", known), "dense");
  EXPECT_EQ(nearest("tense", known), "dense");
  EXPECT_EQ(nearest("dnese", known), "dense") << "two neighbours in the wrong order are one slip";
  EXPECT_EQ(nearest("allgathering", known), "allgather");
  EXPECT_EQ(nearest("mask", known), "");
  EXPECT_EQ(nearest("", known), "");
}

TEST(Registry, BuildsWhatKindNamesAndSuggestsTheNearestKind) {
  EXPECT_NE(test::aggregator({{"kind", "gtopk-tree"}}), nullptr);
  EXPECT_EQ(error_of([] {
              test::aggregator({{"kind", "gtopk-three"}});
            }),
            "unknown value 'gtopk-three' of 'aggregator.kind'; did you mean 'gtopk-tree'?");
}

/// Every entry of a registry has texts, a name of its own, and an example that builds.
template <class Interface>
void expect_sound(std::span<const Entry<Interface>> entries) {
  std::map<std::string_view, int> names;
  for (const auto& entry : entries) {
    EXPECT_EQ(++names[entry.name], 1) << entry.name;
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_FALSE(entry.source.empty()) << entry.name;
    const auto section = example_section("section", entry);
    EXPECT_NE(make_from(entries, section), nullptr) << entry.name;
    EXPECT_NO_THROW(section.finish()) << entry.name;
  }
}

TEST(Registry, HoldsExamplesThatBuild) {
  expect_sound(sparsifiers());
  expect_sound(aggregators());
  expect_sound(feedbacks());
}

}  // namespace
}  // namespace residuum
