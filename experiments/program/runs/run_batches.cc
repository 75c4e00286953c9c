#include "experiments/program/runs/run_batches.h"

#include <numeric>

#include "reports/analysis/search_folder.h"
#include "reports/analysis/tuning_folder.h"

namespace residuum {

std::vector<std::size_t> RunBatches::next() {
  if (study_.search) {
    return next_of_search();
  }
  if (study_.tune) {
    return next_of_tuning();
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

void RunBatches::take(std::size_t run, std::vector<std::size_t>& batch) {
  known_.push_back(run);
  if (share_.has(run) && handed_out_.insert(run).second) {
    batch.push_back(run);
  }
}

/// A failure that an earlier start or another share has left is no end: the run is made again.
reports::TuningResult RunBatches::choice_of(std::size_t method) const {
  const StudyTune& tune = *study_.tune;
  return reports::follow_tuning(
      tune.plan,
      [&](std::size_t level) { return !tuning_ids(method, level).empty(); },
      [&](std::size_t trial, std::size_t seed) {
        const std::size_t run = tune.tuning_run(method, trial, seed);
        auto end = reports::tuning_end_of(result_dir_, ids_[run], tune.plan);
        if (end.kind == reports::TuningEnd::Kind::failed && !handed_out_.contains(run)) {
          end.kind = reports::TuningEnd::Kind::missing;
        }
        return end;
      });
}

std::vector<std::size_t> RunBatches::next_of_tuning() {
  const StudyTune& tune = *study_.tune;
  known_.clear();
  std::vector<std::size_t> batch;
  for (std::size_t method = 0; method < tune.methods; ++method) {
    const auto choice = choice_of(method);
    for (const std::size_t trial : choice.needed) {
      for (std::size_t seed = 0; seed < tune.plan.seeds.size(); ++seed) {
        take(tune.tuning_run(method, trial, seed), batch);
      }
    }
    for (std::size_t seed = 0; choice.is_over && seed < tune.seeds; ++seed) {
      take(tune.final_run(method, choice.best->level, seed), batch);
    }
  }
  return batch;
}

std::vector<std::string> RunBatches::tuning_ids(std::size_t method, std::size_t trial) const {
  std::vector<std::string> ids;
  for (std::size_t seed = 0; seed < study_.tune->plan.seeds.size(); ++seed) {
    ids.push_back(ids_[study_.tune->tuning_run(method, trial, seed)]);
  }
  return ids.front().empty() ? std::vector<std::string>() : ids;
}

std::vector<std::string> RunBatches::final_ids(std::size_t method, std::size_t level) const {
  std::vector<std::string> ids;
  for (std::size_t seed = 0; seed < study_.tune->seeds; ++seed) {
    ids.push_back(ids_[study_.tune->final_run(method, level, seed)]);
  }
  return ids.front().empty() ? std::vector<std::string>() : ids;
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
