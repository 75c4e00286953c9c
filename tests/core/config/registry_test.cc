// Components of a program of one's own stand beside those of the library.

#include "core/config/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/support.h"

namespace residuum {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Thing {};
std::unique_ptr<Thing> make_thing(const Section& /*section*/) { return std::make_unique<Thing>(); }

Entry<Thing> entry(std::string_view name) { return {name, "", "", "{}", make_thing}; }

TEST(Registry, RegisteredEntriesFollowTheLibrarysInOrderOfTheirNames) {
  const std::vector<Entry<Thing>> built_in{entry("plain"), entry("a-thing")};
  const Registered<Thing> second(entry("zinc"));
  const Registered<Thing> first(entry("iron"));

  EXPECT_THAT(names_of(registry_of<Thing>(built_in)),
              ElementsAre("plain", "a-thing", "iron", "zinc"));
}

struct Other {};
std::unique_ptr<Other> make_other(const Section& /*section*/) { return std::make_unique<Other>(); }

TEST(Registry, ANameTwiceIsRefused) {
  const std::vector<Entry<Other>> built_in{{"plain", "", "", "{}", make_other}};
  const Registered<Other> again({"plain", "", "", "{}", make_other});

  EXPECT_THAT(test::error_of([&] { with_registered<Other>(built_in); }),
              HasSubstr("two components are registered as 'plain'"));
}

}  // namespace
}  // namespace residuum
