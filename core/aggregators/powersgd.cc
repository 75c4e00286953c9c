// PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019, algorithm 1) approximates the sum of whole
// accumulators by matrices of low rank. For each layer that is a matrix, M_p of worker p:
//   P_p = M_p Q,  P = sum_p P_p,  P := orthonormalise(P),  Q_p = M_p^T P,  Q = sum_p Q_p,
//   g = P Q^T,
// so that g = P P^T sum_p M_p is an orthogonal projection of the sum. The first Q is normal. With
// `warm_start` the next one is this Q, by which the iterations do the steps of a power iteration;
// without, it is drawn anew. A column of Q that is 0, as after a layer without gradient, is drawn
// anew too, because products with it would stay 0 for ever.
//
// As in the authors' code, vectors, and matrices whose P and Q would have as many numbers as they
// have themselves, are summed as they are; and what a worker remembers is its accumulator less the
// common approximation of the mean, e^p = a^p - g/P, not less P Q_p^T, which is its own part of g.
// Both add up to the same over the workers; the common one keeps what the workers differ by.
//
// P and the layers that are summed as they are go in one all-reduce, Q in another; `algorithm` and
// `reduction` are those of dense sums.

#include <algorithm>
#include <functional>
#include <utility>

#include "core/aggregators/low_rank.h"
#include "core/random/random.h"

namespace residuum {
namespace {

struct PowerRules {
  std::size_t rank = 2;
  std::string rank_place = {};  // for messages
  bool warm_start = true;
  DenseRules sums = {};
};

bool is_worth_it(const MatrixPlace& matrix, std::size_t rank) {
  return rank * (matrix.rows + matrix.columns) < matrix.rows * matrix.columns;
}

/// Returns the largest rank that is worth it, 0 where none is.
std::size_t largest_rank(const MatrixPlace& matrix) {
  const std::size_t sides = matrix.rows + matrix.columns;
  const std::size_t entries = matrix.rows * matrix.columns;
  return entries == 0 ? 0 : (entries - 1) / sides;
}

FactorPlan plan_of(std::span<const MatrixPlace> layers, std::size_t dimension, std::size_t rank) {
  return factor_plan(
      layers, dimension, rank, [&](const MatrixPlace& layer) { return is_worth_it(layer, rank); });
}

template <class Real>
class PowerExchange final : public Exchange<Real> {
 public:
  explicit PowerExchange(PowerRules rules) : rules_(std::move(rules)) {}

  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               ExchangeResult<Real>& exchanged) override {
    rules_.sums.all_reduce.check(cluster.workers());
    prepare(contributions);
    make_room_for(contributions.of_workers.size());
    begin(cluster, contributions.dimension, exchanged);
    Ledger ledger(cluster, exchanged.transfers);
    if (!rules_.warm_start) {
      ledger.work_all([&] { draw_all(contributions.seed); });
    }
    left_.sum(plan_, right_, contributions, rules_.sums, ledger);
    ledger.work_all([&] { take_left(exchanged.dense_sum); });
    if (plan_.right > 0) {
      make_right(contributions, ledger);
      ledger.work_all([&] { compose(exchanged.dense_sum); });
    }
    ++exchanges_;
    if (rules_.warm_start) {
      ledger.work_all([&] { keep_right(contributions.seed); });
    }
    exchanged.traffic = ledger.traffic();
  }

  void save_or_load(const Cluster& /*cluster*/,
                    const Contributions<Real>& contributions,
                    RunState& state) override {
    prepare(contributions);
    state.shared(exchanges_);
    if (rules_.warm_start) {
      state.shared(right_);
    }
  }

 private:
  /// Makes the plan and, for the first exchange, Q; there is nothing to do later.
  void prepare(const Contributions<Real>& contributions) {
    if (is_prepared_) {
      return;
    }
    is_prepared_ = true;
    plan_ = plan_of(contributions.layers, contributions.dimension, rules_.rank);
    right_.resize(plan_.right);
    draw_all(contributions.seed);
  }

  void make_room_for(std::size_t workers_here) {
    if (rights_.size() < workers_here) {
      rights_.resize(workers_here, std::vector<Real>(plan_.right));
    }
  }

  void begin(const Cluster& cluster, std::size_t dimension, ExchangeResult<Real>& exchanged) const {
    exchanged.is_dense = true;
    exchanged.applied_whole = false;
    exchanged.in_equal_parts = true;
    exchanged.workers = cluster.workers();
    exchanged.dense_sum.resize(dimension);
    exchanged.equal_places.clear();
    for (const FactoredLayer& layer : plan_.factored) {
      exchanged.equal_places.push_back(
          {.begin = layer.matrix.begin, .size = layer.matrix.rows * layer.matrix.columns});
    }
  }

  void draw_all(std::uint64_t seed) {
    for (std::size_t layer = 0; layer < plan_.factored.size(); ++layer) {
      for (std::size_t c = 0; c < rules_.rank; ++c) {
        draw(seed, layer, c);
      }
    }
  }

