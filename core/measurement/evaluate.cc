#include "core/measurement/evaluate.h"

#include <utility>

#include "core/vectors/dense.h"

namespace residuum {

Evaluation evaluate(const Training& training, const Point& at, std::vector<double>* gradient) {
  const Cluster& cluster = *training.cluster;
  const std::size_t d = at.w.size();
  // One vector per worker holds its part of the gradient and, last, its part of f.
  const auto part_of = [&](int worker) {
    std::vector<double> part(d + 1);
    const auto shard = training.shard_of(worker);
    const auto own = std::span(part).first(gradient != nullptr ? d : 0);
    part[d] = training.objective->evaluate(worker, cluster.workers(), shard, at, own);
    return part;
  };
  std::vector<double> sum(d + 1);
  if (cluster.world().size() == 1) {
    for (int worker = 0; worker < cluster.workers(); ++worker) {
      add_to<double>(sum, part_of(worker));
    }
  } else {
    // All processes form their parts at once, before the chain of sums begins.
    std::vector<std::vector<double>> parts;
    for (int worker = cluster.first(); worker < cluster.first() + cluster.count(); ++worker) {
      parts.push_back(part_of(worker));
    }
    cluster.sum_in_worker_order(
        std::span(sum),
        /*everywhere=*/false,
        [&](int worker, std::size_t begin, std::span<double> block) {
          add_to<double>(block,
                         std::span(parts[cluster.slot(worker)]).subspan(begin, block.size()));
        });
  }
  Evaluation evaluation{.loss = sum[d], .grad_norm_sq = std::nullopt};
  if (gradient != nullptr) {
    sum.resize(d);
    *gradient = std::move(sum);
    evaluation.grad_norm_sq = norm_sq<double>(*gradient);
  }
  return evaluation;
}

}  // namespace residuum
