#include "assumptions/silent_workers.h"

#include <algorithm>

namespace residuum {

void SilentWorkers::note_who_takes_part(const StepView& view) {
  takes_part_.resize(view.worker_scalars.size());
  if (view.contributed.empty()) {
    std::fill(takes_part_.begin(), takes_part_.end(), std::uint8_t{1});
    return;
  }
  for (std::size_t i = 0; i < view.contributed.size(); ++i) {
    takes_part_.at(static_cast<std::size_t>(view.contributor(i))) = 1;
  }
}

void SilentWorkers::observe(const StepView& view, std::vector<Check>& checks) {
  note_who_takes_part(view);
  const std::uint64_t before = count_;
  count_ = 0;
  for (std::size_t p = 0; p < takes_part_.size(); ++p) {
    count_ += takes_part_[p] != 0 && view.worker_scalars[p].total_nnz == 0 ? 1 : 0;
  }
  if (count_ == 0 && before == 0) {
    return;
  }
  checks.push_back({.iteration = view.iteration,
                    .name = "every-worker-sends",
                    .worker = std::nullopt,
                    .lhs = static_cast<double>(count_),
                    .rhs = 0,
                    .holds = count_ == 0,
                    .hard = false,
                    .expected = true});
}

void SilentWorkers::visit(RunState& state) {
  state.root_list(takes_part_);
  state.root(count_);
}

}  // namespace residuum
