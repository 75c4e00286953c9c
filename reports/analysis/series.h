#pragma once
// A figure draws curves of points.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/record/columns.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"
#include "reports/analysis/statistics.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

/// The middle of the seeds at one place of the x axis, with their band; empty ones leave a gap.
struct Point {
  double x = 0;
  std::optional<double> middle;
  std::optional<double> lower;
  std::optional<double> upper;
  std::size_t n = 0;  // seeds
};

struct Curve {
  std::string label;
  std::size_t style = 0;  // colour, dash and marker: a method keeps its own in every figure
  std::vector<Point> points;
  bool is_bound = false;  // thin, grey and dashed: what another curve is held against
  std::string mark = {};  // what stands at the curve of a bound; empty: a letter
  std::optional<std::size_t> group = std::nullopt;  // the method it is of
  std::vector<std::size_t> joined = {};  // the method of each point, where it goes through several
};

// A series is a quantity over the iterations for one method: the middle of its seeds and their
// band. A run may have any number of rows; the points kept of each run are bounded.

/// A run in lockstep may follow several networks: networks.csv has a virtual clock for each. A
/// NetworkClock has the virtual seconds at which iterations ended on one network, median over the
/// runs.
struct NetworkClock {
  std::string network;
  std::map<std::uint64_t, double> ends;  // by iteration
};

/// Reads the clocks at these iterations, of the group's runs that ended or diverged, in the order
/// of their tables; none if a run has no table of clocks.
std::vector<NetworkClock> read_network_clocks(const ResultFolder& folder,
                                              const Group& group,
                                              const std::set<std::uint64_t>& iterations);

/// Returns the middle of the seeds' values at one place, with its band; one seed is its own band.
Point seeds_point(double x, const std::vector<double>& values, IntervalKind kind);

/// The quantities, besides the iteration, that a series is drawn against: the bytes and the
/// gradients that had entered the model when its row's iteration began, the virtual time at which
/// it ended, the passes over the data before it, or the wall time at which a real one ended.
inline constexpr std::array kTotals{Column::total_sent_bytes,
                                    Column::total_contributions,
                                    Column::virtual_s,
                                    Column::epoch,
                                    Column::wall_s};

/// ThinnedSeries keeps every 2^m-th value of a sequence, m the least for which at most 2 kKept
/// remain, so that equally long sequences keep the same places. It keeps some more at the
/// beginning, kPerOctave of them whenever the sequence doubles, for those who look at it on a
/// logarithmic axis.
class ThinnedSeries {
 public:
  static constexpr std::size_t kKept = 150;
  static constexpr std::size_t kPerOctave = 32;

  struct Sample {
    std::size_t place = 0;  // in the sequence
    std::uint64_t iteration = 0;
    double value = 0;
    std::array<double, kTotals.size()> totals{};  // in the order of kTotals
  };

  void add(const Sample& sample);
  /// Drops values until only every `stride`-th is left; `stride` a power of two.
  void thin_to(std::size_t stride);

  std::size_t stride() const { return stride_; }
  /// Returns all that is kept; the evenly spaced ones are those whose place is a multiple of the
  /// stride.
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  bool is_kept(std::size_t place) const;

  std::vector<Sample> samples_;
  std::size_t stride_ = 1;
  std::size_t even_ = 0;  // samples whose place is a multiple of the stride
  std::size_t count_ = 0;
};

/// The virtual time on one network at which the iterations of points ended.
struct NetworkPlaces {
  std::string network;
  std::vector<double> ends;
};

/// All that is kept of one quantity of one method, for figures that a reader can enlarge.
struct LiveSeries {
  std::vector<Point> points;                               // by iteration
  std::array<std::vector<double>, kTotals.size()> totals;  // of the points; empty where not counted
  std::vector<NetworkPlaces> networks;     // of the points; those that all points have
  std::vector<std::vector<double>> seeds;  // of every run, at the points; NaN: none
};

/// One quantity of one method.
struct GroupSeries {
  std::vector<Point> by_iteration;
  std::array<std::vector<Point>, kTotals.size()> by_total;  // empty where it was not counted
  std::size_t stride = 1;                                   // one of so many values is kept
  LiveSeries live;

  /// Returns the points against the total, which must be one of kTotals.
  const std::vector<Point>& against(Column total) const;
};

/// Which runs have points against gradients. In lockstep that axis is the iteration in another
/// unit, of use beside late runs, or to who asks for it.
enum class GradientAxis { beside_late_runs, of_all_runs };

/// Reads the series of `columns`, in their order, over the finished and diverged runs of the group.
/// If runs of several lengths were measured at the same iterations, there are points at those that
/// all finished runs have. `kind` is that of middles and bands.
std::vector<GroupSeries> read_series(const ResultFolder& folder,
                                     const Group& group,
                                     const std::vector<Column>& columns,
                                     IntervalKind kind = IntervalKind::quartiles,
                                     GradientAxis axis = GradientAxis::beside_late_runs);

}  // namespace residuum::reports
