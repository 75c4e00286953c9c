#include "reports/page/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "reports/analysis/statistics.h"
#include "reports/figures/report_figures.h"
#include "reports/latex/study_tables.h"
#include "reports/latex/write_tables.h"
#include "reports/page/figure_writer.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"
#include "reports/results/files.h"
#include "reports/summaries/summary_json.h"
#include "reports/verdicts/summary.h"
#include "reports/verdicts/verdict.h"

namespace residuum::reports {
namespace {

std::string counts_line(const Summary& summary) {
  const std::size_t idle = methods_not_begun(summary.folder, groups_of(summary)).size();
  const std::size_t methods = summary.groups.size() + idle;
  const std::size_t runs = summary.folder.runs.size();
  std::string text = fmt::format("{} method{}{}, {} run{}",
                                 methods,
                                 methods == 1 ? "" : "s",
                                 idle == 0 ? "" : fmt::format(" ({} not begun)", idle),
                                 runs,
                                 runs == 1 ? "" : "s");
  for (const auto& [state, count] : summary.states) {
    text += fmt::format(", {} {}", count, state);
  }
  if (const std::size_t tuning = summary.folder.tuning_runs.size(); tuning > 0) {
    text += fmt::format("; {} tuning runs beside them", tuning);
  }
  return text;
}

/// Returns the sentence with a capital and a full stop.
std::string as_sentence(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text + '.';
}

/// Returns what the study found, first of all the answer to what it was made for.
std::string headline(const Summary& summary) {
  std::vector<std::string> sentences;
  if (summary.search) {
    sentences.push_back(as_sentence(sentence_of(*summary.search)));
  }
  sentences.push_back(answer(summary));
  for (auto& sentence : findings(summary)) {
    sentences.push_back(std::move(sentence));
  }
  if (summary.tuning) {
    for (const auto& method : summary.tuning->methods) {
      const std::string warning = edge_warning(*summary.tuning, method);
      if (!warning.empty()) {
        sentences.push_back(as_sentence(warning));
      }
    }
  }
  std::string html = fmt::format(
      "<header>\n<p class=\"kind\">Convergence study <code>{}</code> · {}</p>\n<h1>{}</h1>\n"
      "<p class=\"answer\">{}</p>\n<ul class=\"findings\">\n",
      escape(summary.folder.name),
      escape(counts_line(summary)),
      escape(summary.folder.title),
      escape(sentences.front()));
  for (std::size_t i = 1; i < sentences.size(); ++i) {
    html += fmt::format("<li>{}</li>\n", escape(sentences[i]));
  }
  return html + "</ul>\n</header>\n";
}

/// Returns a section that the page's navigation knows; empty where there is nothing in it.
std::string section(std::string_view id, std::string_view title, const std::string& body) {
  if (body.empty()) {
    return body;
  }
  return fmt::format(
      "<section id=\"{}\">\n<h2 tabindex=\"-1\">{}</h2>\n{}</section>\n", id, escape(title), body);
}

std::string part(std::string_view title, const std::string& body) {
  return body.empty() ? body : fmt::format("<h3>{}</h3>\n{}", escape(title), body);
}

std::string details(std::string_view title, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escape(title), body);
}

std::string note(std::string_view text) {
  return fmt::format("<p class=\"note\">{}</p>\n", escape(text));
}

/// Takes the figures of one section out of the plan.
std::vector<ReportFigure> take(std::vector<ReportFigure>& figures, FigureSection section) {
  std::vector<ReportFigure> taken;
  for (auto& figure : figures) {
    if (figure.section == section) {
      taken.push_back(std::move(figure));
    }
  }
  std::erase_if(figures, [&](const ReportFigure& figure) { return figure.section == section; });
  return taken;
}

std::string verdicts_html(const Summary& summary) {
  const std::string matrix = verdict_matrix(summary);
  std::string html;
  if (!matrix.empty()) {
    html =
        matrix + details("Worst ratios and where they were", verdict_places(summary)) +
        details("What is assumed, how the ratio is formed, and what the words mean",
                "<p>Each assumption is a ratio, and what it is held against stands below its "
                "name: most must not exceed one, and those with = 1 or = 0 are expected to be "
                "that. <b>In every measured iteration</b>: a single ratio above one is a failure, "
                "and only a run that was measured in every iteration can hold. <b>On average</b>: "
                "the pooled ratio of a run, a row counting for the iterations until the next, its "
                "mean over the seeds with a 95 % interval (Student). A limit holds where the "
                "interval ends at it or below, and is marginal where it lies within; an "
                "expectation holds where the interval contains it. Undecided: iterations without a "
                "row may decide it. What fails on average does so after Holm's correction for all "
                "such tests of this study: chance makes any of them fail in at most 5 % of "
                "studies. What would fail by its own interval alone is marginal, too. Intervals "
                "are over the draws of the seeds; the data and, unless "
                "<code>workers.partition_seed</code> is \"run\", their partition are the "
                "same for all seeds.</p>\n" +
                    assumptions_legend(summary));
  }
  return html + details("Invariants, by method", invariants_table(summary));
}

std::string practice_html(const Summary& summary) {
  const std::string practice = practice_table(summary);
  return practice.empty() ? practice
                          : "<p>Beside the plain algorithm; the theorems are about runs without "
                            "momentum, decay of weights and clipping.</p>\n" +
                                practice;
}

/// Contents are the data from which the page and the tables beside it are made.
struct Contents {
  const Summary* summary = nullptr;
  IntervalKind kind = IntervalKind::quartiles;
  std::vector<TableSpec> tables;
};

std::string targets_html(const Contents& contents, FigureWriter& writer) {
  const Summary& summary = *contents.summary;
  const auto figures = plan_target_figures(summary.folder, groups_of(summary), summary.targets);
  if (figures.empty()) {
    return {};
  }
  return writer.draw(figures) + details("What each method spent until it reached targets",
                                        spec_tables(contents.tables, "time-to-target"));
}

std::string curves_html(const Contents& contents, ReportFigures& plan, FigureWriter& writer) {
  const Summary& summary = *contents.summary;
  const IntervalKind kind = contents.kind;
  std::string html = writer.draw(take(plan.figures, FigureSection::headline));
  if (html.empty()) {
    html = note("No run has left anything to draw.");
  }
  if (plan.groups_left_out > 0) {
    html += note(fmt::format("{} further methods are not drawn; they are in the tables.",
                             plan.groups_left_out));
  }
  const std::string names = names_table(summary);
  html += names.empty() ? names : details("What the names of methods stand for", names);
  html += part("Where the runs ended",
               results_table(summary, kind) + writer.draw(plan_end_figures(summary, kind))) +
          part("At equal cost",
               comparison_tables(summary, kind) + spec_tables(contents.tables, "at-bytes")) +
          part("Rates", rates_table(summary));
  html += part("Targets reached", targets_html(contents, writer));
  html += part("Published values and ours", spec_tables(contents.tables, "expected"));
  return html + part("Training practice", practice_html(summary)) +
         part("Tables for a paper", table_links(contents.tables));
}

/// Returns the figures of bounds, folded: a study may have many of them.
std::string bounds_html(const Summary& summary, FigureWriter& writer) {
  auto figures = plan_bound_figures(summary);
  const std::size_t count = figures.size();
  const std::string drawn = writer.draw(std::move(figures));
  return drawn.empty() ? drawn
                       : details(fmt::format("What the bounds allow over the run: {} figure{}",
                                             count,
                                             count == 1 ? "" : "s"),
                                 drawn);
}

std::string theorems_html(const Summary& summary, FigureWriter& writer) {
  return theorem_overview(summary) +
         "<p>Bounds hold in expectation: a verdict takes the interval over at least two seeds. A "
         "theorem whose preconditions are not met gives none.</p>\n" +
         bounds_html(summary, writer) +
         details("Every theorem by method", theorem_details(summary));
}

std::string assumptions_html(const Contents& contents, ReportFigures& plan, FigureWriter& writer) {
  const Summary& summary = *contents.summary;
  const auto curves = delta_against_workers(summary);
  return writer.draw(take(plan.figures, FigureSection::assumptions)) + workers_table(curves) +
         writer.draw(plan_workers_figures(curves, contents.kind)) +
         part("Certificate and theorems", theorems_html(summary, writer)) +
         part("Layers", layers_html(summary));
}

std::string distributions_html(const Contents& contents,
                               ReportFigures& plan,
                               FigureWriter& writer) {
  const Summary& summary = *contents.summary;
  const std::string late =
      late_table(summary) + writer.draw(plan_staleness_figures(summary, contents.kind));
  return writer.draw(take(plan.figures, FigureSection::distributions)) +
         writer.draw(plan_energy_figures(summary, contents.kind)) +
         writer.draw(plan_magnitude_figures(summary, contents.kind)) + part("Late gradients", late);
}

std::string predictions_html(const Contents& contents, FigureWriter& writer) {
  const std::string drawn = writer.draw(plan_prediction_figures(*contents.summary, contents.kind));
  return drawn + spec_tables(contents.tables, "predicted-times");
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
    const bool is_one = summary.folder.command.find('\n') == std::string::npos;
    html += fmt::format("<p>{} the same numbers again:</p>\n<pre>{}</pre>\n",
                        is_one ? "This command makes" : "These commands make",
                        escape(summary.folder.command));
  }
  const auto& sources = summary.folder.sources;
  for (const auto& source : sources) {
    const auto study = source / "study.toml";
    std::error_code ignored;
    if (std::filesystem::exists(study, ignored)) {
      const std::string title =
          sources.size() == 1 ? "The study file" : "The study file of " + source.string();
      html += details(escape(title), fmt::format("<pre>{}</pre>\n", escape(read_file(study))));
    }
  }
  return html;
}

