// x* is solved for once; a file that is not what it should be is never trusted.

#include "objectives/facts_cache.h"

#include <gtest/gtest.h>

#include <iterator>

#include "tests/objectives/convex/support.h"

namespace residuum::test {
namespace {

nlohmann::json section() { return {{"rows", 80}, {"features", 5}, {"l2", 0.01}}; }

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& directory) {
  return {std::filesystem::directory_iterator(directory), {}};
}

class FactsCache : public testing::Test {
 protected:
  FactsCache() { solved_ = make("logistic", section(), directory_.path())->facts(); }

  std::filesystem::path file() const { return files_in(directory_.path()).at(0); }
  nlohmann::json stored() const { return nlohmann::json::parse(read(file())); }
  void replace(const std::string& text) const { std::ofstream(file(), std::ios::binary) << text; }
  Facts again() const { return make("logistic", section(), directory_.path())->facts(); }

  /// After `text` was put in place of the file, the facts are right and so is the file.
  void expect_healed(const std::string& text) const {
    const std::string good = read(file());
    replace(text);
    const Facts facts = again();
    EXPECT_EQ(facts.minimum, solved_.minimum) << text;
    EXPECT_EQ(facts.minimizer, solved_.minimizer) << text;
    EXPECT_EQ(read(file()), good) << text;
  }

  const TemporaryDirectory& directory() const { return directory_; }
  const Facts& solved() const { return solved_; }

 private:
  TemporaryDirectory directory_;
  Facts solved_;
};

TEST_F(FactsCache, KeepsOneFileAndNoOther) {
  ASSERT_EQ(files_in(directory().path()).size(), 1U);
  const auto name = file().filename().string();
  EXPECT_EQ(name.substr(0, 6), "facts-");
  EXPECT_EQ(name.size(), std::string("facts-0123456789abcdef-0123456789abcdef.json").size());
}

TEST_F(FactsCache, SecondCallDoesNotSolveAgain) {
  // Whoever solves writes the file anew; the mark survives, so nobody did.
  auto json = stored();
  json["mark"] = "not rewritten";
  replace(json.dump());
  const Facts facts = again();
  EXPECT_EQ(stored()["mark"], "not rewritten");
  EXPECT_EQ(facts.minimizer, solved().minimizer);
  EXPECT_EQ(facts.minimum, solved().minimum);
}

TEST_F(FactsCache, IgnoresAndRewritesADamagedFile) {
  const std::string good = read(file());
  expect_healed("");
  expect_healed("nonsense");
  expect_healed(good.substr(0, good.size() / 2));
  expect_healed("[1, 2]");
  expect_healed("{}");
  expect_healed(R"({"key": 3, "minimizer": 4})");
}

TEST_F(FactsCache, IgnoresAndRewritesAForeignMinimizer) {
  const auto change = [this](auto&& edit) {
    auto json = stored();
    edit(json);
    expect_healed(json.dump());
  };
  change([](auto& json) { json["key"]["l2"] = 0.02; });
  change([](auto& json) { json["key"]["fingerprint"] = "0000000000000000"; });
  change([](auto& json) { json["minimizer"].push_back(0.0); });
  change([](auto& json) { json["minimizer"][1] = "0.5"; });
  change([](auto& json) { json["minimizer"][1] = nullptr; });
  change([](auto& json) { json["minimizer"] = nlohmann::json::array(); });
  change([](auto& json) { json["minimizer"][0] = 1e300; });
}

TEST_F(FactsCache, ChecksTheGradientAtTheStoredPoint) {
  auto json = stored();
  json["minimizer"][2] = json["minimizer"][2].get<double>() + 1e-6;  // well formed, but stale
  expect_healed(json.dump());
}

TEST_F(FactsCache, KeepsDifferentProblemsApart) {
  const auto solve = [this](const char* key, const nlohmann::json& value) {
    auto values = section();
    values[key] = value;
    make("logistic", values, directory().path())->facts();
    return files_in(directory().path()).size();
  };
  EXPECT_EQ(solve("l2", 0.02), 2U);
  EXPECT_EQ(solve("intercept", true), 3U);
  EXPECT_EQ(solve("scale", "max-abs"), 4U);
  EXPECT_EQ(solve("data_seed", 2), 5U);
  EXPECT_EQ(solve("l2", 0.01), 5U);
}

TEST_F(FactsCache, UnwritableDirectoryIsOnlyAWarning) {
  const auto blocked = directory().write("a-file", "") + "/cache";
  testing::internal::CaptureStderr();
  const Facts facts = make("logistic", section(), blocked)->facts();
  const std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_EQ(facts.minimum, solved().minimum);
  EXPECT_EQ(warning.substr(0, 8), "warning:");
  EXPECT_NE(warning.find("a-file/cache"), std::string::npos) << warning;
  EXPECT_EQ(std::count(warning.begin(), warning.end(), '\n'), 1);
}

TEST_F(FactsCache, NoDirectoryMeansNoFile) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(make("logistic", section(), {})->facts().minimum, solved().minimum);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace residuum::test
