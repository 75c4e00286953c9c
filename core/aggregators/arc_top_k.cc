// ARC-Top-K ("Communication-efficient distributed learning with all-reduce compatible Top-K
// compressor", arXiv 2510.26709) keeps the rows of a layer's matrix that a shared sketch finds
// large. M_p of worker p has m rows and n columns; V has n rows and r columns of normal numbers
// that all workers draw alike, anew for every exchange:
//   P_p = M_p V,  P = sum_p P_p,  S = the rows of largest |P_i|^2, ties to the lower row,
//   g_i = sum_p (M_p)_i for i in S, else 0.
// E |P_i|^2 is r times the squared norm of row i of the sum. A part `density` of the rows is kept,
// at least one. Both sums are all-reduces, and no index travels: every worker finds S in P. Each
// worker has applied its rows in S; the others stay in its memory.
//
// Vectors, and matrices whose sketch and rows would have as many numbers as they have themselves,
// are summed as they are with the sketches. The authors' code sends a sketch of a vector that is as
// long as the vector, and reshapes the filters of convolutions; here these are a row for each
// output, as in powersgd.cc. `algorithm` and `reduction` are those of dense sums.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "core/aggregators/low_rank.h"
#include "core/random/random.h"

namespace residuum {
namespace {

struct ArcRules {
  std::size_t rank = 4;  // r
  double density = 0.2;
  std::string place = {};  // of the kind, for messages
  DenseRules sums = {};

  std::size_t kept(const MatrixPlace& matrix) const {
    const double rows = density * static_cast<double>(matrix.rows);
    return std::max<std::size_t>(1, static_cast<std::size_t>(rows));
  }
  /// True if the sketch and the rows that are kept are fewer numbers than the matrix.
  bool shortens(const MatrixPlace& matrix) const {
    return matrix.rows > 1 &&
           rank * matrix.rows + kept(matrix) * matrix.columns < matrix.rows * matrix.columns;
  }
};

FactorPlan sketch_plan(std::span<const MatrixPlace> layers,
                       std::size_t dimension,
                       const ArcRules& rules) {
  return factor_plan(layers, dimension, rules.rank, [&](const MatrixPlace& layer) {
    return rules.shortens(layer);
  });
}

/// Returns how many numbers the rows have that are kept of all sketched layers.
std::size_t numbers_kept(const FactorPlan& plan, const ArcRules& rules) {
  std::size_t numbers = 0;
  for (const FactoredLayer& layer : plan.factored) {
    numbers += rules.kept(layer.matrix) * layer.matrix.columns;
  }
  return numbers;
}

template <class Real>
class ArcExchange final : public Exchange<Real> {
 public:
  explicit ArcExchange(ArcRules rules) : rules_(std::move(rules)) {}

  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               ExchangeResult<Real>& exchanged) override {
    rules_.sums.all_reduce.check(cluster.workers());
    prepare(contributions);
    begin(cluster, contributions, exchanged);
    Ledger ledger(cluster, exchanged.transfers);
    ledger.work_all([&] { draw(contributions.seed); });
    sketches_.sum(plan_, right_, contributions, rules_.sums, ledger);
    ledger.work_all([&] { choose_rows(exchanged); });
    if (!rows_.empty()) {
      sum_rows(contributions, ledger);
      ledger.work_all([&] { place_rows(exchanged.dense_sum); });
    }
    ++exchanges_;
    exchanged.traffic = ledger.traffic();
  }

  void save_or_load(const Cluster& /*cluster*/,
                    const Contributions<Real>& /*contributions*/,
                    RunState& state) override {
    state.shared(exchanges_);
  }

 private:
  void prepare(const Contributions<Real>& contributions) {
    if (!is_prepared_) {
      is_prepared_ = true;
      plan_ = sketch_plan(contributions.layers, contributions.dimension, rules_);
      right_.resize(plan_.right);
      rows_.resize(numbers_kept(plan_, rules_));
      chosen_.resize(plan_.factored.size());
    }
  }

  static void begin(const Cluster& cluster,
                    const Contributions<Real>& contributions,
                    ExchangeResult<Real>& exchanged) {
    exchanged.is_dense = true;
    exchanged.applied_whole = false;
    exchanged.in_equal_parts = true;
    exchanged.workers = cluster.workers();
    exchanged.dense_sum.assign(contributions.dimension, Real{0});
    exchanged.equal_places.clear();
  }

  /// Draws V of this exchange, column after column.
  void draw(std::uint64_t seed) {
    for (std::size_t layer = 0; layer < plan_.factored.size(); ++layer) {
      RandomStream random(seed,
                          Purpose::sketch,
                          static_cast<std::uint32_t>(layer),
                          static_cast<std::uint32_t>(exchanges_));
      for (Real& value : part_of(right_, plan_.factored[layer].right)) {
        value = static_cast<Real>(random.normal());
      }
    }
  }

  /// Chooses the rows of every layer, names the others, in which nothing was applied, and puts
  /// the layers that were summed as they are into g.
  void choose_rows(ExchangeResult<Real>& exchanged) {
    for (std::size_t layer = 0; layer < plan_.factored.size(); ++layer) {
      choose_rows_of(plan_.factored[layer], chosen_[layer]);
      name_other_rows(plan_.factored[layer].matrix, chosen_[layer], exchanged.equal_places);
    }
    sketches_.copy_plain(plan_, exchanged.dense_sum);
  }

