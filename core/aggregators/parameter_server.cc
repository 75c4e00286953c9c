// Worker 0 hosts a parameter server (Li et al., OSDI 2014). Every other worker sends its message to
// it, the server adds all messages in worker order and sends g = sum_p s^p back to every other
// worker: as a list, or as a dense vector if that is shorter. Messages of worker 0 to itself cost
// nothing.
//
// With down = "top-k" the server compresses the way back too, g = Top_k(sum_p s^p), as
// DoubleSqueeze does (Tang et al., ICML 2019). There the server keeps what it does not send in a
// residual of its own. Here it keeps nothing: every worker sees which indices were not sent, and
// takes back its own share there by the put-back rule. The sum of all residuals is the same after
// an exchange. But the rest competes anew for a place in the messages of its workers, not directly
// in the next sum.
//
// With down = "ef21-p" the server keeps the model, and sends the k entries of largest change since
// its messages (Gruntkowska, Tyurin, Richtarik, ICML 2023): workers take gradients at the sum of
// these (core/training/model_shift.h). The list has k entries whatever the sum is.

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/aggregators/dense_sums.h"
#include "core/aggregators/gather.h"
#include "core/config/amount.h"
#include "core/messages/wire.h"
#include "core/vectors/merge.h"

namespace residuum {
namespace {

enum class WayDown { whole, top_k, model_change };

struct ServerSettings {
  WayDown down = WayDown::whole;
  Amount change = {};  // entries of a change of the model
};

template <class Real>
class ServerExchange final : public Exchange<Real> {
 public:
  explicit ServerExchange(ServerSettings settings) : settings_(std::move(settings)) {}

  void combine(const Cluster& cluster,
               const Contributions<Real>& contributions,
               ExchangeResult<Real>& exchanged) override {
    Ledger ledger(cluster, exchanged.transfers);
    push(contributions, ledger);
    if (settings_.down == WayDown::top_k) {
      send_largest(contributions, ledger, exchanged);
    } else {
      send_whole(contributions, ledger, exchanged);
    }
    exchanged.traffic = ledger.traffic();
  }

 private:
  /// Charges the messages to the server.
  void push(const Contributions<Real>& contributions, Ledger& ledger) const {
    const Cluster& cluster = ledger.cluster();
    for (int worker = 0; worker < cluster.workers(); ++worker) {
      const auto bytes_here = [&] {
        const auto& brought = contributions.of_workers[cluster.slot(worker)];
        return brought.message->bytes(contributions.dimension);
      };
      ledger.carry_up(worker, cluster.here(worker) ? bytes_here() : 0);
    }
    end_round(ledger);
  }

  /// Charges the messages of the server for a sum with `entries_of_sum` entries.
  void pull(std::size_t entries_of_sum, std::size_t dimension, Ledger& ledger) const {
    const std::size_t entries = settings_.down == WayDown::model_change
                                    ? settings_.change.resolve(dimension)
                                    : entries_of_sum;
    const std::size_t bytes =
        std::min(entries * entry_bytes<Real>(dimension), dimension * sizeof(Real));
    for (int worker = 0; worker < ledger.cluster().workers(); ++worker) {
      ledger.carry_down(worker, bytes);
    }
    end_round(ledger);
  }

  static void end_round(Ledger& ledger) {
    if (ledger.cluster().workers() > 1) {
      ledger.end_round();
    }
  }

  /// Sums whole accumulators, on every process or on that of the server. The other workers wait for
  /// the server, so that its seconds may be charged to all.
  void add_accumulators(const Contributions<Real>& contributions,
                        bool everywhere,
                        Ledger& ledger,
                        std::vector<Real>& sum) const {
    const Cluster& cluster = ledger.cluster();
    sum.resize(contributions.dimension);
    const DenseMessages<Real> messages(cluster, contributions);
    ledger.work_all(
        [&] { cluster.sum_in_worker_order(std::span<Real>(sum), everywhere, messages); });
  }