  /// Draws a column of Q for the next exchange.
  void draw(std::uint64_t seed, std::size_t layer, std::size_t c) {
    RandomStream random(seed,
                        Purpose::low_rank,
                        static_cast<std::uint32_t>(layer * rules_.rank + c),
                        static_cast<std::uint32_t>(exchanges_));
    for (Real& value : column(layer, c)) {
      value = static_cast<Real>(random.normal());
    }
  }

  std::span<Real> column(std::size_t layer, std::size_t c) {
    const auto& place = plan_.factored[layer];
    return part_of(right_, place.right).subspan(c * place.matrix.columns, place.matrix.columns);
  }

  /// Makes P orthonormal, and puts the layers that were summed as they are into g.
  void take_left(std::span<Real> sum) {
    for (const FactoredLayer& layer : plan_.factored) {
      low_rank::orthonormalise<Real>(rules_.rank, left_.of(layer));
    }
    left_.copy_plain(plan_, sum);
  }

  /// Computes M_p^T P.
  void multiply_transposed(const Contributions<Real>& contributions, std::size_t slot) {
    for (const FactoredLayer& layer : plan_.factored) {
      low_rank::multiply_transposed<Real>(matrix_of(contributions.of_workers[slot], layer.matrix),
                                          rules_.rank,
                                          left_.of(layer),
                                          part_of(rights_[slot], layer.right));
    }
  }

  /// Makes the Q that goes with this P.
  void make_right(const Contributions<Real>& contributions, Ledger& ledger) {
    const Cluster& cluster = ledger.cluster();
    for (int worker = 0; worker < cluster.workers(); ++worker) {
      ledger.work(worker, [&] { multiply_transposed(contributions, cluster.slot(worker)); });
    }
    const auto add = [&](int worker, std::size_t begin, std::span<Real> block) {
      add_overlap<Real>(rights_[cluster.slot(worker)], 0, begin, block);
    };
    sums_.take_and_charge(rules_.sums, std::cref(add), right_, ledger);
  }

  /// Puts g = P Q^T into its place.
  void compose(std::span<Real> sum) const {
    for (const FactoredLayer& layer : plan_.factored) {
      low_rank::compose<Real>(
          rules_.rank,
          left_.of(layer),
          part_of(right_, layer.right),
          sum.subspan(layer.matrix.begin, layer.matrix.rows * layer.matrix.columns));
    }
  }

  /// Makes the Q of the next exchange of this one's.
  void keep_right(std::uint64_t seed) {
    for (std::size_t layer = 0; layer < plan_.factored.size(); ++layer) {
      for (std::size_t c = 0; c < rules_.rank; ++c) {
        if (!low_rank::rescale<Real>(column(layer, c))) {
          draw(seed, layer, c);
        }
      }
    }
  }

  PowerRules rules_;
  FactorPlan plan_;
  bool is_prepared_ = false;
  std::uint64_t exchanges_ = 0;
  LeftFactors<Real> left_;                 // P
  std::vector<Real> right_;                // Q of all layers
  std::vector<std::vector<Real>> rights_;  // Q_p of the workers here
  DenseSums<Real> sums_;
};

class PowerSgd final : public AggregatorFor<PowerExchange, PowerRules> {
 public:
  explicit PowerSgd(const PowerRules& rules) : AggregatorFor(rules), rules_(rules) {}

  AggregatorLaw law() const override {
    return {.applies_whole_messages = false,
            .drops_in_merges = false,
            .is_sparse = false,
            .approximates_sum = true};
  }
  bool reads_matrices() const override { return true; }
  bool needs_k() const override { return false; }
  void check(int workers, std::span<const MatrixPlace> layers) const override {
    rules_.sums.all_reduce.check(workers);
    std::size_t largest = 0;
    for (const MatrixPlace& layer : layers) {
      largest = std::max(largest, largest_rank(layer));
    }
    require(largest > 0,
            "{}: no layer of this model is a matrix that low rank makes shorter; use aggregator "
            "\"dense\"",
            rules_.rank_place);
    require(rules_.rank <= largest,
            "{} must be at most {}, above which no layer of this model becomes shorter; got {}",
            rules_.rank_place,
            largest,
            rules_.rank);
  }

  TrafficModel traffic_model(const TrafficShape& shape) const override {
    const FactorPlan plan =
        plan_of(shape.layers, static_cast<std::size_t>(shape.dimension), rules_.rank);
    const auto numbers = static_cast<double>(plan.packed + plan.right);
    return {.bytes = rules_.sums.all_reduce.traffic(shape.workers, numbers * shape.value_bytes),
            .exact = true};
  }

 private:
  PowerRules rules_;
};

}  // namespace

std::unique_ptr<Aggregator> make_powersgd(const Section& section) {
  return std::make_unique<PowerSgd>(PowerRules{.rank = rank_from(section, 2),
                                               .rank_place = section.where("rank"),
                                               .warm_start = section.flag("warm_start", true),
                                               .sums = dense_rules_from(section)});
}

}  // namespace residuum
