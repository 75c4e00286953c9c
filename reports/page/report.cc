#include "reports/page/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "reports/collection/summary_json.h"
#include "reports/figures/draw.h"
#include "reports/figures/report_figures.h"
#include "reports/page/html.h"
#include "reports/page/report_assumptions.h"
#include "reports/page/report_comparison.h"
#include "reports/page/report_late.h"
#include "reports/page/report_layers.h"
#include "reports/page/report_networks.h"
#include "reports/page/report_tables.h"
#include "reports/page/report_text.h"
#include "reports/page/report_theorems.h"
#include "reports/page/report_workers.h"
#include "reports/tables/files.h"
#include "reports/verdicts/delta_workers.h"
#include "reports/verdicts/summary.h"
#include "reports/verdicts/verdict.h"

namespace residuum::reports {
namespace {

/// Writes the head. The page may load nothing and run nothing, so that what a name smuggles in
/// stays dead.
std::string head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n"
      "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{} — Residuum</title>\n<style>{}</style>\n</head>\n",
      escape(title),
      style_sheet());
}

std::string counts_line(const Summary& summary) {
  std::string text =
      fmt::format("{} methods, {} runs", summary.groups.size(), summary.folder.runs.size());
  for (const auto& [state, count] : summary.states) {
    text += fmt::format(", {} {}", count, state);
  }
  return text;
}

std::string headline(const Summary& summary) {
  std::string html = fmt::format(
      "<header>\n<p class=\"kind\">Convergence study <code>{}</code> · {}</p>\n<h1>{}</h1>\n"
      "<p class=\"answer\">{}</p>\n<ul class=\"findings\">\n",
      escape(summary.folder.name),
      escape(counts_line(summary)),
      escape(summary.folder.title),
      escape(answer(summary)));
  for (const auto& sentence : findings(summary)) {
    html += fmt::format("<li>{}</li>\n", escape(sentence));
  }
  return html + "</ul>\n</header>\n";
}

std::string section(std::string_view title, const std::string& body) {
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", escape(title), body);
}

std::string optional_section(std::string_view title, const std::string& body) {
  return body.empty() ? body : section(title, body);
}

std::string details(std::string_view title, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escape(title), body);
}

std::string note(std::string_view text) {
  return fmt::format("<p class=\"note\">{}</p>\n", escape(text));
}

std::string figure_html(const ReportFigure& figure, const DrawnFigure& drawn) {
  const std::string& name = figure.spec.name;
  const std::string drawing =
      drawn.svg.empty() ? note("Not drawn: " + drawn.problem)
                        : inline_svg(drawn.svg, {.prefix = name, .description = figure.title});
  return fmt::format(
      "<figure><h3>{0}</h3>\n{1}<figcaption>{2} <a href=\"figures/{3}.csv\">numbers</a>, "
      "<a href=\"figures/{3}.gp\">script</a></figcaption></figure>\n",
      escape(figure.title),
      drawing,
      escape(figure.caption),
      name);
}

std::string drawn_figures(const Summary& summary,
                          const std::vector<ReportFigure>& figures,
                          std::vector<std::string>& problems) {
  std::string html = "<div class=\"figures\">\n";
  for (const auto& figure : figures) {
    const DrawnFigure drawn = draw(figure.spec, summary.folder.path / "figures");
    if (!drawn.problem.empty() &&
        std::find(problems.begin(), problems.end(), drawn.problem) == problems.end()) {
      problems.push_back(drawn.problem);
    }
    html += figure_html(figure, drawn);
  }
  return html + "</div>\n";
}

std::string figures_html(const Summary& summary, std::vector<std::string>& problems) {
  const std::vector<Group> groups = groups_of(summary);
  const ReportFigures plan = plan_figures(summary.folder, groups);
  std::string html = drawn_figures(summary, plan.figures, problems);
  if (plan.figures.empty()) {
    html += note("No run has left anything to draw.");
  }
  if (plan.groups_left_out > 0) {
    html += note(fmt::format("{} further methods are not drawn; they are in the tables.",
                             plan.groups_left_out));
  }
  return html;
}

std::string theorems_html(const Summary& summary, std::vector<std::string>& problems) {
  return theorem_overview(summary) +
         "<p>Bounds hold in expectation: a verdict takes the interval over at least two seeds. A "
         "theorem whose preconditions are not met gives none.</p>\n" +
         drawn_figures(summary, plan_bound_figures(summary), problems) +
         details("Every theorem by method", theorem_details(summary));
}

