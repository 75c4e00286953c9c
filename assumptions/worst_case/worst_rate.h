#pragma once
// The worst linear rate of a compressed method at any step, with a proof that is checked in exact
// arithmetic. The derivation is in worst_rate.cc.

#include <optional>
#include <string>
#include <vector>

#include "assumptions/worst_case/method_of_centres.h"
#include "core/schedules/tight_rate.h"

namespace residuum {

/// Methods by the state that they carry: the model alone, a residual, an estimate, or both.
enum class DescentMethod { dense, memoryless, ef14, ef21, econtrol };

constexpr int kMostLocalSteps = 8;  // the programme grows by their square

struct WorstRateQuestion {
  DescentMethod method = DescentMethod::ef21;
  CompressedProblem problem;  // L > mu; the contraction is below 1, but for `dense`
  double step = 0;            // eta > 0
  int workers = 1;            // one, or several: the bound is the same for all numbers above 1
  /// The heavy ball behind the exchange, v' = beta v + u and x' = x - eta v', 0 <= beta < 1. With
  /// 0 the velocity is in V without a use.
  std::optional<double> momentum = {};
  int local_steps = 1;      // H gradients of a worker before an exchange, without estimates
  double error_weight = 1;  // of EControl, in (0, 1]
};

/// V = sum over the lower triangle of a quadratic form in the state + objective h(x) + last h(x-),
/// in units of L = 1. The state is x - x* and grad f(x)/L; the memories, e/(eta L) of EF14, g/L of
/// EF21, h/L and e/L of EControl; and with momentum v/L and grad f(x-)/L, where x- is the model
/// before x. h = 2 (1 - mu/L) (f - f*)/L. With several workers the state is their mean, and V has
/// the mean of the form `deviation` in what gradients and memories of a worker deviate from it by;
/// with EF21 and EControl these are less the worker's gradient at x*.
struct LyapunovFunction {
  std::vector<double> state;  // the lower triangle of the form's matrix, row by row
  double objective = 0;
  double last = 0;                // 0 without momentum
  std::vector<double> deviation;  // of deviations from the mean; empty for one worker
};

struct WorstRate {
  double rate = 1;  // proved: V' <= rate V; a decimal of seven digits of 1 - rate, rounded up
  double least_pivot = 0;  // of the matrices that the proof has positive definite; exact, above 0
  LyapunovFunction lyapunov;
  std::vector<double> proof;  // numbers with the names of proof_names()
  int steps = 0;              // of Newton's method
};

/// Throws Error where the question is none: a step that is not positive, L not above mu, nothing
/// lost, momentum or error weight out of range, local steps of a method that exchanges estimates.
void check_question(const WorstRateQuestion& question);

/// Names of the numbers of a proof, as worst_rate.cc has them.
std::vector<std::string> proof_names(const WorstRateQuestion& question);

/// The conditions on the numbers of a proof, as a semidefinite programme for any solver.
RateProgram rate_program(const WorstRateQuestion& question);

/// Returns the least rate for which a proof is found; absent where none is found below 1. Throws as
/// check_question() does.
std::optional<WorstRate> worst_rate(const WorstRateQuestion& question);

/// Returns whether the numbers prove that the state converges with V' <= rate V. The arithmetic is
/// exact: the doubles of the question and of the proof are taken as they are, the rate as the
/// decimal of 15 digits after the point that is nearest to it.
bool is_proof(const WorstRateQuestion& question, const std::vector<double>& proof, double rate);

}  // namespace residuum
