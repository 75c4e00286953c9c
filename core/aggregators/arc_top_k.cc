// ARC-Top-K ("Communication-efficient distributed learning with all-reduce compatible Top-K
// compressor", arXiv 2510.26709) keeps the rows of a layer's matrix that a shared sketch finds
// large. M_p of worker p has m rows and n columns; V has n rows and r columns of normal numbers
// that all workers draw alike, anew for every exchange:
//   P_p = M_p V,  P = sum_p P_p,  S = the rows of largest |P_i|^2, ties to the lower row,
//   g_i = sum_p (M_p)_i for i in S, else 0.
// E |P_i|^2 is r times the squared norm of row i of the sum. A part `density` of the rows is kept,
// at least one. Both sums are all-reduces, and no index travels: every worker finds S in P. Each
// worker has delivered its rows in S; the others stay in its memory.
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

#include "core/aggregators/dense_sums.h"
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

/// A layer that is sketched has P_p, V and its rows at these places among those of all layers.
struct SketchedLayer {
  MatrixPlace matrix;
  Segment left, right, rows;
  std::size_t kept = 0;  // rows
};

/// A layer that is summed as it is has a place in the first all-reduce, behind all sketches.
struct PlainLayer {
  Segment at;
  std::size_t packed = 0;
};

struct ArcPlan {
  std::vector<SketchedLayer> sketched;
  std::vector<PlainLayer> plain;
  std::size_t left = 0;    // numbers of all P
  std::size_t packed = 0;  // those and the plain layers
  std::size_t right = 0;   // numbers of all V
  std::size_t rows = 0;    // numbers of all rows that are kept
};

void plan_layer(const MatrixPlace& layer, const ArcRules& rules, ArcPlan& plan) {
  if (!rules.shortens(layer)) {
    plan.plain.push_back({.at = {.begin = layer.begin, .size = layer.rows * layer.columns}});
    return;
  }
  const std::size_t kept = rules.kept(layer);
  plan.sketched.push_back({.matrix = layer,
                           .left = {.begin = plan.left, .size = rules.rank * layer.rows},
                           .right = {.begin = plan.right, .size = rules.rank * layer.columns},
                           .rows = {.begin = plan.rows, .size = kept * layer.columns},
                           .kept = kept});
  plan.left += rules.rank * layer.rows;
  plan.right += rules.rank * layer.columns;
  plan.rows += kept * layer.columns;
}

ArcPlan arc_plan_of(std::span<const MatrixPlace> layers,
                    std::size_t dimension,
                    const ArcRules& rules) {
  ArcPlan plan;
  for (const MatrixPlace& layer : layers) {
    plan_layer(layer, rules, plan);
  }
  if (layers.empty()) {
    plan_layer({.rows = dimension}, rules, plan);
  }
  plan.packed = plan.left;
  for (PlainLayer& layer : plan.plain) {
    layer.packed = plan.packed;
    plan.packed += layer.at.size;
  }
  return plan;
}

template <class Numbers>
auto piece(Numbers& numbers, const Segment& at) {
  return std::span(numbers).subspan(at.begin, at.size);
}

