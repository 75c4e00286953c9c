#include "core/protocols/actors/inhad.h"

#include <utility>

#include "core/error.h"
#include "core/protocols/actors/actor.h"

namespace residuum {
namespace {

/// NodeMemory is shared by the workers of a node and its aggregator. A late message is atomic, so a
/// worker announces a gradient only once a PULL finds it here; S1 rests on that.
struct NodeMemory {
  std::uint64_t model = 0;         // m_n, the newest version that has arrived
  std::vector<GradientId> sum;     // the gradients of the sum A
  std::vector<std::uint8_t> idle;  // of each worker of the node
  std::uint8_t stopped = 0;        // STOP has arrived
};

class AddingWorker final : public Actor {
 public:
  AddingWorker(std::uint32_t worker,
               const Roster& roster,
               std::uint64_t cap,
               std::shared_ptr<NodeMemory> memory)
      : worker_(worker),
        node_(worker / roster.workers_of_node()),
        place_(worker % roster.workers_of_node()),
        server_(roster.server()),
        cap_(cap),
        memory_(std::move(memory)) {}

  void begin(ActorContext& context) override { read(context); }

  void receive(const ActorMessage& message, ActorContext& context) override {
    if (message.kind == ActorMessageKind::computed) {
      finish(context);
      return;
    }
    check_order(message.kind == ActorMessageKind::wake);
    context.effects().waited(Wait::idle, context.now() - idle_since_);
    if (memory_->stopped == 0) {
      announce(ActorMessageKind::start, memory_->model, context);
      read(context);
    }
  }

  void save_or_load(ActorState& state) override {
    state.value(finished_);
    state.value(base_);
    state.value(done_at_base_);
    state.value(idle_since_);
  }

 private:
  /// Begins a gradient at the newest model of the node.
  void read(ActorContext& context) {
    if (memory_->model != base_) {
      base_ = memory_->model;
      done_at_base_ = 0;
    }
    context.effects().compute(gradient());
    context.work(Work::gradient, {.kind = ActorMessageKind::computed, .iteration = finished_});
  }

  void finish(ActorContext& context) {
    const GradientId done = gradient();
    ++finished_;
    ++done_at_base_;
    if (memory_->stopped != 0) {
      context.effects().discard(done);
      return;
    }
    memory_->sum.push_back(done);
    context.effects().hand_in(done, static_cast<int>(node_));
    if (memory_->model != base_ || done_at_base_ < cap_) {
      announce(ActorMessageKind::progress, memory_->model, context);
      read(context);
      return;
    }
    // The bound is not infinite: a MODEL that was long under way may wake the worker with version
    // m_n + 1 while START travels to a server that has moved on (theory 10.3, the race).
    announce(ActorMessageKind::progress, memory_->model + 1, context);
    memory_->idle[place_] = 1;
    idle_since_ = context.now();
  }

  void announce(ActorMessageKind kind, std::uint64_t bound, ActorContext& context) const {
    context.send(server_, {.kind = kind, .iteration = finished_, .base = bound});
  }

  GradientId gradient() const {
    return {.worker = worker_, .iteration = static_cast<std::uint32_t>(finished_), .base = base_};
  }

  std::uint32_t worker_;
  std::uint32_t node_;
  std::uint32_t place_;  // of the worker in its node
  ActorId server_;
  std::uint64_t cap_;  // h
  std::shared_ptr<NodeMemory> memory_;
  std::uint64_t finished_ = 0;      // it
  std::uint64_t base_ = 0;          // u
  std::uint64_t done_at_base_ = 0;  // gradients finished at u
  double idle_since_ = 0;
};

class NodeAggregator final : public Actor {
 public:
  NodeAggregator(std::uint32_t node, const Roster& roster, std::shared_ptr<NodeMemory> memory)
      : node_(node),
        first_worker_(node * roster.workers_of_node()),
        server_(roster.server()),
        memory_(std::move(memory)) {}

  void receive(const ActorMessage& message, ActorContext& context) override {
    switch (message.kind) {
      case ActorMessageKind::pull:
        send_sum(message.version, context);
        break;
      case ActorMessageKind::model:
        keep(message.version, context);
        break;
      case ActorMessageKind::stop:
        stop(context);
        break;
      default:
        check_order(false);
    }
  }

  std::optional<std::uint64_t> kept_version() const override {
    return memory_->stopped != 0 ? std::nullopt : std::optional(memory_->model);
  }

  void save_or_load(ActorState& state) override {
    state.value(memory_->model);
    state.list(memory_->sum);
    state.row(memory_->idle);
    state.value(memory_->stopped);
  }

