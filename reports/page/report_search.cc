#include <fmt/format.h>

#include <optional>
#include <vector>

#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"

namespace residuum::reports {
namespace {

Cell mean_cell(double value, const std::optional<Interval>& interval) {
  Cell cell = number_cell(short_number(value, digits_for(interval)));
  cell.value = value;
  if (interval) {
    cell.html += small(short_interval(*interval));
  }
  return cell;
}

Cell counted_cell(double value) {
  Cell cell = number_cell(short_number(value));
  cell.value = value;
  return cell;
}

std::vector<Cell> look_row(const CriticalRatio& search, std::size_t number) {
  const SearchLook& look = search.result.looks[number];
  return {counted_cell(static_cast<double>(number + 1)),
          text_cell(search.name(look.level)),
          counted_cell(static_cast<double>(look.n)),
          counted_cell(look.error),
          mean_cell(look.loss, look.loss_interval),
          mean_cell(look.excess, look.excess_interval),
          text_cell(word_of(look.decision))};
}

}  // namespace

std::string search_table(const Summary& summary) {
  if (!summary.search) {
    return {};
  }
  const CriticalRatio& search = *summary.search;
  if (search.result.looks.empty()) {
    return "<p class=\"note\">Too few runs have ended for a first look.</p>\n";
  }
  std::vector<std::vector<Cell>> rows;
  for (std::size_t number = 0; number < search.result.looks.size(); ++number) {
    rows.push_back(look_row(search, number));
  }
  const std::string about = fmt::format(
      "The looks in the order in which they were made. The loss is by how much {} of compressed "
      "training ends worse than that of dense training, mean over the seeds, with Student's "
      "interval of confidence 1 − error; the excess is the loss less the margin, and its interval "
      "decides.",
      search.quantity);
  return fmt::format("<p>{}</p>\n", escape(about)) +
         table({number_cell("look"),
                text_cell(search.ratios.empty() ? search.key : "compression"),
                number_cell("seeds"),
                number_cell("error"),
                number_cell("loss"),
                number_cell("excess"),
                text_cell("decision")},
               rows,
               {.id = "search-table", .caption = {}, .is_searched = false, .methods = {}});
}

}  // namespace residuum::reports
