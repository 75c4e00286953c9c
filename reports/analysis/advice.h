#pragma once
// Advice says which method of a study is first at a target on a network that the study need not
// have followed.
//
// In lockstep an iteration lasts for gradients and local work, and then for messages one after
// another: alpha for each message on the critical path and beta for each of its bytes. A run
// therefore takes C + alpha R + beta B until the target, with C seconds of work, R messages and B
// bytes. networks.csv has C, and alpha R + beta B on the networks of the study: two of them give R
// and B, and one gives B if every iteration has equally many messages (column rounds).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/record/columns.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/statistics.h"

namespace residuum::reports {

/// A link takes alpha_s seconds for a message and beta_s_per_byte for each of its bytes.
struct AdvisedLink {
  std::string name;  // as in networks.csv
  double alpha_s = 0;
  double beta_s_per_byte = 0;
};

/// The networks that a run followed, or why its time is not the sum above.
struct RunLinks {
  std::vector<AdvisedLink> links;
  std::string why_not;
};
using LinksOfRun = std::function<RunLinks(const Run&)>;

/// The iterations, seconds, messages and bytes of a run until its first evaluation at the target.
struct PathCosts {
  double iterations = 0;
  double gradients = 0;  // of a worker, one after another
  double work_s = 0;     // gradients, waits for the slowest worker, selections and merges
  double messages = 0;
  double bytes = 0;  // on the critical path
};

struct AdviceRequest {
  double alpha_s = 0;
  double beta_s_per_byte = 0;
  std::optional<double> gradient_s;  // in place of the study's time of work
  std::optional<int> workers;        // only methods with so many
  std::optional<Column> quantity;    // loss, loss_gap or test_accuracy; else quantity_of (groups.h)
  std::optional<double> target;      // else the best value that every method has reached

  /// Returns C + alpha R + beta B.
  double seconds(const PathCosts& costs) const;
};

/// A change of the network or of the gradients at which a method is as fast as the best.
struct Crossing {
  enum class Of { beta, alpha, work };
  Of of = Of::beta;
  double value = 0;        // of beta or alpha in their units; of work, a factor
  bool is_beyond = false;  // the method is ahead for larger values
};

struct AdvisedMethod {
  std::size_t group = 0;
  std::string label;
  std::vector<std::int64_t> seeds;
  std::vector<std::optional<PathCosts>> costs;  // by seed; absent where the target was missed
  std::string why_not;                          // empty where the costs are known
  Centre time;                                  // mean and 95 % interval (Student)
  std::optional<PathCosts> mean;                // where every seed reached the target
  std::optional<double> behind_s;               // mean of its time less the best method's, by seed
  std::optional<Interval> behind_interval;      // 95 %, Student
  std::vector<Crossing> crossings;

  std::size_t reached() const;
};

struct Advice {
  Column quantity = Column::loss;
  double target = 0;
  /// Methods that reached the target with every seed, fastest first; then those that missed it with
  /// some, and those whose costs are not known.
  std::vector<AdvisedMethod> methods;
  std::size_t ranked = 0;

  /// Returns whether the first is ahead of the second: the interval of the difference excludes 0.
  bool best_is_decided() const;
};

/// Ranks the methods of a folder. Several objectives, no run that ended, workers that no method
/// has, and a quantity that was not measured are usage errors.
Advice advise(const ResultFolder& folder,
              const std::vector<Group>& groups,
              const LinksOfRun& links_of,
              const AdviceRequest& request);

}  // namespace residuum::reports
