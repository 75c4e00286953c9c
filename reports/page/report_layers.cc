#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/record/tables.h"
#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"
#include "reports/results/csv.h"
#include "reports/results/csv_reader.h"
#include "reports/summaries/collect.h"

namespace residuum::reports {
namespace {

/// LayerSums adds up one layer over the measured iterations of a method's runs.
struct LayerSums {
  std::string name;
  double size = 0;
  double sent = 0;
  double lost = 0;            // |(mean a - g/P)_l|^2
  double lost_at_random = 0;  // (1 - rho_l) |(mean a)_l|^2
  std::optional<double> largest;

  std::optional<double> delta() const {
    return lost_at_random > 0 ? std::optional(lost / lost_at_random) : std::nullopt;
  }
};

/// LayerTaker keeps the layers in the order in which they appear.
class LayerTaker {
 public:
  void read(const std::filesystem::path& file, const Run& run) {
    CsvReader reader(file);
    const std::size_t layer = reader.column(kLayersTable.key);
    while (reader.next()) {
      if (reader.text(0) != run.id) {
        reader.fail(fmt::format("the record is of another run: '{}'", reader.text(0)));
      }
      add(reader, at(reader.text(layer)));
    }
  }
  const std::vector<LayerSums>& layers() const { return layers_; }

 private:
  LayerSums& at(const std::string& name) {
    const auto [place, is_new] = places_.try_emplace(name, layers_.size());
    if (is_new) {
      layers_.push_back({.name = name, .largest = std::nullopt});
    }
    return layers_[place->second];
  }

  static std::optional<double> get(const CsvReader& reader, LayerColumn column) {
    return reader.number(reader.column(kLayerColumns.at(static_cast<std::size_t>(column)).name));
  }

  static void add(const CsvReader& reader, LayerSums& sums) {
    sums.size = get(reader, LayerColumn::size).value_or(sums.size);
    sums.sent += get(reader, LayerColumn::nnz_sent).value_or(0);
    const auto delta = get(reader, LayerColumn::delta);
    const auto energy = get(reader, LayerColumn::accumulator_norm_sq);
    const auto k = get(reader, LayerColumn::k);
    if (!delta || !energy || !k) {
      return;
    }
    const double at_random = (1 - *k / sums.size) * *energy;
    sums.lost += *delta * at_random;
    sums.lost_at_random += at_random;
    sums.largest = std::max(sums.largest.value_or(*delta), *delta);
  }

  std::map<std::string, std::size_t> places_;
  std::vector<LayerSums> layers_;
};

std::optional<double> share(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

std::string layer_table(const std::vector<LayerSums>& layers) {
  double size = 0;
  double sent = 0;
  for (const auto& layer : layers) {
    size += layer.size;
    sent += layer.sent;
  }
  std::vector<std::vector<Cell>> rows;
  rows.reserve(layers.size());
  for (const auto& layer : layers) {
    rows.push_back({text_cell(layer.name),
                    number_cell(format_integer(layer.size)),
                    number_cell(percent(share(layer.size, size))),
                    number_cell(percent(share(layer.sent, sent))),
                    number_cell(short_number(layer.delta())),
                    number_cell(short_number(layer.largest))});
  }
  return table({text_cell("layer"),
                number_cell("parameters"),
                number_cell("of all"),
                number_cell("of the entries sent"),
                number_cell("δ"),
                number_cell("largest δ")},
               rows);
}

}  // namespace

std::string layers_html(const Summary& summary) {
  std::string html;
  const ResultFolder& folder = summary.folder;
  for (const auto& group : summary.groups) {
    LayerTaker taker;
    for (const std::size_t i : group.group.runs) {
      const Run& run = folder.runs[i];
      if (has_details(run, kLayersTable)) {
        taker.read(details_path(run, kLayersTable), run);
      }
    }
    if (!taker.layers().empty()) {
      html += fmt::format("<details><summary>{}</summary>\n{}</details>\n",
                          escape(group.group.label),
                          layer_table(taker.layers()));
    }
  }
  if (html.empty()) {
    return html;
  }
  return "<p>δ of a layer is pooled over the measured iterations and the seeds: what the update "
         "misses "
         "of the mean accumulator there, over what a random selection would. Shares are of the "
         "layers "
         "in the table.</p>\n" +
         html;
}

}  // namespace residuum::reports
