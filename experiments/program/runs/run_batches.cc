#include "experiments/program/runs/run_batches.h"

#include <numeric>

#include "reports/analysis/search_folder.h"

namespace residuum {

std::vector<std::size_t> RunBatches::next() {
  if (study_.search) {
    return next_of_search();
  }
  std::vector<std::size_t> batch;
  if (is_first_) {
    known_.resize(ids_.size());
    std::iota(known_.begin(), known_.end(), std::size_t{0});
    for (const std::size_t i : known_) {
      if (share_.has(i)) {
        batch.push_back(i);
      }
    }
  }
  is_first_ = false;
  handed_out_.insert(batch.begin(), batch.end());
  return batch;
}

std::vector<std::string> RunBatches::own_ids() const {
  std::vector<std::string> own;
  own.reserve(handed_out_.size());
  for (const std::size_t run : handed_out_) {
    own.push_back(ids_[run]);
  }
  return own;
}

/// A failure that an earlier start has left is no end: the run is made again.
std::vector<std::size_t> RunBatches::next_of_search() {
  const StudySearch& search = *study_.search;
  const auto ending = [&](std::size_t method, std::size_t seed) {
    const std::size_t run = search.run_of(method, seed);
    auto end = reports::ending_of(result_dir_, ids_[run], search.quantity);
    if (end.kind == reports::Ending::Kind::failed && !handed_out_.contains(run)) {
      end.kind = reports::Ending::Kind::missing;
    }
    return end;
  };
  const auto result = reports::follow_search(search.plan, ending);
  known_.clear();
  std::vector<std::size_t> batch;
  for (std::size_t method = 0; method < result.seeds.size(); ++method) {
    for (std::size_t seed = 0; seed < result.seeds[method]; ++seed) {
      const std::size_t run = search.run_of(method, seed);
      known_.push_back(run);
      if (handed_out_.insert(run).second) {
        batch.push_back(run);
      }
    }
  }
  return batch;
}

}  // namespace residuum
