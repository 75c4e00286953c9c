// The committed studies of published experiments: each can be planned as it stands, states its
// expected results and duration, and is named in the table of results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::filesystem::path kPapers = RESIDUUM_STUDIES "/studies/papers";

std::vector<std::string> studies() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kPapers)) {
    if (entry.path().extension() == ".toml") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Papers : public testing::TestWithParam<std::string> {
 protected:
  std::filesystem::path path() const { return kPapers / (GetParam() + ".toml"); }
};

/// The data set that has to be there, empty for none.
std::string needed_data(const std::string& study) {
  static const std::regex line("(?:^|\n)data +=  *\"([^\"]+)\"");
  std::smatch found;
  if (!std::regex_search(study, found, line) || found[1].str().starts_with("synthetic-")) {
    return {};
  }
  return found[1];
}

TEST_P(Papers, CanBePlanned) {
  const std::string data = needed_data(read_text(path()));
  if (!data.empty() && !std::filesystem::exists(std::filesystem::path(RESIDUUM_TEST_DATA) / data)) {
    GTEST_SKIP() << "the data set '" << data << "' is not in " << RESIDUUM_TEST_DATA;
  }
  const TemporaryFolder folder;
  const Finished finished = residuum_program(
      {"plan", path().string(), "--data-dir", RESIDUUM_TEST_DATA, "--format", "json"},
      folder.path());

  if (is_of_network(read_text(path())) && !networks_are_built()) {
    EXPECT_EQ(finished.code, 6);
    EXPECT_THAT(finished.err, HasSubstr("needs libtorch"));
    return;
  }
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_GE(nlohmann::json::parse(finished.out).size(), 2);
}

TEST_P(Papers, SayWhatIsExpectedAndHowLongTheyTake) {
  const std::string study = read_text(path());
  EXPECT_THAT(study, StartsWith("# "));
  const std::string head = study.substr(0, study.find("\nschema"));
  EXPECT_THAT(head, HasSubstr("\n# Expected"));
  EXPECT_THAT(head, HasSubstr("\n# Run time: "));
}

TEST_P(Papers, AreNamedOnAPage) {
  std::string pages;
  for (const auto& folder : {kPapers, kPapers / "tables"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".md") {
        pages += read_text(entry.path());
      }
    }
  }
  EXPECT_THAT(pages, HasSubstr("`" + GetParam() + ".toml`"));
}

INSTANTIATE_TEST_SUITE_P(All, Papers, testing::ValuesIn(studies()), [](const auto& study) {
  return study.param;
});

}  // namespace
}  // namespace residuum
