#pragma once
// A training of one number for runs over real processes. The model, gradients and sums are hashes
// of all that they should have been made of, so a version can be made right only of the gradients
// that it lists, each once, and each computed at the model of its base.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "core/protocols/actors/inhad.h"
#include "core/protocols/actors/parallel.h"
#include "core/protocols/actors/parameter_server.h"
#include "core/random/random.h"

namespace residuum::test {

/// One step of splitmix64.
inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

inline std::uint64_t gradient_at(const GradientId& gradient, std::uint64_t model) {
  return mixed(mixed(gradient.worker) + mixed(~std::uint64_t{gradient.iteration}) + model);
}

class TinySite final : public Effects, public Payloads {
 public:
  /// `during` is called by the compute thread for every gradient, `after` when a version is made.
  TinySite(const Roster& roster,
           std::function<void(const GradientId&)> during,
           std::function<void(std::uint64_t)> after = {})
      : roster_(roster),
        during_(std::move(during)),
        after_(std::move(after)),
        models_(roster.actors()),
        sums_(roster.nodes),
        sent_(roster.actors()),
        read_(roster.workers),
        gradients_(roster.workers) {}

  Site site() { return {.effects = *this, .payloads = *this}; }

  // These record what happened on this process.
  std::vector<std::vector<GradientId>> versions;  // by version - 1
  std::vector<GradientId> computed;
  std::vector<GradientId> discarded;

  void compute(const GradientId& gradient) override {
    const Model& model = models_[source_of(gradient.worker)];
    EXPECT_EQ(model.version, gradient.base);
    read_[gradient.worker] = model.number;
    computed.push_back(gradient);
  }
  void calculate(const GradientId& gradient) override {
    during_(gradient);
    gradients_[gradient.worker] = gradient_at(gradient, read_[gradient.worker]);
  }
  void hand_in(const GradientId& gradient, int node) override {
    const std::uint64_t number = gradients_[gradient.worker];
    if (node < 0) {
      sent_[gradient.worker] = number;
    } else {
      sums_[static_cast<std::size_t>(node)] += number;
    }
  }
  void collect(int node, std::span<const GradientId> /*gradients*/) override {
    const auto n = static_cast<std::uint32_t>(node);
    sent_[roster_.node(n)] = std::exchange(sums_[n], 0);
  }
  void make_version(std::uint64_t version, std::span<const GradientId> gradients) override {
    EXPECT_EQ(version, versions.size() + 1);
    std::uint64_t sum = 0;
    for (const GradientId& gradient : gradients) {
      EXPECT_LT(gradient.base, version);
      sum += gradient_at(gradient, history_.at(gradient.base));
    }
    EXPECT_EQ(arrived_, sum) << "version " << version << " is made of other gradients";
    arrived_ = 0;
    versions.emplace_back(gradients.begin(), gradients.end());
    history_.push_back(mixed(history_.back() + sum));
    if (after_) {
      after_(version);
    }
  }
  void discard(const GradientId& gradient) override {
    EXPECT_NE(std::find(computed.begin(), computed.end(), gradient), computed.end())
        << "it was computed on another process";
    discarded.push_back(gradient);
  }
  void waited(Wait /*cause*/, double seconds) override { EXPECT_GE(seconds, 0); }
  std::uint64_t payload_bytes(const ActorMessage& /*message*/) override {
    ADD_FAILURE() << "the driver has the payload itself";
    return 0;
  }

  std::uint64_t pack(const ActorMessage& message, ActorId /*to*/, Bytes& bytes) override {
    const std::uint64_t number = message.kind == ActorMessageKind::model
                                     ? history_.at(message.version)
                                     : sent_[message.from];
    const auto view = std::as_bytes(std::span(&number, 1));
    bytes.insert(bytes.end(), view.begin(), view.end());
    return view.size();
  }
  std::uint64_t unpack(const ActorMessage& message,
                       ActorId to,
                       std::span<const std::byte> bytes) override {
    std::uint64_t number = 0;
    EXPECT_EQ(bytes.size(), sizeof(number));
    std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof(number)));
    if (message.kind != ActorMessageKind::model) {
      arrived_ += number;
    } else if (message.version >= models_[to].version) {
      models_[to] = {.version = message.version, .number = number};
    }
    return bytes.size();
  }

 private:
  struct Model {
    std::uint64_t version = 0;
    std::uint64_t number = 0;
  };

  /// Returns the actor to which the worker's models are sent.
  ActorId source_of(std::uint32_t worker) const {
    return roster_.nodes > 0 ? roster_.node(worker / roster_.workers_of_node()) : worker;
  }

  Roster roster_;
  std::function<void(const GradientId&)> during_;
  std::function<void(std::uint64_t)> after_;
  std::vector<Model> models_;             // by actor
  std::vector<std::uint64_t> sums_;       // by node
  std::vector<std::uint64_t> sent_;       // by actor, the gradient or sum that is sent next
  std::vector<std::uint64_t> read_;       // by worker, the model of the gradient in progress
  std::vector<std::uint64_t> gradients_;  // by worker
  std::vector<std::uint64_t> history_{0};
  std::uint64_t arrived_ = 0;  // the sum of all that is in no version yet
};

