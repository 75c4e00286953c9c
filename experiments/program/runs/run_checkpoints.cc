#include <limits>

#include "core/error.h"
#include "experiments/program/runs/run_maker.h"

namespace residuum {
namespace {

/// Does the same as `together`, and says that the checkpoint is why. A process that has run out of
/// memory tells nothing of the checkpoint.
void together_or_refuse(World& world, const std::function<void()>& action) {
  std::optional<Error> mine;
  together(world, [&] {
    try {
      action();
    } catch (const Error& error) {
      mine = error;
    }
  });
  try {
    together(world, [&] {
      if (mine) {
        throw Error(*mine);
      }
    });
  } catch (const SharedError& error) {
    throw RefusedCheckpoint(error.code(), error.what());
  }
}

}  // namespace

/// Returns the first error of loading, on this process. The state begins with its iteration, so
/// that the head of another one does not go with it.
std::optional<Error> RunCheckpoints::pass(StateStream* stream,
                                          RunState::Direction direction,
                                          const SaveOrLoad& state,
                                          std::uint64_t iteration) {
  RunState run(cluster_, stream, direction);
  std::uint64_t of_state = iteration;
  run.shared(of_state);
  run.examine([&] {
    require(of_state == iteration,
            "its state is of iteration {}, and its head of {}",
            of_state,
            iteration);
  });
  state(run);
  monitor_.save_or_load(run);
  return run.damage();
}

std::uint64_t RunCheckpoints::load(const SaveOrLoad& state) {
  std::int64_t mine = std::numeric_limits<std::int64_t>::max();
  if (folder_ != nullptr) {
    mine = static_cast<std::int64_t>(folder_->resumed_iterations());
  }
  const std::int64_t done = cluster_.world().minimum(mine);
  if (done == 0) {
    return 0;
  }
  const auto iteration = static_cast<std::uint64_t>(done);
  measure(state);
  load_whole(state, iteration);
  together(cluster_.world(), [&] {
    if (folder_ != nullptr) {
      folder_->go_on();
    }
  });
  has_loaded_ = true;
  return iteration;
}

Outcome RunCheckpoints::guard(const std::function<Outcome()>& training) {
  try {
    return training();
  } catch (const RefusedCheckpoint&) {
    throw;
  } catch (const SharedError& error) {
    if (!is_of_state(error)) {
      throw;
    }
    throw RefusedCheckpoint(error.code(), error.what());
  } catch (const Error& error) {
    if (is_of_state(error) && cluster_.world().size() == 1) {
      throw RefusedCheckpoint(error.code(), error.what());
    }
    if (is_of_state(error) && folder_ != nullptr) {
      folder_->refuse(error.what());
    }
    throw;
  }
}

/// Throws unless the state has the length of this training's. Nothing is loaded yet.
void RunCheckpoints::measure(const SaveOrLoad& state) {
  together_or_refuse(cluster_.world(), [&] {
    if (folder_ != nullptr) {
      folder_->load([&](StateStream& stream) {
        static_cast<void>(pass(&stream, RunState::Direction::measure, state, 0));
      });
    }
  });
}

void RunCheckpoints::load_whole(const SaveOrLoad& state, std::uint64_t iteration) {
  const auto load = [&](StateStream* stream) {
    if (const auto damage = pass(stream, RunState::Direction::load, state, iteration)) {
      throw Error(*damage);
    }
  };
  together_or_refuse(cluster_.world(), [&] {
    if (folder_ != nullptr) {
      folder_->load([&](StateStream& stream) { load(&stream); });
    } else {
      load(nullptr);
    }
  });
}

bool RunCheckpoints::due() {
  return std::chrono::duration<double>(Clock::now() - saved_).count() > every_s_;
}

bool RunCheckpoints::is_of_state(const Error& error) const {
  return has_loaded_ && error.code() == ExitCode::usage;
}

void RunCheckpoints::save(std::uint64_t iterations, const SaveOrLoad& state) {
  constexpr auto kSave = RunState::Direction::save;
  if (folder_ != nullptr) {
    folder_->save(iterations, [&](StateStream& stream) {
      static_cast<void>(pass(&stream, kSave, state, iterations));
    });
  } else {
    static_cast<void>(pass(nullptr, kSave, state, iterations));
  }
  saved_ = Clock::now();
}

}  // namespace residuum
