// This file has the registry lines of the objectives that need no libtorch.

#include <array>

#include "objectives/registry.h"

namespace residuum {

std::unique_ptr<Objective> make_quadratic(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_matrix_quadratic(const Section& section,
                                                 const ObjectiveContext& context);
std::unique_ptr<Objective> make_signal(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_logistic(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_nonconvex_logistic(const Section& section,
                                                   const ObjectiveContext& context);
std::unique_ptr<Objective> make_least_squares(const Section& section,
                                              const ObjectiveContext& context);
std::unique_ptr<Objective> make_softmax(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_recorded(const Section& section, const ObjectiveContext& context);

std::span<const ObjectiveEntry> convex_objectives() {
  static constexpr std::array kEntries{
      ObjectiveEntry{.name = "quadratic",
                     .summary = "diagonal quadratic with Gaussian gradient noise; all is known",
                     .source = "Residuum's reference problem",
                     .example = R"({"dimension": 20})",
                     .make = make_quadratic},
      ObjectiveEntry{.name = "matrix-quadratic",
                     .summary = "quadratics with given matrices and minimisers, full gradients",
                     .source = "Residuum",
                     .example = R"({"matrix": [[2, 0.5], [0.5, 1]], "minimizers": [1, -1]})",
                     .make = make_matrix_quadratic},
      ObjectiveEntry{.name = "signal",
                     .summary = "gradients that are a common signal and each worker's own noise",
                     .source = "Residuum's phase diagram of the gTop-k assumption",
                     .example = R"({"dimension": 50, "signal_to_noise": 0.5})",
                     .make = make_signal},
      ObjectiveEntry{
          .name = "logistic",
          .summary = "logistic regression with (l2/2)|w|^2; L, mu, f*, x* are solved for",
          .source = "Cox 1958; LIBSVM data",
          .example = R"({"data": "synthetic-logistic", "rows": 300, "features": 12})",
          .make = make_logistic},
      ObjectiveEntry{.name = "nonconvex-logistic",
                     .summary = "logistic loss with the regulariser sum_j w_j^2 / (1 + w_j^2)",
                     .source = "Antoniadis, Gijbels, Nikolova 2011; as in Richtarik, Sokolov, "
                               "Fatkhullin (EF21) 2021",
                     .example = R"({"data": "synthetic-logistic", "rows": 300, "features": 12})",
                     .make = make_nonconvex_logistic},
      ObjectiveEntry{.name = "least-squares",
                     .summary = "|A w - b|^2/(2n) with (l2/2)|w|^2; L, mu, f*, x* by eigenvalues",
                     .source = "Legendre 1805; Hoerl, Kennard 1970; LIBSVM data",
                     .example = R"({"data": "synthetic-regression", "rows": 300, "features": 12})",
                     .make = make_least_squares},
      ObjectiveEntry{
          .name = "softmax",
          .summary = "multi-class logistic regression with (l2/2)|w|^2; L is Boehning's bound",
          .source = "Cox 1966; Boehning 1992; LIBSVM data",
          .example = R"({"data": "synthetic-classes", "rows": 300, "features": 12})",
          .make = make_softmax},
      ObjectiveEntry{
          .name = "recorded",
          .summary = "gradients that you recorded, (T, P, d) in .npy or .npz; no f is known",
          .source = "Residuum",
          .example = R"({"data": "synthetic-gradients", "steps": 20, "dimension": 50})",
          .make = make_recorded},
  };
  return kEntries;
}

}  // namespace residuum
