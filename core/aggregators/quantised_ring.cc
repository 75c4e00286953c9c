// A ring all-reduce whose messages are quantised anew at every hop, as low-precision collectives
// do it. Chunk c of P nearly equal ones goes round the ring from worker c+1 on:
//
//   m_0 = Q(a_{c+1}),  m_s = Q(m_{s-1} + a_{c+1+s}) for s = 1 .. P-1,  g = m_{P-1} on the chunk.
//
// Worker c makes m_{P-1}, and the coded chunk goes round once more, so that all workers decode the
// same g. With an unbiased Q, E g is the sum of the accumulators. The errors of P quantisations add
// up, the later ones of sums of many workers. Each worker is credited with g/P
// (DenseApproximation), so that what hops have lost or added comes back through the residuals.
//
// `rotate` spreads large entries before: the accumulators are multiplied by H D, which is
// orthogonal and leaves sums sums. D has random signs that all workers draw alike, anew for every
// exchange; H is the Hadamard matrix of successive blocks of at most 1024 numbers, over the root of
// their number (Suresh, Yu, Kumar, McMahan, ICML 2017, section 3). g is rotated back.

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "core/aggregators/aggregator.h"
#include "core/cluster/ledger.h"
#include "core/quantisers/quantiser.h"
#include "core/random/random.h"