 private:
  void send_sum(std::uint64_t version, ActorContext& context) {
    ActorMessage message{.kind = ActorMessageKind::sum,
                         .version = version,
                         .gradients = std::exchange(memory_->sum, {})};
    context.effects().collect(static_cast<int>(node_), message.gradients);
    context.send(server_, std::move(message));
  }

  void keep(std::uint64_t version, ActorContext& context) {
    if (memory_->stopped == 0 && version > memory_->model) {
      memory_->model = version;
      wake_workers(context);
    }
  }

  void stop(ActorContext& context) {
    memory_->stopped = 1;
    for (const GradientId& gradient : std::exchange(memory_->sum, {})) {
      context.effects().discard(gradient);
    }
    wake_workers(context);
  }

  void wake_workers(ActorContext& context) {
    for (std::uint32_t place = 0; place < memory_->idle.size(); ++place) {
      if (std::exchange(memory_->idle[place], std::uint8_t{0}) != 0) {
        context.send(first_worker_ + place, {.kind = ActorMessageKind::wake});
      }
    }
  }

  std::uint32_t node_;
  ActorId first_worker_;
  ActorId server_;
  std::shared_ptr<NodeMemory> memory_;
};

class PullingServer final : public Actor {
 public:
  PullingServer(const InhadOptions& options, const Roster& roster)
      : roster_(roster),
        quota_(options.quota),
        staleness_(options.staleness),
        versions_(options.versions),
        seen_(roster.workers),
        applied_(roster.workers),
        bounds_(roster.workers),
        sums_(roster.nodes) {}

  void begin(ActorContext& context) override { waits_since_ = context.now(); }

  void receive(const ActorMessage& message, ActorContext& context) override {
    if (version_ == versions_) {
      discard(message.gradients, context);
      return;
    }
    if (message.kind == ActorMessageKind::stop) {
      stop_at_this_version(context);
      return;
    }
    if (message.kind == ActorMessageKind::sum) {
      take(message, context);
      return;
    }
    check_order(
        (message.kind == ActorMessageKind::progress || message.kind == ActorMessageKind::start) &&
        message.from < seen_.size());
    // Both numbers of a worker only grow, so the newest message wins in any order of arrival.
    see(message.from, message.iteration);
    bounds_.raise(message.from, message.base);
    pull_if_due(context);
  }

  std::optional<std::uint64_t> kept_version() const override { return version_; }

  void save_or_load(ActorState& state) override {
    state.value(version_);
    state.value(pulling_);
    state.value(unapplied_);
    state.row(seen_);
    state.row(applied_);
    bounds_.save_or_load(state);
    for (auto& sum : sums_) {
      state.list(sum);
    }
    state.value(waits_for_);
    state.value(waits_since_);
  }

 private:
  void see(std::uint32_t worker, std::uint64_t iterations) {
    if (iterations > seen_[worker]) {
      unapplied_ += iterations - seen_[worker];
      seen_[worker] = iterations;
    }
  }

  bool bases_are_recent() const {  // T2
    return staleness_ > version_ || bounds_.least() >= version_ + 1 - staleness_;
  }

  void pull_if_due(ActorContext& context) {
    if (pulling_ > 0) {
      return;
    }
    if (unapplied_ < quota_) {
      wait_for(Wait::quota, context);
      return;
    }
    if (!bases_are_recent()) {
      wait_for(Wait::staleness, context);
      return;
    }
    wait_for(Wait::pull, context);
    pulling_ = roster_.nodes;
    send_to_nodes(ActorMessageKind::pull, context);
  }

  void take(const ActorMessage& sum, ActorContext& context) {
    const bool is_from_node =
        sum.from >= roster_.node(0) && sum.from - roster_.node(0) < sums_.size();
    check_order(is_from_node && pulling_ > 0 && sum.version == version_);
    sums_[sum.from - roster_.node(0)] = sum.gradients;
    if (--pulling_ > 0) {
      return;
    }
    wait_for(Wait::quota, context);  // the pull has ended
    make_version(context);
    send_to_nodes(version_ == versions_ ? ActorMessageKind::stop : ActorMessageKind::model,
                  context);
    if (version_ < versions_) {
      pull_if_due(context);
    }
  }

  /// Gives up the pull that is under way; its sums that are still to arrive are discarded then.
  void stop_at_this_version(ActorContext& context) {
    versions_ = version_;
    for (auto& sum : sums_) {
      discard(std::exchange(sum, {}), context);
    }
    send_to_nodes(ActorMessageKind::stop, context);
  }

  static void discard(const std::vector<GradientId>& gradients, ActorContext& context) {
    for (const GradientId& gradient : gradients) {
      context.effects().discard(gradient);
    }
  }

