#include "core/aggregators/left_factors.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "core/aggregators/low_rank.h"

namespace residuum {
namespace {

void add_layer(const MatrixPlace& layer, bool is_factored, FactorPlan& plan) {
  if (!is_factored) {
    plan.plain.push_back({.at = {.begin = layer.begin, .size = layer.rows * layer.columns}});
    return;
  }
  plan.factored.push_back({.matrix = layer,
                           .left = {.begin = plan.left, .size = plan.rank * layer.rows},
                           .right = {.begin = plan.right, .size = plan.rank * layer.columns}});
  plan.left += plan.rank * layer.rows;
  plan.right += plan.rank * layer.columns;
}

}  // namespace

std::size_t rank_from(const Section& section, std::int64_t fallback) {
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  const auto rank = section.integer("rank", fallback);
  require(rank >= 1 && rank <= kMost,
          "{} must lie in 1..{}, got {}",
          section.where("rank"),
          kMost,
          rank);
  return static_cast<std::size_t>(rank);
}

FactorPlan factor_plan(std::span<const MatrixPlace> layers,
                       std::size_t dimension,
                       std::size_t rank,
                       const std::function<bool(const MatrixPlace&)>& shortens) {
  FactorPlan plan{.rank = rank, .factored = {}, .plain = {}};
  for (const MatrixPlace& layer : layers) {
    add_layer(layer, shortens(layer), plan);
  }
  if (layers.empty()) {
    add_layer({.rows = dimension}, /*is_factored=*/false, plan);
  }
  plan.packed = plan.left;
  for (PlainLayer& layer : plan.plain) {
    layer.packed = plan.packed;
    plan.packed += layer.at.size;
  }
  return plan;
}

template <class Real>
void LeftFactors<Real>::sum(const FactorPlan& plan,
                            std::span<const Real> right,
                            const Contributions<Real>& contributions,
                            const DenseRules& rules,
                            Ledger& ledger) {
  packed_.resize(plan.packed);
  if (lefts_.size() < contributions.of_workers.size()) {
    lefts_.resize(contributions.of_workers.size(), std::vector<Real>(plan.left));
  }
  const Cluster& cluster = ledger.cluster();
  for (int worker = 0; worker < cluster.workers(); ++worker) {
    ledger.work(worker, [&] {
      const std::size_t slot = cluster.slot(worker);
      for (const FactoredLayer& layer : plan.factored) {
        low_rank::multiply<Real>(matrix_of(contributions.of_workers[slot], layer.matrix),
                                 plan.rank,
                                 part_of(right, layer.right),
                                 part_of(lefts_[slot], layer.left));
      }
    });
  }
  const auto add = [&](int worker, std::size_t begin, std::span<Real> block) {
    const std::size_t slot = cluster.slot(worker);
    add_overlap<Real>(lefts_[slot], 0, begin, block);
    for (const PlainLayer& layer : plan.plain) {
      add_overlap<Real>(part_of(contributions.of_workers[slot].accumulator, layer.at),
                        layer.packed,
                        begin,
                        block);
    }
  };
  sums_.take_and_charge(rules, std::cref(add), packed_, ledger);
}

template <class Real>
void LeftFactors<Real>::copy_plain(const FactorPlan& plan, std::span<Real> sum) const {
  for (const PlainLayer& layer : plan.plain) {
    const auto numbers = part_of(packed_, {.begin = layer.packed, .size = layer.at.size});
    std::copy(numbers.begin(), numbers.end(), part_of(sum, layer.at).begin());
  }
}

template class LeftFactors<float>;
template class LeftFactors<double>;

}  // namespace residuum
