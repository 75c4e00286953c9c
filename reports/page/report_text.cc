#include <fmt/format.h>

#include <array>
#include <string_view>

#include "core/record/columns.h"
#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"

namespace residuum::reports {
namespace {

struct Explanation {
  std::string_view name;
  std::string_view formula;
  std::string_view reading;
  std::string_view source;
};

constexpr std::array<Explanation, 13> kExplanations{{
    {"δ, the gTop-k assumption",
     "δ = ‖ā − ĝ/P‖² / ((1 − k/d) ‖ā‖²)",
     "ā is the mean of the workers' accumulators (residual + step × gradient), ĝ the sparse sum "
     "that "
     "was applied. The proof of gTop-k assumes that the global selection loses no more than a "
     "random "
     "one of k entries: δ ≤ 1 in every iteration. Values just below 1 are usual when k/d is small; "
     "0 "
     "would be no loss at all. δ > 1 does not mean that the run fails: the theorems need q < 1, "
     "and "
     "δ ≤ 1 only suffices for it.",
     "Shi, Zhao, Wang, Tang, Chu: A Convergence Analysis of Distributed SGD with "
     "Communication-Efficient Gradient Sparsification, IJCAI 2019"},
    {"q, the contraction of the gap",
     "q = ‖e′‖² / ‖e + η ḡ‖², e = w − z, e′ the same after the step",
     "z is the model that dense SGD would have reached with the same gradients. As long as q stays "
     "below a number under 1, the gap between w and z stays bounded and sparse SGD keeps the rate "
     "of "
     "dense SGD, slowed by about 1/(1 − q).",
     "Stich, Cordonnier, Jaggi: Sparsified SGD with Memory, NeurIPS 2018; Karimireddy, Rebjock, "
     "Stich, Jaggi: Error Feedback Fixes SignSGD, ICML 2019"},
    {"Conservation",
     "Σ e′ + ĝ = Σ a, equivalently w − z = mean e",
     "What the workers computed is either applied or kept for later. The defect is the difference "
     "of "
     "both sides relative to their scale: about 1e-7 or less is the rounding of float32; anything "
     "else is mass that leaks. The put-back rule of the published gTop-k tree leaks: a value "
     "truncated in one branch leaves its sender's residual when its index wins through another.",
     "follows from error feedback; the published rule: Shi et al.: A Distributed Synchronous SGD "
     "Algorithm with Global Top-k Sparsification, ICDCS 2019"},
    {"Lost mass",
     "ℓ = Σ a − Σ e′ − ĝ",
     "What one iteration dropped for good. Zero for a conserving method. It is never fed back, so "
     "over the iterations it adds up.",
     "as above"},
    {"Residual",
     "mean over workers of ‖e‖²",
     "What is held back at the workers. It should level off; if it grows without end, more comes "
     "in "
     "than is sent.",
     "Stich et al. 2018; its sum over time is the total error of Sahu et al.: Rethinking Gradient "
     "Sparsification as Total Error Minimization, NeurIPS 2021"},
    {"X_T",
     "(1/T) Σ ‖∇f(w)‖² over all iterations",
     "What convergence theorems for non-convex losses bound; smaller is better. Given only when "
     "the "
     "full gradient was evaluated in every iteration.",
     "Ghadimi, Lan: Stochastic First- and Zeroth-order Methods, SIAM J. Optim. 2013"},
    {"Certificate",
     "Σ η ‖∇f(w)‖² ≤ 2(f(z₀) − f(z_T)) + L Σ η²‖ḡ‖² + L² Σ η‖w − z‖², both sides over Σ η",
     "Holds in expectation for every method in this program without momentum, whatever it sends: "
     "the "
     "gap w − z is measured, not bounded. Its terms say what the method pays for: the way to go, "
     "the "
     "noise, what is held back, and what was lost for good.",
     "from the smoothness of f; the skeleton of the proofs in Stich et al. 2018 and Karimireddy et "
     "al. 2019"},
    {"Theorems: verdict and slack",
     "slack = right side / left side",
     "Each theorem is evaluated with measured constants; where a constant is exact the table says "
     "so. holds: the 95 % interval over the seeds of left − right ends at or below zero; fails: it "
     "begins above; marginal: it spans zero; undecided: there is no interval, for want of seeds. "
     "Not "
     "applicable: a precondition is not met, and the theorem says nothing. Not measured: a "
     "constant "
     "is missing; add the probe that measures it. A large slack is a bound that says little about "
     "this run.",
     "each theorem names its paper"},
    {"Measured constants",
     "the largest of 64 window means over all seeds",
     "Theorems ask for constants that hold in every iteration: M² ≥ E‖ḡ‖², σ², ζ², the contraction "
     "q. The largest single draw would be biased upwards; the mean over the run would not cover "
     "its "
     "worst part. L is exact where the objective knows it, else the largest ratio seen, which the "
     "true L can only exceed.",
     ""},
    {"T*, the horizon of a rate",
     "T* = T (fast terms / leading terms)² with η = θ/√T",
     "From T* iterations on the terms of order 1/√T, those of dense SGD, outweigh what "
     "sparsification "
     "adds. A run that is much shorter than T* shows nothing of the rate.",
     "Shi et al., IJCAI 2019; Karimireddy et al., ICML 2019"},
    {"Other invariants",
     "lhs ≤ rhs, or equality up to rounding",
     "Facts that need no assumption, such as the recursion of the residual, the bound of the hard "
     "threshold on every entry it leaves, and the count of bytes. PASS: held wherever looked at. "
     "FAIL: the program "
     "or the machine is wrong; do not trust the run. “fails, as known”: a published rule that is "
     "known to violate it, run on purpose. “held here”: such a rule that did no harm in this "
     "study.",
     ""},
    {"Medians, bands, intervals",
     "mean ± t s/√n, Student's t with n − 1 degrees of freedom",
     "Tables and bands over the seeds say which they are: median and quartiles (IQR) unless the "
     "report was asked for the mean with an interval. Verdicts, differences and rates take the 95 "
     "% "
     "interval of the mean; with fewer than two seeds there is none. The interval says how well "
     "these seeds determine the mean on this data "
     "set, not how another data set would behave. Runs that diverged count for the assumptions "
     "as far as they went. They have no end: there they are misses, infinite (an accuracy of 0), "
     "which makes a mean infinite and a median only if half of the seeds are. Curves are of the "
     "runs that had not diverged by then; the row of a method says how many have.",
     ""},
    {"Bytes",
     "all messages of all workers, values and indices",
     "Counted as they were sent, not modelled.",
     ""},
}};

}  // namespace

std::string explanations() {
  std::string html = "<dl>\n";
  for (const auto& one : kExplanations) {
    html += fmt::format("<dt>{}</dt>\n<dd><p class=\"formula\">{}</p><p>{}</p>",
                        escape(one.name),
                        escape(one.formula),
                        escape(one.reading));
    if (!one.source.empty()) {
      html += fmt::format("<p class=\"source\">{}</p>", escape(one.source));
    }
    html += "</dd>\n";
  }
  return html + "</dl>\n";
}

std::string column_reference() {
  std::vector<std::vector<Cell>> rows;
  rows.reserve(kColumns.size());
  for (const auto& column : kColumns) {
    rows.push_back(
        {{.html = fmt::format("<code>{}</code>", escape(column.name)), .is_number = false},
         text_cell(column.unit),
         text_cell(column.meaning)});
  }
  return table({text_cell("column"), text_cell("unit"), text_cell("meaning")}, rows);
}

Cell measured_cell(const std::optional<double>& value,
                   const std::optional<Interval>& interval,
                   bool is_best) {
  Cell cell = number_cell(short_number(value, digits_for(interval)));
  if (is_best) {
    cell.html = fmt::format("<strong>{}</strong>", cell.html);
  }
  return cell;
}

namespace {

Cell spec_cell(const TableColumn& column, const TableCell& from) {
  if (!column.is_number) {
    return text_cell(from.text);
  }
  Cell cell = measured_cell(from.value, from.interval, from.is_best);
  cell.value = from.value;
  if (from.interval) {
    cell.html += small(short_interval(*from.interval));
  }
  return cell;
}

std::string spec_table(const TableSpec& spec) {
  std::vector<Cell> header;
  for (const auto& column : spec.columns) {
    header.push_back(column.is_number ? number_cell(column.title) : text_cell(column.title));
  }
  std::vector<std::vector<Cell>> rows;
  for (const auto& from : spec.rows) {
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < from.size(); ++i) {
      row.push_back(spec_cell(spec.columns[i], from[i]));
    }
  }
  TableUse use;
  use.methods = spec.methods;
  return fmt::format("<p>{}</p>\n", escape(full_caption(spec))) + table(header, rows, use);
}

}  // namespace

std::string spec_tables(const std::vector<TableSpec>& specs, std::string_view name) {
  std::string html;
  for (const auto& spec : specs) {
    html += spec.name.starts_with(name) ? spec_table(spec) : std::string();
  }
  return html;
}

std::string table_links(const std::vector<TableSpec>& specs) {
  std::string html;
  for (const auto& spec : specs) {
    html += fmt::format(
        "<li>{0}: <a href=\"tables/{0}.csv\">CSV</a>, <a href=\"tables/{0}.md\">Markdown</a>, "
        "<a href=\"tables/{0}.tex\">LaTeX</a>, "
        "<a href=\"tables/{0}.caption.tex\">its caption</a></li>\n",
        spec.name);
  }
  return html.empty() ? html : fmt::format("<ul>\n{}</ul>\n", html);
}

}  // namespace residuum::reports
