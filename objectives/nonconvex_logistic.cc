// This is logistic loss with a bounded regulariser, which is smooth and not convex: f(w) = (1/n)
// sum_i log(1 + exp(-y_i x_i . w)) + lambda sum_j w_j^2 / (1 + w_j^2). L <= lambda_max(A^T A)/(4n)
// + 2 lambda; f* is not known. With intercept = true the last coordinate is the intercept's weight,
// and the regulariser leaves it alone.

#include "objectives/logistic_objective.h"
#include "objectives/registry.h"

namespace residuum {
namespace {

class NonconvexLogistic final : public LogisticObjective<BoundedRegulariser> {
 public:
  using LogisticObjective::LogisticObjective;

  Facts facts() const override {
    Facts facts;
    facts.smoothness = rows().train->smoothness() + regulariser().smoothness();
    // f is not convex unless lambda is 0: far out on an axis the curvature of the loss is
    // exponentially small, and that of the regulariser is about -6 lambda / w_j^4.
    facts.convex = regulariser().weight == 0;
    facts.lower_bound = 0;
    return facts;
  }
};

}  // namespace

/// Reads the keys regulariser, which is lambda (0.1), and those of read_classification_data.
std::unique_ptr<Objective> make_nonconvex_logistic(const Section& section,
                                                   const ObjectiveContext& context) {
  const double weight = section.number("regulariser", 0.1);
  require(weight >= 0, "{} must not be negative, got {}", section.where("regulariser"), weight);
  return std::make_unique<NonconvexLogistic>(read_classification_data(section, context), weight);
}

}  // namespace residuum
