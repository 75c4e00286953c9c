#pragma once
// Progress tells on stderr how far a batch of runs is: by a bar on a terminal, else by lines at 1,
// 2, 5, 10, 20, ... per cent of the batch and at least every minute. Groups that run side by side
// each print lines of their own, at these parts of the run they are at.

#include <chrono>
#include <cstdint>
#include <string>

#include "experiments/program/console/options.h"

namespace residuum {

/// A notice says what the end of a run is to a user. Trouble is told with the style none too.
enum class Notice { quiet, progress, trouble };

class Progress {
 public:
  /// A process that does not `speak` says nothing at all.
  Progress(ProgressStyle style, bool speaks, std::size_t runs, int groups);

  /// `position` is the run's place among the runs, from 0.
  void start_run(std::size_t position, const std::string& label);
  void iteration(std::uint64_t done, std::uint64_t total);
  /// `outcome` says how the run ended; it gets a line of its own unless it is quiet.
  void end_run(const std::string& outcome, Notice notice) const;

 private:
  std::string run_name() const;
  void show(double fraction);
  void bar(double fraction) const;

  using Clock = std::chrono::steady_clock;

  ProgressStyle style_;
  bool speaks_;
  std::size_t runs_;
  bool alone_;
  std::size_t position_ = 0;
  std::string label_;
  double next_ = 0;  // fraction at which the next line is due
  Clock::time_point shown_ = Clock::now();
};

}  // namespace residuum
