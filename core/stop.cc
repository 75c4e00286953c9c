#include "core/stop.h"

#include "core/error.h"

namespace residuum {
namespace {

const std::atomic<bool>*& current_flag() {
  static const std::atomic<bool>* flag = nullptr;
  return flag;
}

}  // namespace

void set_stop_flag(const std::atomic<bool>* flag) { current_flag() = flag; }

void stop_if_requested() {
  const std::atomic<bool>* const flag = current_flag();
  if (flag != nullptr && flag->load()) {
    throw Error(ExitCode::stopped, "stopped on request: the same command goes on from here");
  }
}

}  // namespace residuum
