#pragma once
// The model moves by the mean that was exchanged, or by a direction that is made of it: by signs or
// by polar factors. Both are those of the parameters: T turns the objective's parameters into w.

#include <span>
#include <vector>

#include "core/messages/traffic.h"
#include "core/objective.h"
#include "core/training/method.h"

namespace residuum {

/// update := T s(T' update), where s takes the sign of every entry (0 of a zero, NaN of a NaN): the
/// signs are those of the parameters, in which signSGD is defined (Bernstein, Wang,
/// Azizzadenesheli, Anandkumar, ICML 2018). `room` has as many numbers.
void take_signs(const Objective& objective, std::span<double> update, std::span<double> room);

/// A direction that replaces updates of d numbers, by the method's rule.
class UpdateDirection {
 public:
  /// `rounding` is the relative precision of the numbers that are exchanged.
  UpdateDirection(UpdateRule rule, const Objective& objective, double rounding);

  /// True if the model moves by the update itself; then `take` must not be called.
  bool is_update() const { return rule_ == UpdateRule::mean; }

  /// update := the direction. By UpdateRule::orthogonal it is T o(T' update): o takes the polar
  /// factor U V^T of every layer U S V^T, as a matrix with a row for each entry of the tensor's
  /// first dimension, which is the steepest direction in the spectral norm (Bernstein, Newhouse,
  /// arXiv 2409.20325). A vector becomes its unit vector.
  void take(std::span<double> update);

 private:
  UpdateRule rule_;
  const Objective& objective_;
  double rounding_;
  std::vector<MatrixPlace> layers_;
  std::vector<double> parameters_, room_;
};

}  // namespace residuum
