#include "core/protocols/actors/parameter_server.h"

#include <utility>

#include "core/error.h"
#include "core/protocols/actors/actor.h"

namespace residuum {
namespace {

/// A PushingWorker is always in one of three states: it waits for the model, it computes, or it has
/// ended.
class PushingWorker final : public Actor {
 public:
  PushingWorker(std::uint32_t worker, const Roster& roster)
      : worker_(worker), server_(roster.server()) {}

  void begin(ActorContext& context) override { read(context); }

  void receive(const ActorMessage& message, ActorContext& context) override {
    switch (message.kind) {
      case ActorMessageKind::model:
        compute(message.version, context);
        break;
      case ActorMessageKind::computed:
        finish(context);
        break;
      case ActorMessageKind::stop:
        stopped_ = 1;
        break;
      default:
        check_order(false);
    }
  }

  void save_or_load(ActorState& state) override {
    state.value(finished_);
    state.value(base_);
    state.value(waits_since_);
    state.value(stopped_);
  }

 private:
  void read(ActorContext& context) {
    waits_since_ = context.now();
    context.send(server_, {.kind = ActorMessageKind::read, .iteration = finished_});
  }

  void compute(std::uint64_t version, ActorContext& context) {
    if (stopped_ != 0) {  // STOP has overtaken the model
      return;
    }
    context.effects().waited(Wait::idle, context.now() - waits_since_);
    base_ = version;
    context.effects().compute(gradient());
    context.work(Work::gradient, {.kind = ActorMessageKind::computed, .iteration = finished_});
  }

  void finish(ActorContext& context) {
    const GradientId done = gradient();
    ++finished_;
    if (stopped_ != 0) {
      context.effects().discard(done);
      return;
    }
    context.effects().hand_in(done, -1);
    context.send(server_,
                 {.kind = ActorMessageKind::push, .iteration = done.iteration, .base = done.base});
    read(context);
  }

  GradientId gradient() const {
    return {.worker = worker_, .iteration = static_cast<std::uint32_t>(finished_), .base = base_};
  }

  std::uint32_t worker_;
  ActorId server_;
  std::uint64_t finished_ = 0;  // n_p
  std::uint64_t base_ = 0;      // u
  double waits_since_ = 0;
  std::uint8_t stopped_ = 0;
};

class ApplyingServer final : public Actor {
 public:
  ApplyingServer(const ParameterServerOptions& options, const Roster& roster)
      : staleness_(options.staleness),
        versions_(options.versions),
        finished_(roster.workers),
        readers_(roster.workers) {}

  void receive(const ActorMessage& message, ActorContext& context) override {
    check_order(message.kind == ActorMessageKind::stop || message.from < readers_.size());
    switch (message.kind) {
      case ActorMessageKind::read:
        readers_[message.from] = {.iteration = message.iteration, .reads = 1};
        answer(message.from, context);
        break;
      case ActorMessageKind::push:
        apply(message, context);
        break;
      case ActorMessageKind::stop:
        stop_at_this_version(context);
        break;
      default:
        check_order(false);
    }
  }

  std::optional<std::uint64_t> kept_version() const override { return version_; }

  void save_or_load(ActorState& state) override {
    state.value(version_);
    finished_.save_or_load(state);
    for (Reader& reader : readers_) {
      state.value(reader.iteration);
      state.value(reader.reads);
      state.value(reader.is_held);
      state.value(reader.held_since);
    }
  }

 private:
  /// A reader is a worker that waits for an answer.
  struct Reader {
    std::uint64_t iteration = 0;  // n_p that its READ states
    std::uint8_t reads = 0;       // 1 while its READ is unanswered
    std::uint8_t is_held = 0;     // 1 while only the staleness limit holds the answer back
    double held_since = 0;
  };

  void apply(const ActorMessage& push, ActorContext& context) {
    const GradientId gradient{.worker = push.from,
                              .iteration = static_cast<std::uint32_t>(push.iteration),
                              .base = push.base};
    if (version_ == versions_) {
      context.effects().discard(gradient);
      return;
    }
    check_order(push.iteration == finished_[push.from]);
    ++version_;
    context.effects().make_version(version_, {&gradient, 1});
    const bool least_grew = finished_.raise(push.from, push.iteration + 1);
    if (version_ == versions_) {
      send_stop(context);
      return;
    }
    if (!least_grew) {
      answer(push.from, context);
      return;
    }
    for (ActorId worker = 0; worker < readers_.size(); ++worker) {
      answer(worker, context);
    }
  }

  void stop_at_this_version(ActorContext& context) {
    if (version_ < versions_) {
      versions_ = version_;
      send_stop(context);
    }
  }

  void send_stop(ActorContext& context) const {
    for (ActorId worker = 0; worker < readers_.size(); ++worker) {
      context.send(worker, {.kind = ActorMessageKind::stop});
    }
  }

  /// Sends the model to a worker that waits for it and may start.
  void answer(ActorId worker, ActorContext& context) {
    Reader& reader = readers_[worker];
    if (reader.reads == 0 || version_ == versions_ || finished_[worker] < reader.iteration) {
      return;
    }
    if (reader.iteration - finished_.least() > staleness_) {
      if (reader.is_held == 0) {
        reader.is_held = 1;
        reader.held_since = context.now();
      }
      return;
    }
    if (reader.is_held != 0) {
      context.effects().waited(Wait::staleness, context.now() - reader.held_since);
    }
    reader = {};
    context.send(worker, {.kind = ActorMessageKind::model, .version = version_});
  }

  std::uint64_t staleness_;
  std::uint64_t versions_;
  std::uint64_t version_ = 0;
  Slowest finished_;  // n_p: pushes of each worker that are applied
  std::vector<Reader> readers_;
};

}  // namespace

std::uint64_t largest_staleness(const ParameterServerOptions& options) {
  const auto others = static_cast<std::uint64_t>(options.workers - 1);
  if (others == 0) {
    return 0;
  }
  const bool overflows = options.staleness > (kUnlimited / others - 1) / 2;
  return overflows ? kUnlimited : (2 * options.staleness + 1) * others;
}

Cast make_parameter_server(const ParameterServerOptions& options) {
  require(
      options.workers >= 1, "a parameter server needs at least 1 worker, not {}", options.workers);
  require(options.versions >= 1, "a protocol makes at least 1 version, not {}", options.versions);
  Cast cast{.roster = {.workers = static_cast<std::uint32_t>(options.workers)},
            .versions = options.versions,
            .actors = {}};
  for (std::uint32_t p = 0; p < cast.roster.workers; ++p) {
    cast.actors.push_back(std::make_unique<PushingWorker>(p, cast.roster));
  }
  cast.actors.push_back(std::make_unique<ApplyingServer>(options, cast.roster));
  return cast;
}

}  // namespace residuum
