#include "experiments/runs/run_checkpoints.h"

#include <limits>

namespace residuum {

void RunCheckpoints::pass(StateStream* stream, RunState::Direction direction, const Visit& state) {
  RunState run(cluster_, stream, direction);
  state(run);
  monitor_.visit(run);
}

std::uint64_t RunCheckpoints::load(const Visit& state) {
  std::int64_t mine = std::numeric_limits<std::int64_t>::max();
  if (folder_ != nullptr) {
    mine = static_cast<std::int64_t>(folder_->resumed_iterations());
  }
  const std::int64_t done = cluster_.world().minimum(mine);
  if (done == 0) {
    return 0;
  }
  constexpr auto kLoad = RunState::Direction::load;
  if (folder_ != nullptr) {
    folder_->load([&](StateStream& stream) { pass(&stream, kLoad, state); });
  } else {
    pass(nullptr, kLoad, state);
  }
  return static_cast<std::uint64_t>(done);
}

bool RunCheckpoints::due() {
  return std::chrono::duration<double>(Clock::now() - saved_).count() > every_s_;
}

void RunCheckpoints::save(std::uint64_t iterations, const Visit& state) {
  constexpr auto kSave = RunState::Direction::save;
  if (folder_ != nullptr) {
    folder_->save(iterations, [&](StateStream& stream) { pass(&stream, kSave, state); });
  } else {
    pass(nullptr, kSave, state);
  }
  saved_ = Clock::now();
}

}  // namespace residuum