  /// Brings the lists to the server, which adds them one by one.
  void add_lists(const Contributions<Real>& contributions, Ledger& ledger) {
    const Cluster& cluster = ledger.cluster();
    const auto lists = lists_.of(contributions);
    if (cluster.here(0)) {
      dense_.assign(contributions.dimension, Real{0});
    }
    if (cluster.world().size() > 1) {
      buffers_.unpacked.make_room(contributions.k);
    }
    int expected = 0;
    for (int worker = 0; worker < cluster.workers(); ++worker) {
      for (; expected < cluster.workers() && !buffers_.is_full(); ++expected) {
        cluster.post_receive(expected, 0, contributions.k, buffers_);
      }
      const auto* mine = cluster.here(worker) ? lists[cluster.slot(worker)] : nullptr;
      const auto* const list = cluster.send_along(worker, 0, mine, buffers_);
      ledger.work(0, [&] { add_entries(*list, dense_); });
    }
  }

  static void add_entries(const SparseVector<Real>& list, std::vector<Real>& sum) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      sum[list.indices[i]] += list.values[i];
    }
  }

  /// Sends a list of the server to the other processes, one message to each. A list that takes as
  /// many bytes as the whole vector goes as the vector.
  void send_down(const Cluster& cluster,
                 std::size_t most_entries,
                 std::size_t dimension,
                 SparseVector<Real>& sum) {
    const std::size_t whole = dimension * sizeof(Real);
    World& world = cluster.world();
    const int server = cluster.host(0);
    if (world.size() == 1) {
      return;
    }
    const std::size_t most_bytes = std::min(packed_bytes<Real>(most_entries), whole);
    bytes_.reserve(most_bytes);
    if (world.rank() != server) {
      bytes_.resize(most_bytes);
      sum.make_room(most_entries);
      world.post(server, bytes_);
      unpack_down(std::span(bytes_).first(world.take(server)), dimension, sum);
      return;
    }
    pack_down(whole, sum);
    for (int other = 0; other < world.size(); ++other) {
      if (other != server) {
        world.send(other, bytes_);
      }
    }
  }

  void pack_down(std::size_t whole, const SparseVector<Real>& sum) {
    const std::size_t listed = packed_bytes<Real>(sum.size());
    if (listed < whole) {
      bytes_.resize(listed);
      pack(sum, bytes_.data());
      return;
    }
    bytes_.assign(whole, std::byte{0});
    for (std::size_t i = 0; i < sum.size(); ++i) {
      std::memcpy(&bytes_[sum.indices[i] * sizeof(Real)], &sum.values[i], sizeof(Real));
    }
  }

  static void unpack_down(std::span<const std::byte> bytes,
                          std::size_t dimension,
                          SparseVector<Real>& sum) {
    if (bytes.size() < dimension * sizeof(Real)) {
      unpack(bytes, sum);
      return;
    }
    sum.clear();
    for (std::size_t i = 0; i < dimension; ++i) {
      Real value = 0;
      std::memcpy(&value, &bytes[i * sizeof(Real)], sizeof(Real));
      if (value != 0) {
        sum.push_back(static_cast<std::uint32_t>(i), value);
      }
    }
  }

  static std::size_t zeros_in(const std::vector<Real>& sum) {
    return static_cast<std::size_t>(std::count(sum.begin(), sum.end(), Real{0}));
  }

  /// g is a dense vector where the messages are whole accumulators, else a list.
  void send_whole(const Contributions<Real>& contributions,
                  Ledger& ledger,
                  ExchangeResult<Real>& exchanged) {
    const std::size_t d = contributions.dimension;
    exchanged.is_dense = contributions.of_workers.front().message->everything;
    exchanged.applied_whole = true;
    if (exchanged.is_dense) {
      auto& sum = exchanged.dense_sum;
      add_accumulators(contributions, /*everywhere=*/true, ledger, sum);
      pull(d - zeros_in(sum), d, ledger);
      return;
    }
    const auto workers = static_cast<std::size_t>(ledger.cluster().workers());
    const std::size_t most = std::min(workers * contributions.k, d);
    add_lists(contributions, ledger);
    ledger.work(0, [&] {
      exchanged.sum.make_room(d - zeros_in(dense_));
      to_sparse<Real>(dense_, exchanged.sum);
    });
    send_down(ledger.cluster(), most, d, exchanged.sum);
    pull(exchanged.sum.size(), d, ledger);
  }