template <class Real>
class ArcExchange final : public Exchange<Real> {
 public:
  explicit ArcExchange(ArcRules rules) : rules_(std::move(rules)) {}

  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               Delivery<Real>& delivery) override {
    rules_.sums.all_reduce.check(cluster.workers());
    prepare(contributions);
    begin(cluster, contributions, delivery);
    Ledger ledger(cluster, delivery.transfers);
    ledger.work_all([&] { draw(contributions.seed); });
    sum_sketches(contributions, ledger);
    ledger.work_all([&] { choose_rows(delivery); });
    if (plan_.rows > 0) {
      sum_rows(contributions, ledger);
      ledger.work_all([&] { place_rows(delivery.dense_sum); });
    }
    ++exchanges_;
    delivery.traffic = ledger.traffic();
  }

  void visit(const Cluster& /*cluster*/,
             const Contributions<Real>& /*contributions*/,
             RunState& state) override {
    state.shared(exchanges_);
  }

 private:
  void prepare(const Contributions<Real>& contributions) {
    if (!is_prepared_) {
      is_prepared_ = true;
      plan_ = arc_plan_of(contributions.layers, contributions.dimension, rules_);
      packed_.resize(plan_.packed);
      right_.resize(plan_.right);
      rows_.resize(plan_.rows);
      chosen_.resize(plan_.sketched.size());
    }
    if (lefts_.size() < contributions.of_workers.size()) {
      lefts_.resize(contributions.of_workers.size(), std::vector<Real>(plan_.left));
    }
  }

  static void begin(const Cluster& cluster,
                    const Contributions<Real>& contributions,
                    Delivery<Real>& delivery) {
    delivery.is_dense = true;
    delivery.applied_whole = false;
    delivery.in_equal_parts = true;
    delivery.workers = cluster.workers();
    delivery.dense_sum.assign(contributions.dimension, Real{0});
    delivery.equal_places.clear();
  }

  /// Draws V of this exchange, column after column.
  void draw(std::uint64_t seed) {
    for (std::size_t layer = 0; layer < plan_.sketched.size(); ++layer) {
      RandomStream random(seed,
                          Purpose::sketch,
                          static_cast<std::uint32_t>(layer),
                          static_cast<std::uint32_t>(exchanges_));
      for (Real& value : piece(right_, plan_.sketched[layer].right)) {
        value = static_cast<Real>(random.normal());
      }
    }
  }

  /// Sums M_p V over the workers, and the layers that have no sketch.
  void sum_sketches(const Contributions<Real>& contributions, Ledger& ledger) {
    const Cluster& cluster = ledger.cluster();
    for (int worker = 0; worker < cluster.workers(); ++worker) {
      ledger.work(worker, [&] { sketch(contributions, cluster.slot(worker)); });
    }
    const auto add = [&](int worker, std::size_t begin, std::span<Real> block) {
      const std::size_t slot = cluster.slot(worker);
      add_overlap<Real>(lefts_[slot], 0, begin, block);
      for (const PlainLayer& layer : plan_.plain) {
        add_overlap<Real>(piece(contributions.of_workers[slot].accumulator, layer.at),
                          layer.packed,
                          begin,
                          block);
      }
    };
    sums_.take_and_charge(rules_.sums, std::cref(add), packed_, ledger);
  }

  void sketch(const Contributions<Real>& contributions, std::size_t slot) {
    for (const SketchedLayer& layer : plan_.sketched) {
      const auto& [begin, rows, columns] = layer.matrix;
      low_rank::multiply<Real>(
          contributions.of_workers[slot].accumulator.subspan(begin, rows * columns),
          rules_.rank,
          piece(right_, layer.right),
          piece(lefts_[slot], layer.left));
    }
  }

  /// Chooses the rows of every layer, names the others, in which nothing was delivered, and puts
  /// the layers that were summed as they are into g.
  void choose_rows(Delivery<Real>& delivery) {
    for (std::size_t layer = 0; layer < plan_.sketched.size(); ++layer) {
      choose_rows_of(plan_.sketched[layer], chosen_[layer]);
      name_other_rows(plan_.sketched[layer].matrix, chosen_[layer], delivery.equal_places);
    }
    for (const PlainLayer& layer : plan_.plain) {
      const auto sum = piece(packed_, {.begin = layer.packed, .size = layer.at.size});
      std::copy(sum.begin(), sum.end(), piece(delivery.dense_sum, layer.at).begin());
    }
  }

  /// chosen := the rows of largest |P_i|^2, increasing. A norm that is no number counts as the
  /// largest, so that divergence is noticed.
  void choose_rows_of(const SketchedLayer& layer, std::vector<std::size_t>& chosen) {
    const std::size_t rows = layer.matrix.rows;
    const auto left = piece(packed_, layer.left);
    norms_.assign(rows, 0.0);
    for (std::size_t i = 0; i < left.size(); ++i) {
      norms_[i % rows] += static_cast<double>(left[i]) * static_cast<double>(left[i]);
    }
    for (double& norm : norms_) {
      norm = std::isnan(norm) ? std::numeric_limits<double>::infinity() : norm;
    }
    chosen.resize(rows);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    const auto last = chosen.begin() + static_cast<std::ptrdiff_t>(layer.kept);
    std::nth_element(chosen.begin(), last, chosen.end(), [&](std::size_t a, std::size_t b) {
      return norms_[a] > norms_[b] || (norms_[a] == norms_[b] && a < b);
    });
    chosen.resize(layer.kept);
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
    for (std::size_t layer = 0; layer < plan_.sketched.size(); ++layer) {
      const SketchedLayer& of = plan_.sketched[layer];
      std::size_t packed = of.rows.begin;
      for (const std::size_t row : chosen_[layer]) {
        act(of.matrix.begin + row * of.matrix.columns, packed, of.matrix.columns);
        packed += of.matrix.columns;
      }
    }
  }

  ArcRules rules_;
  ArcPlan plan_;
  bool is_prepared_ = false;
  std::uint64_t exchanges_ = 0;
  std::vector<Real> packed_;              // P of all layers, then the plain layers
  std::vector<Real> right_;               // V of all layers
  std::vector<Real> rows_;                // the rows that were chosen
  std::vector<std::vector<Real>> lefts_;  // P_p of the workers here
  std::vector<std::vector<std::size_t>> chosen_;
  std::vector<double> norms_;
  DenseSums<Real> sums_;
};

class ArcTopK final : public AggregatorFor<ArcExchange, ArcRules> {
 public:
  explicit ArcTopK(const ArcRules& rules) : AggregatorFor(rules), rules_(rules) {}

  AggregatorLaw law() const override {
    return {.applies_whole_messages = false,
            .cuts_in_merges = false,
            .is_sparse = false,
            .approximates_sum = true,
            .completes_support = true};
  }
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
    const ArcPlan plan =
        arc_plan_of(shape.layers, static_cast<std::size_t>(shape.dimension), rules_);
    const auto numbers = static_cast<double>(plan.packed + plan.rows);
    return {.bytes = rules_.sums.all_reduce.traffic(shape.workers, numbers * shape.value_bytes),
            .exact = true};
  }

 private:
  ArcRules rules_;
};

}  // namespace

std::unique_ptr<Aggregator> make_arc_top_k(const Section& section) {
  const auto rank = section.integer("rank", 4);
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  require(rank >= 1 && rank <= kMost,
          "{} must lie in 1..{}, got {}",
          section.where("rank"),
          kMost,
          rank);
  const double density = section.number("density", 0.2);
  require(density > 0 && density <= 1,
          "{} must lie in (0, 1], got {}: it is the part of a layer's rows that is kept",
          section.where("density"),
          density);
  return std::make_unique<ArcTopK>(ArcRules{.rank = static_cast<std::size_t>(rank),
                                            .density = density,
                                            .place = section.where("kind"),
                                            .sums = dense_rules_from(section)});
}

}  // namespace residuum
