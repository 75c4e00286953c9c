#pragma once
// The report of a synthetic study, open in a browser.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "reports/page/report.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"
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

/// A study of ten methods in which everything has been measured.
inline SyntheticStudy wide_study() {
  SyntheticStudy study;
  study.methods.clear();
  const auto fill = [](Row& row, int seed) {
    const auto t = static_cast<double>(row.iteration() + 1);
    const auto last = static_cast<std::size_t>(Column::ef21_weighted_distortion);
    for (std::size_t i = 0; i <= last; ++i) {
      if (const auto column = static_cast<Column>(i); !row.get(column)) {
        row.set(column, 0.3 + 0.1 * std::sin(1.7 * t + 2.3 * seed));
      }
    }
    row.set(Column::virtual_s, t);
  };
  for (const double density : {0.01, 0.02, 0.05, 0.1, 0.2}) {
    for (const char* putback : {"captured", "published"}) {
      study.methods.push_back(SyntheticMethod{
          .putback = putback, .density = density, .leaks = true, .workers = 32, .change = fill});
    }
  }
  return study;
}

/// Writes for every run of the study when its iterations ended on networks of these names.
inline void write_networks(const std::filesystem::path& folder,
                           const SyntheticStudy& study,
                           const std::vector<std::string>& networks) {
  for (std::size_t method = 0; method < study.methods.size(); ++method) {
    for (int seed = 1; seed <= study.seeds; ++seed) {
      const std::string id = SyntheticStudy::run_id(method, seed);
      std::string text = detail_header(kNetworksTable);
      for (std::uint64_t t = 0; t < study.iterations; ++t) {
        for (const auto& network : networks) {
          text += fmt::format("{},{},{},0,0,0,0,{},1\n", id, t, csv_field(network), t + 1);
        }
      }
      write_file_atomically(folder / "runs" / id / "networks.csv", text);
    }
  }
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
  /// The tables that are wider than the boxes in which they scroll, with all details open.
  std::vector<std::string> cut_tables() {
    return browser()
        .run(
            "for (const one of document.querySelectorAll('details')) one.open = true;"
            "return [...document.querySelectorAll('.scroll')]"
            ".filter((box) => box.scrollWidth > box.clientWidth + 1)"
            ".map((box) => `${box.scrollWidth} > ${box.clientWidth}: ${box.textContent}`)")
        .get<std::vector<std::string>>();
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
