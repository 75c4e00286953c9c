// The pages say what disagrees, and their links lead somewhere.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "reports/results/csv.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using reports::CsvReader;
using testing::HasSubstr;

const std::filesystem::path kRoot = std::filesystem::path(RESIDUUM_STUDIES).parent_path();
const std::filesystem::path kGallery = kRoot / "reports/gallery";

std::string papers() { return read_text(kRoot / "experiments/studies/papers/README.md"); }

/// As GitHub names a heading in links: "## What it says" is "what-it-says".
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') {
      anchor += '-';
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return anchor;
}

std::set<std::string> anchors_in(const std::string& page) {
  std::set<std::string> anchors;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const auto text = line.find_first_not_of('#');
    if (text != 0 && text != std::string::npos && line[text] == ' ') {
      anchors.insert(anchor_of(line.substr(text + 1)));
    }
  }
  return anchors;
}

/// Returns the pages of the project, but for built and generated ones.
std::vector<std::filesystem::path> all_pages() {
  std::vector<std::filesystem::path> pages{
      kRoot / "README.md", kRoot / "CONTRIBUTING.md", kRoot / "CHANGELOG.md"};
  for (const char* room :
       {"core", "objectives", "assumptions", "experiments", "reports", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / room)) {
      const bool is_ours = entry.path().string().find("node_modules") == std::string::npos;
      if (is_ours && entry.path().extension() == ".md") {
        pages.push_back(entry.path());
      }
    }
  }
  return pages;
}

TEST(Pages, LinkToFilesAndHeadingsThatExist) {
  static const std::regex link(R"(\]\(([^)#\s]*)(#[^)\s]*)?\))");
  std::size_t links = 0;
  for (const auto& file : all_pages()) {
    const std::string page = read_text(file);
    for (auto at = std::sregex_iterator(page.begin(), page.end(), link);
         at != std::sregex_iterator();
         ++at) {
      const std::string target = (*at)[1];
      const std::string anchor = (*at)[2];
      if (target.starts_with("http")) {
        continue;
      }
      ++links;
      const auto path = target.empty() ? file : file.parent_path() / target;
      EXPECT_TRUE(std::filesystem::exists(path)) << file << " links to " << target;
      if (!anchor.empty()) {
        EXPECT_TRUE(anchors_in(read_text(path)).contains(anchor.substr(1)))
            << file << " links to " << target << anchor;
      }
    }
  }
  EXPECT_GE(links, 20U);
}

TEST(Pages, HaveTheSamePartsInEveryFinding) {
  int findings = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(kRoot / "experiments/studies/papers")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".md" || name == "README.md") {
      continue;
    }
    ++findings;
    const std::string page = read_text(entry.path());
    EXPECT_THAT(papers(), HasSubstr("](" + name + ")"));
    EXPECT_THAT(page, HasSubstr("\n**Question.** ")) << name;
    std::size_t last = 0;
    for (const char* part :
         {"Setting", "Measured", "Found", "Not found", "What would change our mind", "Command"}) {
      const auto at = page.find(fmt::format("\n## {}\n", part));
      ASSERT_NE(at, std::string::npos) << name << " has no " << part;
      EXPECT_GT(at, last) << name << ": " << part;
      last = at;
    }
    EXPECT_THAT(page, HasSubstr("](tables/" + name + ")")) << name;
  }
  EXPECT_GE(findings, 9);
}

TEST(Pages, LeadFromTheFirstToEveryRoom) {
  EXPECT_THAT(read_text(kRoot / "README.md"), HasSubstr("](CONTRIBUTING.md)"));
  const std::string rooms = read_text(kRoot / "CONTRIBUTING.md");
  for (const char* room :
       {"core", "objectives", "assumptions", "experiments", "reports", "tests"}) {
    EXPECT_THAT(rooms, HasSubstr(fmt::format("]({}/README.md)", room)));
  }
}

/// A study is called as its file, and the gallery's folder as the study.
TEST(Pages, CallStudiesAsTheirFiles) {
  for (const auto& entry :
       std::filesystem::directory_iterator(kRoot / "experiments/studies/papers")) {
    if (entry.path().extension() != ".toml") {
      continue;
    }
    std::string name = entry.path().stem().string();
    std::replace(name.begin(), name.end(), '_', '-');
    EXPECT_THAT(read_text(entry.path()), HasSubstr("\nname   = \"" + name + "\"\n"));
  }
  for (const auto& entry : std::filesystem::directory_iterator(kGallery)) {
    if (!entry.is_directory()) {
      continue;
    }
    std::string file = entry.path().filename().string();
    std::replace(file.begin(), file.end(), '-', '_');
    const bool is_of_a_paper =
        std::filesystem::exists(kRoot / "experiments/studies/papers" / (file + ".toml"));
    const std::string study =
        (is_of_a_paper ? "experiments/studies/papers/" : "experiments/studies/") + file + ".toml";
    EXPECT_TRUE(std::filesystem::exists(kRoot / study)) << study;
    EXPECT_THAT(read_text(kGallery / "README.md"), HasSubstr('`' + study + '`'));
  }
}

// Without it pandas may lose the last digits of a double.
TEST(Pages, ReadOurTablesWithPandasToTheLastDigit) {
  const std::regex read(R"(pandas\.read_csv\(([^)]*)\))");
  for (const char* name : {"reports/python/residuum_results.py", "reports/recipes/gap.py"}) {
    const std::string text = read_text(kRoot / name);
    const std::sregex_iterator found(text.begin(), text.end(), read);
    ASSERT_EQ(std::distance(found, std::sregex_iterator()), 1) << name;
    EXPECT_THAT((*found)[1].str(), HasSubstr(R"(float_precision="round_trip")")) << name;
  }
}

}  // namespace
}  // namespace residuum
