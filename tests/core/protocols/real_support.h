#pragma once
// Trainings over real processes, which threads play.

#include <functional>
#include <memory>
#include <vector>

#include "core/protocols/real_loop.h"
#include "tests/core/thread_message_queue.h"
#include "tests/core/thread_world.h"
#include "tests/core/tiny_training.h"

namespace residuum::test {

inline std::unique_ptr<Protocol> real(Json section) {
  section["execution"] = "real";
  return make_protocol(Section("protocol", section));
}

/// Runs `body` once per process, with a World and a message queue.
inline void on_real_processes(int size, const std::function<void(World&, MessageQueue&)>& body) {
  PacketHub hub(size, std::chrono::microseconds(200), 1);
  on_processes(size, [&](World& world) {
    MessageQueue queue(std::make_unique<ThreadTransport>(hub, world.rank()));
    body(world, queue);
    queue.close();
  });
}

struct RealRun {
  std::vector<Outcome> outcomes;  // by rank
  std::vector<Frame> frames;
};

/// `checkpoints_of` gives the checkpoints of a rank.
inline RealRun run_really(int processes,
                          const Objective& objective,
                          const Recipe& recipe,
                          const std::function<Checkpoints*(const Cluster&)>& checkpoints_of = {}) {
  RealRun run;
  run.outcomes.resize(static_cast<std::size_t>(processes));
  on_real_processes(processes, [&](World& world, MessageQueue& queue) {
    FrameKeeper keeper;
    Recipe own = recipe;
    own.queue = &queue;
    const Cluster cluster = recipe.protocol->cluster(world, recipe.workers);
    own.checkpoints = checkpoints_of ? checkpoints_of(cluster) : nullptr;
    run.outcomes[static_cast<std::size_t>(world.rank())] = train(world, objective, own, keeper);
    if (world.is_root()) {
      run.frames = std::move(keeper.frames);
    }
  });
  return run;
}

inline Recipe recipe_of(const Protocol& protocol, int workers, std::uint64_t iterations) {
  Recipe recipe;
  recipe.protocol = &protocol;
  recipe.workers = workers;
  recipe.iterations = iterations;
  recipe.evaluated = Json(1);
  return recipe;
}

}  // namespace residuum::test
