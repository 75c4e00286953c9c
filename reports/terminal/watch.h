#pragma once
// A study watch follows a study by its files alone: how far its runs are, and what they have
// measured so far.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/results/result_folder.h"

namespace residuum::reports {

/// A curve of a terminal is a row of block characters, one a stretch of its range.
class BlockCurve {
 public:
  /// Adds a point; those that are not finite are left out. With 1024 points every second one goes.
  void add(double x, double y);
  bool empty() const { return points_.empty(); }

  /// Returns `width` characters ▁▂▃▄▅▆▇█ for the means of y over as many equal stretches of x; a
  /// stretch without a point is on the line between its neighbours. Heights go from the least mean
  /// to the largest, by logarithms if all are positive and the largest is 100 times the least. A
  /// curve of one height is in the middle; one without points has spaces.
  std::string blocks(std::size_t width) const;

 private:
  struct Point {
    double x = 0;
    double y = 0;
  };
  std::vector<double> means(std::size_t width) const;

  std::vector<Point> points_;
  std::size_t stride_ = 1;  // only every so many points are kept
  std::size_t skipped_ = 0;
};

/// The table of a run that grows; no line is read twice. Lines that are not complete yet are read
/// at the next call; a table that has become shorter is read anew.
class GrowingTable {
 public:
  explicit GrowingTable(std::filesystem::path path) : path_(std::move(path)) {}

  /// Reads the new lines. If the file is missing, the lines read so far stay.
  void look();

  std::optional<std::uint64_t> iteration() const { return iteration_; }  // of the last row
  const std::optional<double>& loss() const { return loss_; }            // the last that is known
  const std::optional<double>& delta() const { return delta_; }
  const std::optional<double>& worst_delta() const { return worst_delta_; }
  const BlockCurve& losses() const { return losses_; }  // by iteration
  const BlockCurve& deltas() const { return deltas_; }
  std::uint64_t measured() const { return measured_; }      // rows with a delta
  std::uint64_t violations() const { return violations_; }  // with one above 1

 private:
  void take_line(std::string_view line);
  void take_header(std::string_view line);
  void forget();

  std::filesystem::path path_;
  std::uint64_t read_ = 0;
  std::string rest_;  // of a line
  std::optional<std::size_t> iteration_place_, loss_place_, delta_place_;
  bool has_header_ = false;
  std::optional<std::uint64_t> iteration_;
  std::optional<double> loss_, delta_, worst_delta_;
  BlockCurve losses_, deltas_;
  std::uint64_t measured_ = 0;
  std::uint64_t violations_ = 0;
};

/// The progress of a run, as its heartbeat.json tells it.
struct RunPlace {
  std::uint64_t done = 0;   // iterations
  std::uint64_t pilot = 0;  // the number of the pilot run that is under way; 0: the training is
  double every_s = 0;       // seconds between two heartbeats
  // Of the process that trains:
  std::uint64_t resumed_at = 0;  // the iteration that it went on from
  double trained_s = 0;          // for how long it trains
};

/// Reads the heartbeat of a run; absent where there is none that can be read.
std::optional<RunPlace> place_of(const std::filesystem::path& run_folder);

class StudyWatch {
 public:
  /// Watches folders as one study.
  explicit StudyWatch(std::vector<std::filesystem::path> folders) : paths_(std::move(folders)) {}

  /// Reads the folder again. `now` is in seconds since 1970.
  void look(double now);

  /// True if every run has come to an end of its own, or failed.
  bool is_over() const;

  /// Returns the state of the study in at most `lines` lines: runs that are under way first, then
  /// those that failed, were interrupted, have ended, and are to come.
  std::string table(std::size_t lines) const;

  /// Returns curves of loss and delta by iteration in at most `lines` lines, three for each run
  /// that is under way; nothing where none is.
  std::string curves(std::size_t lines) const;

 private:
  struct Line {
    int order = 0;
    std::vector<std::string> cells;
  };
  Line line_of(const Run& run, const std::string& method) const;
  /// How far a run is: by its heartbeat where it has one, else by its rows.
  struct Advance {
    std::uint64_t done = 0;
    std::uint64_t length = 0;
    std::optional<RunPlace> place;
  };
  Advance advance_of(const Run& run, const GrowingTable& table, std::uint64_t length) const;
  /// Returns the time that a run still needs, or since when it has written nothing: it may have
  /// been killed, and then it still calls itself running.
  std::string left_of(const Run& run, const Advance& advance) const;
  /// Returns ", 12 s ago" where heartbeats are late.
  std::string age_of(const Run& run, const Advance& advance) const;
  /// Adds what the line of a run that has ended has behind its state.
  void add_end(const Run& run, std::uint64_t length, Line& line) const;
  std::string counts() const;
  std::vector<std::string> labels() const;  // of all runs

  std::vector<std::filesystem::path> paths_;
  ResultFolder folder_;
  std::size_t tuning_runs_ = 0;                 // the first ones of the folder
  bool is_tuned_ = true;                        // no runs will come to those of the folder
  std::map<std::string, GrowingTable> tables_;  // of runs under way, by id
  std::map<std::string, RunPlace> places_;      // of runs under way
  std::map<std::string, std::optional<double>> last_deltas_;  // of runs that have ended
  double now_ = 0;
};

}  // namespace residuum::reports