  void send_largest(const Contributions<Real>& contributions,
                    Ledger& ledger,
                    ExchangeResult<Real>& exchanged) {
    const Cluster& cluster = ledger.cluster();
    exchanged.is_dense = false;
    exchanged.applied_whole = false;
    if (contributions.of_workers.front().message->everything) {
      add_accumulators(contributions, /*everywhere=*/false, ledger, dense_);
    } else {
      add_lists(contributions, ledger);
    }
    ledger.work(0, [&] {
      whole_.make_room(contributions.dimension);
      to_sparse<Real>(dense_, whole_);
      split_top_k(whole_, contributions.k, split_, exchanged.sum, remainder_);
    });
    send_down(cluster, contributions.k, contributions.dimension, exchanged.sum);
    pull(exchanged.sum.size(), contributions.dimension, ledger);
    const auto lists = lists_.of(contributions);
    exchanged.applied.resize(lists.size());
    intersect<Real>(lists, exchanged.sum.indices, intersect_, exchanged.applied);
    exchanged.dropped_in_merges.resize(lists.size());  // all of them are empty
  }

  ServerSettings settings_;
  std::vector<Real> dense_;
  SparseVector<Real> whole_, remainder_;
  MessageLists<Real> lists_;
  SplitWorkspace<Real> split_;
  IntersectWorkspace<Real> intersect_;
  ReceiveBuffers<Real> buffers_;
  Bytes bytes_;  // of the way down
};

class ParameterServer final : public AggregatorFor<ServerExchange, ServerSettings> {
 public:
  explicit ParameterServer(const ServerSettings& settings)
      : AggregatorFor(settings),
        settings_(settings),
        selects_top_k_(settings.down == WayDown::top_k),
        shifts_(settings.down == WayDown::model_change) {}

  AggregatorLaw law() const override {
    return {.applies_whole_messages = !selects_top_k_,
            .drops_in_merges = false,
            .is_sparse = selects_top_k_,
            .forwards_messages = true,
            .shifts_model = shifts_,
            .selects_largest = selects_top_k_};
  }
  std::size_t shift_entries(std::size_t dimension) const override {
    return shifts_ ? settings_.change.resolve(dimension) : dimension;
  }
  bool needs_k() const override { return selects_top_k_; }

  /// The bound is met if all messages have k entries, at indices of their own.
  TrafficModel traffic_model(const TrafficShape& shape) const override {
    const double vector_bytes = shape.dimension * shape.value_bytes;
    const double up = shape.message_bytes();
    const double entries_down = shifts_          ? static_cast<double>(settings_.change.resolve(
                                              static_cast<std::size_t>(shape.dimension)))
                                : selects_top_k_ ? std::min(shape.entries, shape.k)
                                                 : shape.entries;
    const double down = shape.workers * std::min(entries_down * shape.entry_bytes(), vector_bytes);
    return {.bytes = up + down, .exact = false};
  }

 private:
  ServerSettings settings_;
  bool selects_top_k_;
  bool shifts_;
};

}  // namespace

std::unique_ptr<Aggregator> make_parameter_server(const Section& section) {
  const auto down = section.choice("down", {"whole", "top-k", "ef21-p"}, "whole");
  ServerSettings settings;
  if (const auto change = Amount::if_used(section, down == "ef21-p")) {
    settings = {.down = WayDown::model_change, .change = *change};
  } else if (down == "top-k") {
    settings.down = WayDown::top_k;
  }
  return std::make_unique<ParameterServer>(settings);
}

}  // namespace residuum