namespace residuum {
namespace {

struct RingRules {
  std::shared_ptr<const Quantiser> quantiser;
  bool rotates = false;
};

/// x := H x over the root of its size, which is a power of two.
template <class Real>
void transform_block(std::span<Real> x) {
  for (std::size_t half = 1; half < x.size(); half *= 2) {
    for (std::size_t begin = 0; begin < x.size(); begin += 2 * half) {
      for (std::size_t i = begin; i < begin + half; ++i) {
        const Real a = x[i];
        const Real b = x[i + half];
        x[i] = a + b;
        x[i + half] = a - b;
      }
    }
  }
  const auto scale = static_cast<Real>(1 / std::sqrt(static_cast<double>(x.size())));
  std::transform(x.begin(), x.end(), x.begin(), [scale](Real one) { return one * scale; });
}

/// Transforms blocks of the largest powers of two that there is room for, 1024 at most.
template <class Real>
void transform(std::span<Real> x) {
  constexpr std::size_t kMost = 1024;
  while (!x.empty()) {
    const std::size_t size = std::min(kMost, std::bit_floor(x.size()));
    transform_block(x.first(size));
    x = x.subspan(size);
  }
}

template <class Real>
class RingExchange final : public Exchange<Real> {
 public:
  explicit RingExchange(RingRules rules) : rules_(std::move(rules)) {}

  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               ExchangeResult<Real>& exchanged) override {
    begin(cluster, contributions, exchanged);
    Ledger ledger(cluster, exchanged.transfers);
    if (cluster.workers() == 1) {
      const auto own = contributions.of_workers.front().accumulator;
      std::copy(own.begin(), own.end(), exchanged.dense_sum.begin());
    } else {
      ledger.work_all([&] { sum(cluster, contributions, exchanged.dense_sum); },
                      1.0 / cluster.workers());
      ledger.pass_ring(chunk_bytes_);
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
  /// A worker of this process has its accumulator, rotated where that is wanted, the message that
  /// came and the one that goes, and its draws.
  struct Worker {
    std::vector<Real> rotated;
    Bytes incoming, outgoing;
    std::optional<RandomStream> draws;
  };

  void begin(const Cluster& cluster,
             const Contributions<Real>& contributions,
             ExchangeResult<Real>& exchanged) {
    const std::size_t dimension = contributions.dimension;
    exchanged.is_dense = true;
    exchanged.applied_whole = false;
    exchanged.in_equal_parts = true;
    exchanged.workers = cluster.workers();
    exchanged.dense_sum.resize(dimension);
    exchanged.equal_places.clear();
    if (cluster.workers() > 1) {
      exchanged.equal_places.push_back({.begin = 0, .size = dimension});
    }
    workers_.resize(contributions.of_workers.size());
    divide(dimension, static_cast<std::size_t>(cluster.workers()));
  }

  void divide(std::size_t dimension, std::size_t workers) {
    begins_.clear();
    chunk_bytes_.clear();
    for (std::size_t chunk = 0; chunk <= workers; ++chunk) {
      begins_.push_back(part_begin(dimension, chunk, workers));
      if (chunk > 0) {
        chunk_bytes_.push_back(
            rules_.quantiser->packed_bytes(begins_[chunk] - begins_[chunk - 1], sizeof(Real)));
      }
    }
    partial_.resize(dimension / workers + 1);
    signs_.resize(rules_.rotates ? (dimension + 31) / 32 : 0);
  }

  void sum(const Cluster& cluster, const Contributions<Real>& contributions, std::span<Real> g) {
    overflows_ = false;
    draw_signs(contributions.seed);
    for (std::size_t slot = 0; slot < workers_.size(); ++slot) {
      Worker& worker = workers_[slot];
      worker.draws.emplace(
          contributions.seed,
          Purpose::ring,
          static_cast<std::uint32_t>(cluster.first()) + static_cast<std::uint32_t>(slot),
          static_cast<std::uint32_t>(exchanges_));
      rotate(contributions.of_workers[slot].accumulator, worker.rotated);
    }
    const int last = cluster.workers() - 1;
    for (int step = 0; step <= last; ++step) {
      for (std::size_t slot = 0; slot < workers_.size(); ++slot) {
        add_and_encode(cluster, contributions, slot, step);
      }
      if (step < last) {
        pass_on(cluster, step);
      }
    }
    spread(cluster, g);
    rotate_back(g);
    // Sums of numbers that are finite may not be: then every process has to see it.
    if (cluster.world().minimum(overflows_ ? 0 : 1) == 0) {
      std::fill(g.begin(), g.end(), std::numeric_limits<Real>::infinity());
    }
  }

  /// Returns the chunk to which this worker adds in a step.
  std::size_t chunk_of(const Cluster& cluster, int worker, int step) const {
    const int workers = cluster.workers();
    return static_cast<std::size_t>((worker + 2 * workers - 1 - step) % workers);
  }

  /// The message of the worker in this slot := Q(what came + its accumulator), on its chunk.
  void add_and_encode(const Cluster& cluster,
                      const Contributions<Real>& contributions,
                      std::size_t slot,
                      int step) {
    Worker& worker = workers_[slot];
    const std::size_t chunk = chunk_of(cluster, cluster.first() + static_cast<int>(slot), step);
    const std::size_t size = begins_[chunk + 1] - begins_[chunk];
    const auto whole = rules_.rotates ? std::span<const Real>(worker.rotated)
                                      : contributions.of_workers[slot].accumulator;
    const auto own = whole.subspan(begins_[chunk], size);
    const auto partial = std::span(partial_).first(size);
    if (step == 0) {
      std::copy(own.begin(), own.end(), partial.begin());
    } else {
      rules_.quantiser->decode(worker.incoming, partial);
      std::transform(
          own.begin(), own.end(), partial.begin(), partial.begin(), [](Real mine, Real sum) {
            return sum + mine;
          });
    }
    for (Real& value : partial) {
      if (!std::isfinite(value)) {
        overflows_ = true;
        value = 0;  // a quantiser takes finite numbers
      }
    }
    worker.outgoing.resize(chunk_bytes_[chunk]);
    rules_.quantiser->encode(partial, *worker.draws, worker.outgoing);
  }

  /// Every worker's message goes to the next worker.
  void pass_on(const Cluster& cluster, int step) {
    const int workers = cluster.workers();
    for (std::size_t slot = 0; slot + 1 < workers_.size(); ++slot) {
      std::swap(workers_[slot + 1].incoming, workers_[slot].outgoing);
    }
    if (workers_.empty()) {
      return;
    }
    Bytes& outgoing = workers_.back().outgoing;
    Bytes& incoming = workers_.front().incoming;
    const int sender = (cluster.first() + workers - 1) % workers;
    if (cluster.here(sender)) {
      std::swap(incoming, outgoing);
      return;
    }
    incoming.resize(chunk_bytes_[chunk_of(cluster, sender, step)]);
    cluster.world().post(cluster.host(sender), incoming);
    cluster.world().send(cluster.host((cluster.first() + cluster.count()) % workers), outgoing);
    cluster.world().take(cluster.host(sender));
  }

  /// g := what all workers decode of the finished chunks.
  void spread(const Cluster& cluster, std::span<Real> g) {
    for (int worker = 0; worker < cluster.workers(); ++worker) {
      const auto chunk = static_cast<std::size_t>(worker);
      Bytes& coded = cluster.here(worker) ? workers_[cluster.slot(worker)].outgoing : received_;
      coded.resize(chunk_bytes_[chunk]);
      if (cluster.world().size() > 1) {
        cluster.world().broadcast(cluster.host(worker), coded);
      }
      rules_.quantiser->decode(coded,
                               g.subspan(begins_[chunk], begins_[chunk + 1] - begins_[chunk]));
    }
  }

  void draw_signs(std::uint64_t seed) {
    RandomStream random(seed, Purpose::rotation, 0, static_cast<std::uint32_t>(exchanges_));
    random.fill(signs_);
  }

  void change_signs(std::span<Real> x) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = ((signs_[i / 32] >> (i % 32)) & 1U) != 0 ? -x[i] : x[i];
    }
  }