  void send_to_nodes(ActorMessageKind kind, ActorContext& context) const {
    for (std::uint32_t n = 0; n < roster_.nodes; ++n) {
      context.send(roster_.node(n), {.kind = kind, .version = version_});
    }
  }

  void make_version(ActorContext& context) {
    std::vector<GradientId> gradients;
    for (auto& sum : sums_) {
      gradients.insert(gradients.end(), sum.begin(), sum.end());
      sum.clear();
    }
    for (const GradientId& gradient : gradients) {
      check_order(gradient.worker < applied_.size() &&
                  gradient.iteration == applied_[gradient.worker]);
      see(gradient.worker, std::uint64_t{gradient.iteration} + 1);  // its IN may be under way
      ++applied_[gradient.worker];
      --unapplied_;
    }
    ++version_;
    context.effects().make_version(version_, gradients);
  }

  /// Notes what the server waits for, and reports the wait that ends.
  void wait_for(Wait cause, ActorContext& context) {
    if (cause == waits_for_) {
      return;
    }
    context.effects().waited(waits_for_, context.now() - waits_since_);
    waits_for_ = cause;
    waits_since_ = context.now();
  }

  Roster roster_;
  std::uint64_t quota_;      // C
  std::uint64_t staleness_;  // s
  std::uint64_t versions_;   // T
  std::uint64_t version_ = 0;
  std::uint32_t pulling_ = 0;                  // sums that are still to arrive
  std::uint64_t unapplied_ = 0;                // sum over workers of seen - applied
  std::vector<std::uint64_t> seen_;            // iterations that a worker has announced
  std::vector<std::uint64_t> applied_;         // its watermark
  Slowest bounds_;                             // u_w
  std::vector<std::vector<GradientId>> sums_;  // of the nodes, in the pull that is under way
  Wait waits_for_ = Wait::quota;
  double waits_since_ = 0;
};

void check_inhad(const InhadOptions& options) {
  require(options.workers >= 1, "inhad needs at least 1 worker, not {}", options.workers);
  require(options.nodes >= 1, "inhad needs at least 1 node, not {}", options.nodes);
  require(options.workers % options.nodes == 0,
          "inhad cannot place {} workers evenly on {} nodes; take a number of nodes that divides "
          "the workers",
          options.workers,
          options.nodes);
  require(options.versions >= 1, "a protocol makes at least 1 version, not {}", options.versions);
  require(options.quota >= 1, "inhad needs a quota of at least 1 gradient, not {}", options.quota);
  require(options.cap >= 1, "inhad needs a cap of at least 1 gradient, not {}", options.cap);
  const auto workers = static_cast<std::uint64_t>(options.workers);
  require(options.cap >= (options.quota - 1) / workers + 1,
          "inhad would never pull: {} workers with a cap of {} gradients reach {}, the quota is "
          "{}; lower the quota or raise the cap",
          workers,
          options.cap,
          options.cap * workers,
          options.quota);
  require(options.quota <= workers * kMostGradientsAtAVersion,
          "inhad takes at most {} gradients of each worker for a version, and a quota of {} asks "
          "{} workers for more; lower the quota",
          kMostGradientsAtAVersion,
          options.quota,
          workers);
  require(options.staleness >= 1 || options.cap < kUnlimited,
          "inhad would never pull: with a staleness of 0 and no cap no worker becomes idle; set a "
          "cap, or a staleness above 0");
}

}  // namespace

Cast make_inhad(const InhadOptions& options) {
  check_inhad(options);
  Cast cast{.roster = {.workers = static_cast<std::uint32_t>(options.workers),
                       .nodes = static_cast<std::uint32_t>(options.nodes)},
            .versions = options.versions,
            .actors = {}};
  const Roster& roster = cast.roster;
  std::vector<std::shared_ptr<NodeMemory>> memories;
  for (std::uint32_t n = 0; n < roster.nodes; ++n) {
    memories.push_back(std::make_shared<NodeMemory>());
    memories.back()->idle.resize(roster.workers_of_node());
  }
  for (std::uint32_t p = 0; p < roster.workers; ++p) {
    cast.actors.push_back(std::make_unique<AddingWorker>(
        p, roster, options.cap, memories[p / roster.workers_of_node()]));
  }
  for (std::uint32_t n = 0; n < roster.nodes; ++n) {
    cast.actors.push_back(std::make_unique<NodeAggregator>(n, roster, memories[n]));
  }
  cast.actors.push_back(std::make_unique<PullingServer>(options, roster));
  return cast;
}

}  // namespace residuum