/// A random protocol and what it promises.
struct RandomRun {
  RandomRun(std::uint32_t seed, int processes)
      : RandomRun(RandomStream(seed, Purpose::test, 7, 0), processes) {}

  Cast cast() const { return inhad ? make_inhad(*inhad) : make_parameter_server(*server); }
  std::uint64_t versions() const { return inhad ? inhad->versions : server->versions; }
  std::uint64_t largest_staleness() const {
    return inhad ? inhad->staleness : residuum::largest_staleness(*server);
  }
  std::string name() const {
    return inhad ? fmt::format("inhad: N = {}, M = {}, C = {}, s = {}, h = {}, T = {}",
                               inhad->nodes,
                               inhad->workers,
                               inhad->quota,
                               inhad->staleness,
                               inhad->cap,
                               inhad->versions)
                 : fmt::format("parameter server: P = {}, s = {}, T = {}",
                               server->workers,
                               server->staleness,
                               server->versions);
  }

  std::optional<InhadOptions> inhad;
  std::optional<ParameterServerOptions> server;

 private:
  RandomRun(RandomStream random, int processes) {
    const int hosts = std::max(1, processes - 1);
    const auto up_to = [&](int most) {
      return static_cast<int>(random.below(static_cast<std::uint32_t>(most) + 1));
    };
    constexpr std::array<std::uint64_t, 5> kStaleness{0, 1, 2, 5, kUnlimited};
    const std::uint64_t staleness = kStaleness[random.below(5)];
    const auto versions = static_cast<std::uint64_t>(1 + up_to(24));
    if (random.below(2) == 0) {
      server = {.workers = hosts + up_to(3), .staleness = staleness, .versions = versions};
      return;
    }
    constexpr std::array<std::uint64_t, 3> kCaps{1, 3, kUnlimited};
    inhad = {.nodes = hosts + up_to(2), .staleness = staleness, .versions = versions};
    inhad->workers = inhad->nodes * (1 + up_to(2));
    inhad->cap = kCaps[random.below(staleness == 0 ? 2 : 3)];
    const int most = inhad->workers * (inhad->cap == 1 ? 1 : 2);
    inhad->quota = static_cast<std::uint64_t>(1 + up_to(most - 1));
  }
};

/// Returns a calculation that takes a random time, now and then a long one.
inline std::function<void(const GradientId&)> random_pauses(std::uint32_t seed) {
  return [seed](const GradientId& gradient) {
    RandomStream random(seed, Purpose::test, gradient.worker + 100, gradient.iteration);
    const double factor = random.below(20) == 0 ? 20 : 1;
    std::this_thread::sleep_for(
        std::chrono::duration<double, std::micro>(100 * factor * random.exponential()));
  };
}

/// Expects S1, and that every gradient that was computed is in one version or discarded, those of a
/// version first. The lists are those of all processes together.
inline void expect_counted_once(const std::vector<std::vector<GradientId>>& versions,
                                std::vector<GradientId> computed,
                                std::vector<GradientId> discarded,
                                std::uint64_t largest_staleness) {
  std::map<std::uint32_t, std::uint32_t> finished;  // of each worker
  std::vector<GradientId> counted;
  for (std::size_t v = 0; v < versions.size(); ++v) {
    EXPECT_FALSE(versions[v].empty());
    for (const GradientId& gradient : versions[v]) {
      EXPECT_LE(v - gradient.base, largest_staleness);
      EXPECT_EQ(gradient.iteration, finished[gradient.worker]++);
      counted.push_back(gradient);
    }
  }
  const auto is_before = [](const GradientId& a, const GradientId& b) {
    return std::pair(a.worker, a.iteration) < std::pair(b.worker, b.iteration);
  };
  std::sort(discarded.begin(), discarded.end(), is_before);
  for (const GradientId& gradient : discarded) {
    EXPECT_EQ(gradient.iteration, finished[gradient.worker]++);
    counted.push_back(gradient);
  }
  std::sort(counted.begin(), counted.end(), is_before);
  std::sort(computed.begin(), computed.end(), is_before);
  EXPECT_EQ(counted, computed);
}

}  // namespace residuum::test