std::string background_html(const Summary& summary) {
  const Json json = background_json(summary.folder);
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

std::string provenance_html(const Summary& summary) {
  return repeat_html(summary) + details("How to read these numbers", explanations()) +
         details("Every check, by method", checks_table(summary)) +
         details("Where it comes from", background_html(summary)) +
         details("The columns of iterations.csv", column_reference());
}

/// Returns in words how many methods have too few runs that finished for a bootstrap interval;
/// empty for none. A value that diverged runs have as well, such as an accuracy of 0, may have one
/// all the same.
std::string without_bootstrap(const Summary& summary) {
  const std::size_t least = least_bootstrap_values();
  const auto few =
      std::count_if(summary.groups.begin(), summary.groups.end(), [&](const auto& one) {
        return one.finished > 0 && one.finished < least;
      });
  return few == 0 ? std::string()
                  : fmt::format(
                        "a bootstrap interval needs {} values: {} of {} methods {} fewer runs "
                        "that finished, and no interval of what these alone have",
                        least,
                        few,
                        summary.groups.size(),
                        few == 1 ? "has" : "have");
}

/// Returns the links to the sections that the page has.
std::string navigation(const std::vector<std::pair<std::string, std::string>>& sections) {
  std::string html = "<nav aria-label=\"Sections\"><ul>\n";
  for (const auto& [id, title] : sections) {
    html += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, escape(title));
  }
  return html + "</ul></nav>\n";
}

