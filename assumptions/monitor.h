#pragma once
// The monitor looks at a run through the chosen probes and hands rows and checks to a recorder.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assumptions/probes/probe.h"
#include "core/cluster/run_state.h"
#include "core/measurement/step_view.h"
#include "core/record/record.h"
#include "core/trainer/trainer.h"

namespace residuum {

/// SilentWorkers counts them: a worker is silent if it takes part in a run and has sent no entry so
/// far. Measurements of its empty messages say nothing of the method.
class SilentWorkers {
 public:
  /// Takes the next measured iteration. Adds the check "every-worker-sends", the number of silent
  /// workers against 0, while there are any, and once more when there are none any longer.
  void observe(const StepView& view, std::vector<Check>& checks);

  /// Returns how many workers were silent after the last iteration that was measured.
  std::uint64_t count() const { return count_; }

  /// Saves or loads the values that one iteration leaves for the next.
  void save_or_load(RunState& state);

 private:
  void note_who_takes_part(const StepView& view);

  std::vector<std::uint8_t> takes_part_;  // of every worker, in an iteration that was measured
  std::uint64_t count_ = 0;
};

/// A CheckSummary says how one check went over a run.
struct CheckSummary {
  bool hard = true;
  bool expected = true;  // false: the method is known to violate it
  std::uint64_t n = 0;
  std::uint64_t failures = 0;
  double worst_ratio = 0;  // of lhs / rhs; infinite where rhs = 0 < lhs
  std::uint64_t worst_iteration = 0;
};

/// A RunSummary has the findings of the probes at the end of a run.
struct RunSummary {
  std::map<std::string, CheckSummary> checks;
  std::uint64_t rows = 0;
  // Sums over all iterations up to the last measured one.
  std::optional<double> sent_bytes;
  std::optional<double> uplink_bytes;  // those of them that workers send
  std::optional<double> nnz_sent;
  std::uint64_t evaluations = 0;
  double grad_norm_sq_sum = 0;  // over the evaluated iterations
  std::optional<double> delta_max;
  std::optional<double> total_error;  // of all iterations up to the last measured one
  std::uint64_t silent_workers = 0;   // that had sent no entry by then
};

class Monitor final : public StepObserver {
 public:
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

  Monitor(std::vector<std::unique_ptr<Probe>> probes, Recorder& recorder, Progress progress);

  /// Rows for the recorder about the parts of an iteration.
  using Details = std::function<void(const StepView& view, Recorder& recorder)>;
  void add_details(Details details) { details_.push_back(std::move(details)); }

  /// Leaves the columns of wall time empty, so that the same run gives the same bytes.
  void leave_out_times() { times_ = false; }

  void observe(const StepView& view) override;
  void progress(std::uint64_t done, std::uint64_t total) override { progress_(done, total); }

  /// Saves or loads the summary so far and the state of the probes.
  void save_or_load(RunState& state);

  const RunSummary& summary() const { return summary_; }

 private:
  void note(const Check& check);
  void note(const Row& row);

  std::vector<std::unique_ptr<Probe>> probes_;
  std::vector<Details> details_;
  Recorder& recorder_;
  Progress progress_;
  SilentWorkers silent_workers_;
  RunSummary summary_;
  bool times_ = true;
};

/// The probes named in a list; an unknown name is a usage error with the nearest known one.
std::vector<std::unique_ptr<Probe>> make_probes(const std::vector<std::string>& names,
                                                const std::string& where);

}  // namespace residuum
