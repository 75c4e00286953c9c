#include "reports/page/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "reports/page/html.h"
#include "reports/page/sections.h"
#include "reports/results/files.h"
#include "tests/reports/page/html_tags.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::change_status;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::imbalance;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

/// The page without the program's own script and library.
std::string without_own_scripts(std::string html) {
  for (const Asset& asset : {page_script(), page_library()}) {
    const std::size_t at = html.find(fmt::format("<script>{}</script>", asset.text));
    if (!asset.text.empty() && at != std::string::npos) {
      html.erase(at, asset.text.size() + std::string_view("<script></script>").size());
    }
  }
  return html;
}

class ReportPage : public ::testing::Test {
 protected:
  std::string make() const {
    const Report report = write_report(summarise(folder_.path()));
    EXPECT_EQ(report.file, folder_.path() / "report.html");
    return read_file(report.file);
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(ReportPage, SaysWhatTheStudyFound) {
  SyntheticStudy study;
  study.methods = {SyntheticMethod{},
                   SyntheticMethod{.putback = "published", .delta_peak = 1.25, .leaks = true}};
  study.write(path());

  const std::string html = make();

  EXPECT_EQ(imbalance(without_own_scripts(html)), "");
  EXPECT_THAT(html, HasSubstr("<h1>A synthetic study</h1>"));
  EXPECT_THAT(html, HasSubstr("largest δ = 1.25 (gtopk-tree, published, rho=0.01"));
  EXPECT_THAT(html, HasSubstr("<span class=\"known\">fails, as known</span>"));
  EXPECT_THAT(html, HasSubstr("mpirun -n 4 residuum run synthetic.toml"));
  EXPECT_THAT(html, HasSubstr("0f1e2d3c"));  // the data's fingerprint
  EXPECT_THAT(html, HasSubstr("host.cpu"));  // provenance
  EXPECT_THAT(html, HasSubstr(SyntheticStudy::run_id(1, 2)));
}

/// A row of layers.csv with |a_l|^2 = 2 and k_l = d_l/2: a delta of 1 misses 1.
DetailRow layer_row(
    std::uint64_t t, const std::string& layer, double size, double sent, double delta) {
  DetailRow row(kLayersTable, t, layer);
  row.set(LayerColumn::size, size);
  row.set(LayerColumn::k, size / 2);
  row.set(LayerColumn::nnz_sent, sent);
  row.set(LayerColumn::accumulator_norm_sq, 2);
  row.set(LayerColumn::delta, delta);
  return row;
}

TEST_F(ReportPage, TellsOfLayersWhereTheyWereMeasured) {
  SyntheticStudy study;
  study.seeds = 2;
  study.write(path());
  EXPECT_THAT(make(), Not(HasSubstr("<h3>Layers</h3>")));
  const std::string id = SyntheticStudy::run_id(0, 2);
  DetailWriter writer(path() / "runs" / id / "layers.csv", id, kLayersTable);
  for (const std::uint64_t t : {0U, 1U}) {
    writer.write(layer_row(t, "conv.weight", 90, 10, 0.5 + static_cast<double>(t)));
    writer.write(layer_row(t, "<b>bias", 10, 30, 0.25));
  }
  writer.close();

  const std::string html = make();

  EXPECT_EQ(imbalance(without_own_scripts(html)), "");
  EXPECT_THAT(html, HasSubstr("<h3>Layers</h3>"));
  // 90 of 100 parameters, 20 of 80 entries, delta (0.5 + 1.5) / 2, the largest 1.5.
  const auto cells = [](const std::vector<std::string>& texts) {
    std::string row;
    for (const auto& text : texts) {
      row += fmt::format("<td class=\"n\">{}</td>", text);
    }
    return row;
  };
  EXPECT_THAT(html, HasSubstr("conv.weight</th>" + cells({"90", "90.0 %", "25.0 %", "1", "1.5"})));
  EXPECT_THAT(html,
              HasSubstr("&lt;b&gt;bias</th>" + cells({"10", "10.0 %", "75.0 %", "0.25", "0.25"})));
}

TEST_F(ReportPage, LoadsNothingAndRunsOnlyTheProgramsOwnScript) {
  SyntheticStudy{}.write(path());

  const std::string html = without_own_scripts(make());

  EXPECT_THAT(html, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(html, HasSubstr("style-src 'sha256-"));
  EXPECT_THAT(html, HasSubstr("<script type=\"application/json\" id=\"data\">"));
  for (const char* forbidden : {"<script>",
                                "unsafe",
                                "<link",
                                "<img",
                                "<iframe",
                                "@import",
                                "src=",
                                " style=",
                                " onclick",
                                "href=\"http",
                                "url(http"}) {
    EXPECT_THAT(html, Not(HasSubstr(forbidden))) << forbidden;
  }
}

/// The data of a page as its script reads it.
Json data_of(const std::string& html) {
  constexpr std::string_view kOpening = "id=\"data\">";
  const std::size_t begin = html.find(kOpening) + kOpening.size();
  return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

TEST_F(ReportPage, HasTheNumbersOfItsFiguresAsData) {
  SyntheticStudy study;
  study.seeds = 2;
  study.iterations = 4;
  study.methods = {SyntheticMethod{}, SyntheticMethod{.density = 0.1}};
  study.write(path());

  const Json data = data_of(make());

  EXPECT_EQ(data["methods"][1]["keys"]["sparsifier.density"], "0.1");
  EXPECT_EQ(data["methods"][0]["colour"], "#0072B2");
  const Json& figure = data["figures"][0];
  EXPECT_EQ(figure["id"], "loss-gap");
  ASSERT_EQ(figure["curves"].size(), 2U);
  const Json& curve = figure["curves"][0];
  EXPECT_EQ(curve["middle"].size(), 4U);
  EXPECT_EQ(curve["n"], Json::array({2, 2})) << "the fewest and the most seeds of its points";
  EXPECT_EQ(curve["seeds"].size(), 2U);
  const Json& places = data["places"][curve["places"].get<std::size_t>()];
  EXPECT_EQ(places["iteration"], (Json::array({0, 1, 2, 3})));
  EXPECT_EQ(places["bytes"], (Json::array({0, 10000, 20000, 30000})));
  EXPECT_FALSE(places.contains("time"));
}

TEST_F(ReportPage, HasNullInItsDataForWhatIsNoNumber) {
  SyntheticStudy study;
  study.seeds = 1;
  study.iterations = 3;
  study.methods = {SyntheticMethod{.change = [](Row& row, int) {
    row.set(Column::delta, row.iteration() == 1 ? std::numeric_limits<double>::infinity() : 0.5);
  }}};
  study.write(path());

  const Json data = data_of(make());

  const auto delta = std::find_if(data["figures"].begin(),
                                  data["figures"].end(),
                                  [](const Json& figure) { return figure["id"] == "delta"; });
  ASSERT_NE(delta, data["figures"].end());
  EXPECT_EQ((*delta)["curves"][0]["middle"].dump(), "[0.5,null,0.5]");
}

TEST_F(ReportPage, KeepsItsOrder) {
  SyntheticStudy study;
  study.methods.clear();
  for (const double density : {0.01, 0.1}) {
    for (const char* aggregator : {"gtopk-tree", "gtopk-exact"}) {
      study.methods.push_back(SyntheticMethod{.aggregator = aggregator, .density = density});
    }
  }
  study.write(path());

  const std::string html = make();

  std::size_t before = 0;
  for (const char* id : {"verdicts", "curves", "assumptions", "phases", "runs", "provenance"}) {
    const std::size_t at = html.find(fmt::format("<section id=\"{}\"", id));
    ASSERT_NE(at, std::string::npos) << id;
    EXPECT_LT(before, at) << id;
    before = at;
  }
  EXPECT_THAT(html, Not(HasSubstr("<section id=\"networks\"")));
  EXPECT_LT(html.find("<section id=\"verdicts\""), html.find("<figure"));
}

TEST_F(ReportPage, HasAPhaseDiagramOfTwoSweptKeys) {
  SyntheticStudy study;
  study.methods.clear();
  for (const double density : {0.01, 0.1}) {
    for (const int workers : {2, 4}) {
      study.methods.push_back(SyntheticMethod{
          .density = density, .delta_peak = workers == 4 ? 1.5 : 0.9, .workers = workers});
    }
  }
  study.write(path());

  const std::string html = make();

  EXPECT_EQ(imbalance(without_own_scripts(html)), "");
  EXPECT_THAT(html, HasSubstr("ρ \\ P"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">0.01</th><td class=\"h0\">"));
  EXPECT_THAT(html,
              ::testing::ContainsRegex("<td class=\"h0\">0.8[0-9]*</td><td class=\"h8\">1.4"));
}

TEST_F(ReportPage, HasTheCapturedEnergyAgainstK) {
  SyntheticStudy study;
  study.seeds = 2;
  study.methods = {SyntheticMethod{.density = 0.1}, SyntheticMethod{.density = 0.01}};
  for (auto& method : study.methods) {
    method.change = [](Row& row, int seed) {
      row.set(Column::delta, 0.4 + 0.1 * seed);
      row.set(Column::accumulator_norm_sq, 1);
    };
  }
  study.write(path());
  for (std::size_t method = 0; method < 2; ++method) {
    for (int seed = 1; seed <= 2; ++seed) {
      change_status(path(), SyntheticStudy::run_id(method, seed), [&](Json& status) {
        status["dimension"] = 1000;
        status["k"] = method == 0 ? 100 : 10;
      });
    }
  }

  const auto figures = plan_energy_figures(summarise(path()), IntervalKind::quartiles);

  ASSERT_EQ(figures.size(), 1U);
  ASSERT_EQ(figures[0].spec.curves.size(), 1U) << "the methods differ in k alone";
  const auto& points = figures[0].spec.curves[0].points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].x, 0.01);
  EXPECT_NEAR(*points[0].middle, 1 - 0.55 * 0.99, 1e-12);
  EXPECT_NEAR(*points[0].lower, 1 - 0.575 * 0.99, 1e-12) << "quartiles of two seeds";
  EXPECT_NEAR(*points[0].upper, 1 - 0.525 * 0.99, 1e-12);
  EXPECT_EQ(points[1].x, 0.1);
  EXPECT_NEAR(*points[1].middle, 1 - 0.55 * 0.9, 1e-12);
  const auto student = plan_energy_figures(summarise(path()), IntervalKind::student);
  // Student's t of one degree of freedom is 12.7062, and half the difference the standard error.
  EXPECT_NEAR(*student[0].spec.curves[0].points[1].upper, 1 - 0.55 * 0.9 + 12.7062 * 0.045, 1e-5);
}

TEST_F(ReportPage, IsAnErrorThatNamesTheFileWhereItMayNotBeWritten) {
  SyntheticStudy{}.write(path());
  write_file_atomically(path() / "figures", "in the way");

  try {
    write_report(summarise(path()));
    FAIL() << "written into a file";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr((path() / "figures").string()));
  }
}

TEST_F(ReportPage, GivesOneColourToBothVerdictsOfAnAssumption) {
  SyntheticStudy study;
  study.methods = {SyntheticMethod{.delta_peak = 1.01}};
  study.write(path());

  const std::string html = make();

  const std::size_t begin = html.find("<table class=\"cards\" id=\"verdict-table\"");
  const std::string matrix = html.substr(begin, html.find("</table>", begin) - begin);
  for (std::size_t at = matrix.find("<td"); at != std::string::npos;
       at = matrix.find("<td", at + 1)) {
    const std::string cell = matrix.substr(at, matrix.find("</td>", at) - at);
    int colours = 0;
    for (const char* colour : {"class=\"pass\"", "class=\"fail\"", "class=\"known\""}) {
      colours += cell.find(colour) != std::string::npos ? 1 : 0;
    }
    EXPECT_LE(colours, 1) << cell;
  }
}

TEST_F(ReportPage, SaysWhatEachAssumptionIsHeldAgainst) {
  SyntheticStudy{}.write(path());
  const std::string html = make();

  // Draws that are independent have a ratio of expectation one, and a bias one of zero.
  EXPECT_THAT(html, HasSubstr(">delta<small>≤ 1</small>"));
  EXPECT_THAT(html, HasSubstr(">contraction<small>&lt; 1</small>"));
  EXPECT_THAT(html, ContainsRegex("independence</th>[^/]*= 1</td>"));
  EXPECT_THAT(html, ContainsRegex("unbiased-gradients</th>[^/]*= 0</td>"));
  EXPECT_THAT(html, Not(HasSubstr("A ratio above one breaks the assumption")));
}

TEST_F(ReportPage, ShowsHostileNamesAsText) {
  const std::string hostile =
      "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>\xc2\x9b\xe2\x80\xae";
  SyntheticStudy study;
  study.seeds = 1;
  study.title = hostile;
  study.methods = {SyntheticMethod{.aggregator = hostile}};
  study.write(path());
  change_status(path(), SyntheticStudy::run_id(0, 1), [&](Json& status) {
    status["state"] = "diverged";
    status["message"] = hostile;
    status["data"]["name"] = hostile;
    status["checks"][hostile] = status["checks"]["conservation"];
    status["provenance"][hostile] = hostile;
  });
  write_file_atomically(path() / "study.toml", "# </pre>" + hostile);
  Json resolved = read_json(path() / "study.resolved.json");
  resolved["command"] = hostile;
  write_json_atomically(path() / "study.resolved.json", resolved);

  const std::string html = make();

  EXPECT_EQ(imbalance(without_own_scripts(html)), "");
  EXPECT_THAT(without_own_scripts(html), Not(HasSubstr("<script>")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("\xc2\x9b")));
  EXPECT_THAT(html, Not(HasSubstr("\xe2\x80\xae"))) << "it turns the writing";
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;&lt;img"));
}

TEST_F(ReportPage, SaysWhereSumsAreLeftToTheOrderOfMpi) {
  SyntheticStudy{}.write(path());
  EXPECT_THAT(make(), Not(HasSubstr("MPI_Allreduce")));

  const auto file = path() / "runs" / SyntheticStudy::run_id(0, 1) / "config.json";
  Json config = read_json(file);
  config["config"]["aggregator"]["reduction"] = "fast";
  write_json_atomically(file, with_print(config));

  const std::string html = make();
  EXPECT_EQ(imbalance(without_own_scripts(html)), "");
  EXPECT_THAT(html, HasSubstr("depend on the number of processes"));
}

TEST_F(ReportPage, IsTheSameBytesEveryTime) {
  SyntheticStudy{}.write(path());

  EXPECT_EQ(make(), make());
}

TEST_F(ReportPage, IsMadeOfAStudyWhereNothingHasRunYet) {
  SyntheticStudy study;
  study.seeds = 1;
  study.write(path());
  std::filesystem::remove_all(path() / "runs");

  const std::string html = make();

  EXPECT_EQ(imbalance(without_own_scripts(html)), "");
  EXPECT_THAT(html, HasSubstr("No run has left anything to draw"));
  EXPECT_THAT(html, HasSubstr("1 missing"));
}

}  // namespace
}  // namespace residuum::reports