std::string page(const Contents& contents, FigureWriter& writer) {
  const Summary& summary = *contents.summary;
  ReportFigures plan =
      plan_figures(summary.folder, groups_of(summary), contents.kind, residual_bounds(summary));
  std::string body;
  std::vector<std::pair<std::string, std::string>> sections;
  const auto add = [&](const char* id, const char* title, const std::string& html) {
    if (!html.empty()) {
      sections.emplace_back(id, title);
      body += section(id, title, html);
    }
  };
  add("verdicts", "Verdicts", verdicts_html(summary));
  add("search", "The search", search_table(summary));
  add("tuning", "Tuning", tuning_html(summary, writer));
  add("curves", "Over the iterations", curves_html(contents, plan, writer));
  add("assumptions", "Assumptions", assumptions_html(contents, plan, writer));
  add("distributions", "Distributions", distributions_html(contents, plan, writer));
  add("phases", "Phase diagrams", phase_diagrams(summary, writer));
  add("networks", "On networks", network_tables(summary));
  add("predictions", "Predicted and measured time", predictions_html(contents, writer));
  add("runs", "Runs", runs_table(summary));
  add("provenance", "Repeat it", provenance_html(summary));
  return page_head(summary.folder.title) +
         "<body>\n<a class=\"skip\" href=\"#verdicts\">Skip to the verdicts</a>\n" +
         headline(summary) + navigation(sections) + "<main id=\"main\">\n" + body + "</main>\n" +
         data_element(page_data(summary, writer.figures())) + page_scripts() + "</body>\n</html>\n";
}

}  // namespace

Report write_report(const Summary& summary, IntervalKind kind, const TableChoice& choice) {
  const OutputPath result_dir = OutputPath::named(summary.folder.path);
  const Contents contents{.summary = &summary,
                          .kind = kind,
                          .tables = study_tables(summary, summary.targets, kind, choice.budgets)};
  const auto printed = printed_tables(contents.tables, choice);
  remove_leftovers(result_dir);
  write_tables(contents.tables, printed, result_dir / "tables");
  FigureWriter writer(result_dir / "figures");
  Report report{.file = (result_dir / "report.html").path(), .problems = {}};
  write_file_atomically(report.file, page(contents, writer));
  writer.remove_old();
  if (!summary.folder.mixed_data.empty()) {
    report.problems.push_back(summary.folder.mixed_data);
  }
  if (const std::string problem = writer.problem(); !problem.empty()) {
    report.problems.push_back(problem);
  }
  if (const std::string unfinished = unfinished_sentence(summary); !unfinished.empty()) {
    report.problems.push_back(unfinished);
  }
  if (const std::string unlisted = unlisted_sentence(summary.folder); !unlisted.empty()) {
    report.problems.push_back(unlisted);
  }
  const std::string without =
      kind == IntervalKind::bootstrap ? without_bootstrap(*contents.summary) : "";
  if (!without.empty()) {
    report.problems.push_back(without);
  }
  return report;
}

}  // namespace residuum::reports
