#pragma once
// RunBatches hands out the runs of a study in batches: all of a share at once, what the next look
// of a search needs, or what a tuning needs and then the runs at the best values.

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "experiments/program/console/options.h"
#include "experiments/program/study/study.h"

namespace residuum {

class RunBatches {
 public:
  /// `ids` are those of all runs of the study.
  RunBatches(const Study& study,
             const Share& share,
             std::vector<std::string> ids,
             std::filesystem::path result_dir)
      : study_(study), share_(share), ids_(std::move(ids)), result_dir_(std::move(result_dir)) {}

  /// Returns the next batch, as places in the study; empty if nothing is left. The next runs of a
  /// search or a tuning follow from the results in the folder, also from those of other shares. A
  /// share never waits for others: runs that depend on theirs are left to a later start. For the
  /// process that writes the folder.
  std::vector<std::size_t> next();

  /// Returns the runs that the folder is about: all, or those that a search or a tuning has needed
  /// so far.
  const std::vector<std::size_t>& known() const { return known_; }
  const std::vector<std::string>& ids() const { return ids_; }
  /// Returns the ids of the runs of a method by seed: of a trial of the tuning, or at a level. None
  /// where the level cannot be run.
  std::vector<std::string> tuning_ids(std::size_t method, std::size_t trial) const;
  std::vector<std::string> final_ids(std::size_t method, std::size_t level) const;
  /// Returns the ids of the runs that were handed out.
  std::vector<std::string> own_ids() const;

 private:
  std::vector<std::size_t> next_of_search();
  std::vector<std::size_t> next_of_tuning();
  /// Returns the choice of a method so far.
  reports::TuningResult choice_of(std::size_t method) const;
  /// Notes a run as known, and hands it out if it is of this share and was not before.
  void take(std::size_t run, std::vector<std::size_t>& batch);

  const Study& study_;
  Share share_;
  std::vector<std::string> ids_;
  std::filesystem::path result_dir_;
  std::vector<std::size_t> known_;
  std::set<std::size_t> handed_out_;
  bool is_first_ = true;
};

}  // namespace residuum