  void rotate(std::span<const Real> from, std::vector<Real>& to) const {
    if (rules_.rotates) {
      to.assign(from.begin(), from.end());
      change_signs(to);
      transform<Real>(to);
    }
  }

  void rotate_back(std::span<Real> x) const {
    if (rules_.rotates) {
      transform(x);  // H is symmetric and its own inverse
      change_signs(x);
    }
  }

  RingRules rules_;
  std::uint64_t exchanges_ = 0;
  std::vector<std::size_t> begins_;  // of the chunks, and d
  std::vector<std::size_t> chunk_bytes_;
  std::vector<std::uint32_t> signs_;
  std::vector<Worker> workers_;
  std::vector<Real> partial_;
  Bytes received_;
  bool overflows_ = false;
};

class QuantisedRing final : public AggregatorFor<RingExchange, RingRules> {
 public:
  explicit QuantisedRing(const RingRules& rules) : AggregatorFor(rules), rules_(rules) {}

  AggregatorLaw law() const override {
    return {.applies_whole_messages = false,
            .drops_in_merges = false,
            .is_sparse = false,
            .quantises_itself = true,
            .approximates_sum = true};
  }
  bool needs_k() const override { return false; }

  TrafficModel traffic_model(const TrafficShape& shape) const override {
    const auto workers = static_cast<std::size_t>(shape.workers);
    const auto dimension = static_cast<std::size_t>(shape.dimension);
    double bytes = 0;
    for (std::size_t chunk = 0; chunk < workers && workers > 1; ++chunk) {
      const std::size_t size =
          part_begin(dimension, chunk + 1, workers) - part_begin(dimension, chunk, workers);
      bytes += static_cast<double>(
          rules_.quantiser->packed_bytes(size, static_cast<std::size_t>(shape.value_bytes)));
    }
    return {.bytes = 2.0 * (shape.workers - 1) * bytes, .exact = true};
  }

 private:
  RingRules rules_;
};

}  // namespace

std::unique_ptr<Aggregator> make_quantised_ring(const Section& section) {
  RingRules rules;
  const std::string kind = section.choice("quantiser", {"qsgd", "linear"}, "qsgd");
  // Read here too, so that the place of a wrong number is that of the study.
  const nlohmann::json bits = quantiser_bits_from(section, kind == "qsgd" ? 2 : 1);
  rules.quantiser = make_quantiser(Section("aggregator", {{"kind", kind}, {"bits", bits}}));
  rules.rotates = section.flag("rotate", false);
  return std::make_unique<QuantisedRing>(rules);
}

}  // namespace residuum
