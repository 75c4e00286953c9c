#pragma once
// OneStep makes one aggregation step on given accumulators and tells what the probes see of it. The
// very code of a training runs for one iteration from e = 0 with step 1, on an objective whose
// stochastic gradients are the given vectors, so that what holds here holds for runs.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/record/record.h"
#include "core/trainer/trainer.h"

namespace residuum {

struct StepQuantities {
  Row row;
  double k = 0;                       // entries a worker may send; with thresholds the mean sent
  SparseVector<double> update;        // g, a sum over workers
  std::vector<double> mean_residual;  // of e^p after the step, d numbers
  std::vector<double> residuals;      // the e^p, P x d, if they are kept

  std::optional<double> get(Column column) const { return row.get(column); }
};

/// A method of step 1 whose worker memory is `ef14` with this put-back rule. The sections have no
/// other keys than those that are read.
Method one_step_method(const Section& sparsifier,
                       const Section& aggregator,
                       const std::string& put_back,
                       const Section& quantiser = {"quantiser", nlohmann::json::object()});
/// The same with the options of the aggregator as they are by default.
Method one_step_method(const Section& sparsifier,
                       const std::string& aggregator,
                       const std::string& put_back);

/// The step of one method, to be repeated on many vectors.
class OneStep {
 public:
  static std::vector<std::string> usual_probes() {
    return {"delta", "contraction", "residual", "conservation", "xi", "traffic"};
  }

  /// The method must outlive this. `probes` names the probes that measure the step. An accumulator
  /// is a matrix of `rows` rows, a divisor of the dimension, row after row; with one row it has no
  /// layers.
  OneStep(const Method& method,
          int workers,
          std::size_t dimension,
          std::vector<std::string> probes = usual_probes(),
          std::size_t rows = 1);
  OneStep(const OneStep&) = delete;
  OneStep& operator=(const OneStep&) = delete;
  OneStep(OneStep&&) = delete;
  OneStep& operator=(OneStep&&) = delete;
  ~OneStep();

  /// Keeps the residuals of each worker from now on.
  void keep_residuals() { keeps_residuals_ = true; }

  /// Makes the step on `accumulators`: worker by worker, P x d finite numbers. The result lives
  /// until the next call.
  const StepQuantities& on(std::span<const double> accumulators,
                           Precision precision = Precision::float64);

 private:
  class GivenVectors;

  std::vector<std::string> probes_;
  std::unique_ptr<World> world_;
  Cluster cluster_;
  std::unique_ptr<GivenVectors> objective_;
  Training training_;
  StepQuantities quantities_;
  bool keeps_residuals_ = false;
};

}  // namespace residuum
