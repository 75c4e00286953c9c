#pragma once
// What f looks like where a run passes: its value at the virtual iterate and at the average of the
// iterates, and its smoothness L by every route that needs gradients of f at two points. Expensive
// (each point is a pass over the data) and therefore on cadences of its
// own. All evaluations are collective.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/measurement/step_view.h"
#include "core/training/training.h"

namespace residuum {

/// How many samples the power iteration for L looks at: about `power_samples` of those that f is
/// the mean over; 0 without a data set. Curvature of fewer than all may exceed that of f.
std::size_t curvature_samples(const Training& training);

/// Where f is looked at in an iteration. All but w_t are read on the root alone.
struct Iterates {
  std::span<const double> model;            // w_t
  std::span<const double> virtual_iterate;  // z_t
  std::span<const double> unperturbed;      // u_t, where it is followed
};

class Landscape {
 public:
  explicit Landscape(const Training& training);

  /// Before the iterates move: f at w_t, at z_t, at u_t and at the average, with gradients where
  /// somebody asks for them. True results are on the root.
  /// A network's f is the loss with `statistics` (the workers' averages before this iteration) held
  /// fixed, one function for all points of an iteration. Its batches are normalised by statistics
  /// of their own, so that the mean of their gradients is near grad f, not equal to it.
  void look(std::uint64_t t, const Iterates& at, std::vector<double> statistics);

  /// After z has moved by -eta_t mean G_t to z_{t+1}, in an iteration that `look` was called for.
  void look_ahead(std::span<const double> next_z,
                  std::span<const double> mean_gradient,
                  double step_size);

  /// Takes w_t into the average, with the weight that the step rule gives it.
  void average(std::uint64_t t, std::span<const double> model);

  void visit(RunState& state);

  const std::optional<Evaluation>& evaluation() const { return evaluation_; }
  const LandscapeView& view() const { return view_; }
  /// grad f(w_t), on the root; empty where the last look did not evaluate it.
  std::span<const double> gradient() const {
    return has_gradient_ ? std::span<const double>(gradient_) : std::span<const double>();
  }

 private:
  std::vector<double> shared(std::span<const double> on_root) const;
  void look_at_decayed(const Iterates& at);
  void compare_points(std::span<const double> model, std::span<const double> z);
  double dominant_curvature(std::uint64_t t, std::span<const double> model) const;

  const Training& training_;
  bool is_root_;
  std::optional<Evaluation> evaluation_;
  std::vector<double> statistics_;
  LandscapeView view_;

  std::vector<double> gradient_;          // of f at w_t
  std::vector<double> virtual_gradient_;  // of f at z_t
  bool has_gradient_ = false;             // of the last look
  double virtual_loss_ = 0;
  bool looked_at_z_ = false;
  std::vector<double> previous_model_, previous_gradient_;
  std::optional<double> secant_;

  std::vector<double> average_;
  double weight_sum_ = 0;
};

}  // namespace residuum
