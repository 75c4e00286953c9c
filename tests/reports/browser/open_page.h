#pragma once
// The report of a synthetic study, open in a browser.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "reports/page/report.h"
#include "tests/reports/browser/browser.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports::testing {

/// A study of four methods by two swept keys, three seeds each.
inline SyntheticStudy swept_study() {
  SyntheticStudy study;
  study.methods.clear();
  for (const double density : {0.01, 0.1}) {
    for (const char* aggregator : {"gtopk-tree", "allgather"}) {
      study.methods.push_back(SyntheticMethod{
          .aggregator = aggregator, .density = density, .delta_peak = 0.9 + density});
    }
  }
  return study;
}

class PageInABrowser : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = Browser::missing(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    browser_ = std::make_unique<Browser>();
  }

  void open(const SyntheticStudy& study, const std::string& fragment = "") {
    study.write(folder_.path());
    open_folder(fragment);
  }
  void open_folder(const std::string& fragment = "") {
    browser().open(write_report(summarise(folder_.path())).file, fragment);
  }
  void expect_no_complaint() {
    EXPECT_THAT(browser().complaints(), ::testing::IsEmpty());
    for (const auto& address : browser().requests()) {
      EXPECT_THAT(address, ::testing::HasSubstr("/report.html"));
    }
  }

  Browser& browser() { return *browser_; }
  const std::filesystem::path& path() const { return folder_.path(); }

  /// The curves that a figure shows.
  int curves_in(const std::string& figure) {
    browser().wait_until_drawn();
    return browser().number(fmt::format(
        "return document.querySelectorAll('[data-live=\"{}\"] .curve').length", figure));
  }
  std::string shape_of(const std::string& figure) {
    browser().wait_until_drawn();
    return browser().text(fmt::format(
        "return document.querySelector('[data-live=\"{}\"] .curve').getAttribute('d')", figure));
  }
  std::string address() { return browser().text("return location.hash"); }
  /// The texts of a column of a table's rows that are shown.
  std::vector<std::string> column(const std::string& table, int number) {
    return browser()
        .run(
            "return [...document.getElementById(arguments[0]).tBodies[0].rows]"
            ".filter((row) => !row.hidden).map((row) => row.cells[arguments[1]].textContent)",
            Json::array({table, number}))
        .get<std::vector<std::string>>();
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<Browser> browser_;
};

}  // namespace residuum::reports::testing
