#include "core/protocols/layer_exchanges.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace residuum {
namespace {

/// Returns what the objective measures, for a gradient that is taken in `training.accumulation`
/// parts: the layers' gradients are whole in the last of them.
std::vector<double> measured_fractions(const Training& training) {
  const auto parts = static_cast<double>(training.accumulation);
  const std::size_t samples =
      training.batch == 0 ? training.shard_of(0).size() : training.batch / training.accumulation;
  std::vector<double> fractions = training.objective->ready_fractions(samples);
  for (double& fraction : fractions) {
    fraction = (parts - 1 + fraction) / parts;
  }
  return fractions;
}

std::size_t numbers_of(std::span<const ExchangedLayer> layers) {
  return std::accumulate(
      layers.begin(), layers.end(), std::size_t{0}, [](std::size_t sum, const auto& layer) {
        return sum + layer.numbers;
      });
}

}  // namespace

void ExpectedTimes::take(const LocalTimes& local) {
  for (std::size_t worker = 0; worker < local.began.size(); ++worker) {
    ++count_;
    compute_s_ += (local.computed[worker] - local.began[worker] - compute_s_) / count_;
    select_s_ += (local.selected[worker] - local.computed[worker] - select_s_) / count_;
  }
}

void ExpectedTimes::save_or_load(ActorState& state) {
  state.value(count_);
  state.value(compute_s_);
  state.value(select_s_);
}

std::vector<ExchangePart> parts_of(std::span<const ExchangedLayer> layers,
                                   const GroupEnds& groups) {
  const auto all = static_cast<double>(numbers_of(layers));
  std::vector<ExchangePart> parts;
  std::size_t begin = 0;
  for (const std::size_t end : groups) {
    const auto share = static_cast<double>(numbers_of(layers.subspan(begin, end - begin))) / all;
    const auto selected = static_cast<double>(numbers_of(layers.first(end))) / all;
    parts.push_back({.ready = layers[end - 1].ready, .selected = selected, .share = share});
    begin = end;
  }
  return parts;
}

GroupEnds merged_groups(std::span<const ExchangedLayer> layers,
                        const ExpectedTimes& expected,
                        const std::function<double(double share)>& seconds_of) {
  GroupEnds each(layers.size());
  std::iota(each.begin(), each.end(), 1U);
  const auto alone = parts_of(layers, each);
  const auto ready_at = [&](const ExchangePart& layer) {
    return layer.ready * expected.compute_s() + layer.selected * expected.select_s();
  };
  const double start_up = seconds_of(0);
  GroupEnds groups;
  double idle_from = 0;  // when the exchange of the last group is over
  double share = 0;      // of the group in the making
  for (std::size_t l = 0; l < layers.size(); ++l) {
    share += alone[l].share;
    const double start = std::max(idle_from, ready_at(alone[l]));
    const bool waits = l + 1 < layers.size() && ready_at(alone[l + 1]) < start + start_up;
    if (!waits) {
      groups.push_back(l + 1);
      idle_from = start + seconds_of(share);
      share = 0;
    }
  }
  return groups;
}

LayerExchanges::LayerExchanges(const Training& training)
    : training_(training), ready_(training.overlap.ready) {
  World& world = training.cluster->world();
  if (ready_.empty() && world.is_root()) {
    ready_ = measured_fractions(training);
  }
  std::uint64_t known = ready_.size();
  world.broadcast(0, std::as_writable_bytes(std::span(&known, 1)));
  require(known > 0,
          "{}: this objective cannot tell when the gradients of its layers are ready; give "
          "network.layer_times",
          training.overlap.place);
}

std::vector<ExchangedLayer> LayerExchanges::layers(std::uint64_t version) const {
  const auto numbers = numbers_by_layer(*training_.method, *training_.objective, version);
  std::vector<ExchangedLayer> layers;
  for (std::size_t l = numbers.size(); l > 0; --l) {  // of equal ones the last layer comes first
    layers.push_back({.ready = ready_[l - 1], .numbers = numbers[l - 1]});
  }
  std::stable_sort(
      layers.begin(), layers.end(), [](const auto& a, const auto& b) { return a.ready < b.ready; });
  return layers;
}

std::vector<ExchangePart> LayerExchanges::parts(
    std::uint64_t version,
    const ExpectedTimes& expected,
    const std::function<double(double share)>& seconds_of) const {
  const auto listed = layers(version);
  if (training_.overlap.rule == OverlapRule::merged) {
    return parts_of(listed, merged_groups(listed, expected, seconds_of));
  }
  GroupEnds each(listed.size());
  std::iota(each.begin(), each.end(), 1U);
  return parts_of(listed, each);
}

}  // namespace residuum