  /// chosen := the rows of largest |P_i|^2, increasing. A norm that is no number counts as the
  /// largest, so that divergence is noticed.
  void choose_rows_of(const FactoredLayer& layer, std::vector<std::size_t>& chosen) {
    const std::size_t rows = layer.matrix.rows;
    const std::size_t kept = rules_.kept(layer.matrix);
    const auto left = sketches_.of(layer);
    norms_.assign(rows, 0.0);
    for (std::size_t i = 0; i < left.size(); ++i) {
      norms_[i % rows] += static_cast<double>(left[i]) * static_cast<double>(left[i]);
    }
    for (double& norm : norms_) {
      norm = std::isnan(norm) ? std::numeric_limits<double>::infinity() : norm;
    }
    chosen.resize(rows);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    const auto last = chosen.begin() + static_cast<std::ptrdiff_t>(kept);
    std::nth_element(chosen.begin(), last, chosen.end(), [&](std::size_t a, std::size_t b) {
      return norms_[a] > norms_[b] || (norms_[a] == norms_[b] && a < b);
    });
    chosen.resize(kept);
    std::sort(chosen.begin(), chosen.end());
  }

  static void name_other_rows(const MatrixPlace& matrix,
                              std::span<const std::size_t> chosen,
                              std::vector<Segment>& places) {
    std::size_t first = 0;  // row behind the last one that was chosen
    const auto name = [&](std::size_t last) {
      if (last > first) {
        places.push_back({.begin = matrix.begin + first * matrix.columns,
                          .size = (last - first) * matrix.columns});
      }
    };
    for (const std::size_t row : chosen) {
      name(row);
      first = row + 1;
    }
    name(matrix.rows);
  }

  void sum_rows(const Contributions<Real>& contributions, Ledger& ledger) {
    const Cluster& cluster = ledger.cluster();
    const auto add = [&](int worker, std::size_t begin, std::span<Real> block) {
      const auto accumulator = contributions.of_workers[cluster.slot(worker)].accumulator;
      for_each_row([&](std::size_t at, std::size_t packed, std::size_t columns) {
        add_overlap<Real>(accumulator.subspan(at, columns), packed, begin, block);
      });
    };
    sums_.take_and_charge(rules_.sums, std::cref(add), rows_, ledger);
  }

  void place_rows(std::span<Real> sum) const {
    for_each_row([&](std::size_t at, std::size_t packed, std::size_t columns) {
      std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(packed),
                  columns,
                  sum.begin() + static_cast<std::ptrdiff_t>(at));
    });
  }

  /// Calls act(at, packed, columns) for every row that was chosen: where it begins in the
  /// accumulator, and among the rows.
  template <class Act>
  void for_each_row(const Act& act) const {
    std::size_t packed = 0;
    for (std::size_t layer = 0; layer < plan_.factored.size(); ++layer) {
      const MatrixPlace& matrix = plan_.factored[layer].matrix;
      for (const std::size_t row : chosen_[layer]) {
        act(matrix.begin + row * matrix.columns, packed, matrix.columns);
        packed += matrix.columns;
      }
    }
  }

  ArcRules rules_;
  FactorPlan plan_;
  bool is_prepared_ = false;
  std::uint64_t exchanges_ = 0;
  LeftFactors<Real> sketches_;  // P
  std::vector<Real> right_;     // V of all layers
  std::vector<Real> rows_;      // the rows that were chosen
  std::vector<std::vector<std::size_t>> chosen_;
  std::vector<double> norms_;
  DenseSums<Real> sums_;
};

class ArcTopK final : public AggregatorFor<ArcExchange, ArcRules> {
 public:
  explicit ArcTopK(const ArcRules& rules) : AggregatorFor(rules), rules_(rules) {}

  AggregatorLaw law() const override {
    return {.applies_whole_messages = false,
            .drops_in_merges = false,
            .is_sparse = false,
            .approximates_sum = true,
            .completes_support = true};
  }
  bool reads_matrices() const override { return true; }
  bool needs_k() const override { return false; }
  void check(int workers, std::span<const MatrixPlace> layers) const override {
    rules_.sums.all_reduce.check(workers);
    const bool is_of_use = std::any_of(
        layers.begin(), layers.end(), [&](const auto& layer) { return rules_.shortens(layer); });
    require(is_of_use,
            "{}: a sketch of {} columns and the part {} of the rows shorten no layer; take a "
            "smaller rank or density, or aggregator \"dense\"",
            rules_.place,
            rules_.rank,
            rules_.density);
  }

  TrafficModel traffic_model(const TrafficShape& shape) const override {
    const FactorPlan plan =
        sketch_plan(shape.layers, static_cast<std::size_t>(shape.dimension), rules_);
    const auto numbers = static_cast<double>(plan.packed + numbers_kept(plan, rules_));
    return {.bytes = rules_.sums.all_reduce.traffic(shape.workers, numbers * shape.value_bytes),
            .exact = true};
  }

 private:
  ArcRules rules_;
};

}  // namespace

std::unique_ptr<Aggregator> make_arc_top_k(const Section& section) {
  const double density =
      section.fraction("density", 0.2, "it is the part of a layer's rows that is kept");
  return std::make_unique<ArcTopK>(ArcRules{.rank = rank_from(section, 4),
                                            .density = density,
                                            .place = section.where("kind"),
                                            .sums = dense_rules_from(section)});
}

}  // namespace residuum