std::string assumptions_html(const Summary& summary, std::vector<std::string>& problems) {
  const std::string verdicts = assumptions_table(summary);
  if (verdicts.empty()) {
    return {};
  }
  const auto curves = delta_against_workers(summary);
  return "<p>Each assumption is a ratio that must not exceed one. <b>In every measured "
         "iteration</b>: "
         "a single one above is a failure, and only a run that was measured in every iteration can "
         "hold. <b>On average</b>: the pooled ratio of a run, a row counting for the iterations "
         "until "
         "the next, its mean over the seeds with a 95 % interval (Student). Marginal: one lies in "
         "the "
         "interval. Undecided: iterations without a row may decide it. What fails on average does "
         "so "
         "after Holm's correction for all such tests of this study: chance makes any of them fail "
         "in "
         "at most 5 % of studies. Intervals are over the draws of the seeds; the data and, unless "
         "<code>workers.partition_seed</code> is \"run\", their partition are the same for all "
         "seeds.</p>\n" +
         verdicts +
         details("What is assumed, and how the ratio is formed", assumptions_legend(summary)) +
         workers_table(curves) + drawn_figures(summary, plan_workers_figures(curves), problems);
}

std::string practice_html(const Summary& summary) {
  const std::string practice = practice_table(summary);
  return practice.empty() ? practice
                          : "<p>Beside the plain algorithm; the theorems are about runs without "
                            "momentum, decay of weights and clipping.</p>\n" +
                                practice;
}

std::string late_html(const Summary& summary, std::vector<std::string>& problems) {
  const auto figures = plan_staleness_figures(summary);
  const std::string table = late_table(summary);
  return figures.empty() ? table : table + drawn_figures(summary, figures, problems);
}

/// Returns whether the run left its sums to MPI_Allreduce.
bool reduces_fast(const Run& run) {
  return !run.config.empty() && text_at(run.config, "config.aggregator.reduction") == "fast";
}

std::string repeat_html(const Summary& summary) {
  std::string html;
  const auto& runs = summary.folder.runs;
  if (std::any_of(runs.begin(), runs.end(), reduces_fast)) {
    html +=
        "<p>Runs with <code>reduction = \"fast\"</code> leave the order of dense sums to "
        "MPI_Allreduce: their last bits depend on the number of processes.</p>\n";
  }
  if (!summary.folder.command.empty()) {
    html += fmt::format("<p>This command makes the same numbers again:</p>\n<pre>{}</pre>\n",
                        escape(summary.folder.command));
  }
  const auto study = summary.folder.path / "study.toml";
  std::error_code ignored;
  if (std::filesystem::exists(study, ignored)) {
    html += details("The study file", fmt::format("<pre>{}</pre>\n", escape(read_file(study))));
  }
  return html;
}

std::string background_html(const Summary& summary) {
  const Json json = to_json(summary);
  std::string html = facts_table(json["timing"]);
  for (const auto& data : json["data"]) {
    html += "<h3>Data</h3>\n" + facts_table(data);
  }
  for (const auto& run : summary.folder.runs) {
    const Json& facts = value_at(run.status, "facts");
    if (facts.is_object() && !facts.empty()) {
      html += "<h3>Known of the objective</h3>\n" + facts_table(facts);
      break;
    }
  }
  return html + "<h3>Program and machine</h3>\n" + facts_table(json["provenance"]);
}

std::string page(const Summary& summary, std::vector<std::string>& problems) {
  std::string html = head(summary.folder.title) + "<body>\n" + headline(summary) + "<main>\n";
  html += section("Verdicts", verdict_table(summary));
  html += optional_section("Assumptions", assumptions_html(summary, problems));
  html += optional_section("Training practice", practice_html(summary));
  html += section("Where the runs ended", results_table(summary));
  html += optional_section("At equal cost", comparison_tables(summary));
  html += optional_section("On networks", network_tables(summary));
  html += optional_section("Late gradients", late_html(summary, problems));
  html += optional_section("Rates", rates_table(summary));
  html += section("Over the iterations", figures_html(summary, problems));
  html += optional_section("Layers", layers_html(summary));
  html += section("Theorems", theorems_html(summary, problems));
  html += section("How to read these numbers", explanations());
  html += section("Repeat it", repeat_html(summary));
  html += section("Every check", details("All invariants by method", checks_table(summary)));
  html += section(
      "Runs", details(fmt::format("All {} runs", summary.folder.runs.size()), runs_table(summary)));
  html += section(
      "Where it comes from",
      background_html(summary) + details("The columns of iterations.csv", column_reference()));
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace

Report write_report(const std::filesystem::path& result_dir) {
  const Summary summary = summarise(result_dir);
  Report report{.file = result_dir / "report.html", .problems = {}};
  write_file_atomically(report.file, page(summary, report.problems));
  return report;
}

}  // namespace residuum::reports
