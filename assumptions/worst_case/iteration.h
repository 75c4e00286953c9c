#pragma once
// One iteration of a compressed method in the vectors that it is made of: the points at which f is
// looked at, the state of V before and after, and what a message may lose. worst_rate.cc has the
// formulas and the units.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assumptions/worst_case/worst_rate.h"

namespace residuum::worst_case {

/// The coefficients of a vector in those of an iteration.
template <class T>
using Combination = std::vector<T>;

template <class T>
Combination<T> operator+(Combination<T> a, const Combination<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] += b[i];
  }
  return a;
}

template <class T>
Combination<T> operator-(Combination<T> a, const Combination<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] -= b[i];
  }
  return a;
}

template <class T>
Combination<T> operator*(const T& factor, Combination<T> a) {
  for (auto& entry : a) {
    entry *= factor;
  }
  return a;
}

template <class T>
using Matrix = std::vector<std::vector<T>>;

/// A symmetric quadratic form of the vectors of an iteration.
template <class T>
class Form {
 public:
  explicit Form(std::size_t size) : entries_(size, std::vector<T>(size)) {}

  const Matrix<T>& entries() const { return entries_; }

  /// Adds weight <a, b>.
  void add(const T& weight, const Combination<T>& a, const Combination<T>& b) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      for (std::size_t j = 0; j < entries_.size(); ++j) {
        if ((a[i] != 0 && b[j] != 0) || (a[j] != 0 && b[i] != 0)) {
          entries_[i][j] += weight * (a[i] * b[j] + a[j] * b[i]) / 2;
        }
      }
    }
  }

 private:
  Matrix<T> entries_;
};

/// A point at which f is looked at, with its gradient there.
template <class T>
struct Point {
  std::string name;
  Combination<T> x;
  Combination<T> g;
};

/// The condition |lost|^2 <= (1 - alpha)|compressed|^2.
template <class T>
struct Message {
  Combination<T> compressed;
  Combination<T> lost;
};

/// The state of V is of vectors of the basis before the iteration; the last point is x'.
template <class T>
struct Iteration {
  std::size_t basis = 0;
  std::vector<Point<T>> points;
  std::vector<std::size_t> before;  // those of the points that V is of
  std::vector<std::size_t> after;   // their successors
  std::vector<std::size_t> state;   // places in the basis
  std::vector<Combination<T>> next_state;
  std::optional<Message<T>> message;
};

template <class T>
struct Constants {
  T step;          // h
  T curvature;     // q
  T lost;          // 1 - alpha
  T momentum;      // beta
  T error_weight;  // w
  T rate;          // rho
};

inline bool has_memory(DescentMethod method) {
  return method == DescentMethod::ef14 || method == DescentMethod::ef21 ||
         method == DescentMethod::econtrol;
}

/// Several workers' means and deviations fall apart. The mean of full gradients at one model is
/// the gradient of a function of the same class, and there is nothing to deviate.
inline bool has_deviations(const WorstRateQuestion& question) {
  return question.workers > 1 &&
         (question.method != DescentMethod::dense || question.local_steps > 1);
}

/// The numbers of vectors in the state of V.
inline std::size_t state_size(const WorstRateQuestion& question, bool of_deviations) {
  const std::size_t memories = has_memory(question.method) ? 1 : 0;
  const std::size_t errors = question.method == DescentMethod::econtrol ? 1 : 0;
  const std::size_t momenta = question.momentum ? 1 : 0;  // the velocity; the gradient before
  return 1 + memories + errors + momenta + (of_deviations ? 0 : 1 + momenta);
}

/// Makes the iteration of means, or of deviations. All workers share the model and the velocity,
/// which have no deviations.
template <class T>
class IterationMaker {
 public:
  IterationMaker(const WorstRateQuestion& question, const Constants<T>& constants, bool deviations)
      : question_(question), constants_(constants), is_of_deviations_(deviations) {
    const auto inner = static_cast<std::size_t>(question.local_steps - 1);
    made_.basis = state_size(question, deviations) + inner + 1 +
                  (question.method == DescentMethod::dense ? 0 : 1);
  }

  Iteration<T> make() {
    const auto x = of_model();
    const auto g = of_state();
    const auto m = has_memory(question_.method) ? of_state() : zero();
    const auto e = question_.method == DescentMethod::econtrol ? of_state() : zero();
    const auto v = question_.momentum ? of_model() : zero();
    if (question_.momentum) {
      made_.points.push_back({"x-", x + constants_.step * v, of_state()});
    }
    made_.points.push_back({"x", x, g});
    for (std::size_t i = 0; i < made_.points.size(); ++i) {
      made_.before.push_back(i);
    }
    const auto gradients = local_steps(x, g);
    const auto c = question_.method == DescentMethod::dense ? zero() : next();
    finish(x, v, exchange(gradients, m, e, c));
    return std::move(made_);
  }

 private:
  /// The memories and the model's move after an exchange, with the gradient that comes next.
  struct Exchanged {
    Combination<T> next_gradient;
    Combination<T> move;
    std::vector<Combination<T>> memories;
  };

  Combination<T> zero() const { return Combination<T>(made_.basis); }
  Combination<T> next() {
    Combination<T> unit = zero();
    unit[used_++] = T(1);
    return unit;
  }
  Combination<T> of_state() {
    made_.state.push_back(used_);
    return next();
  }
  Combination<T> of_model() { return is_of_deviations_ ? zero() : of_state(); }

  /// The sum of the H gradients that a worker takes.
  Combination<T> local_steps(Combination<T> x, const Combination<T>& g) {
    Combination<T> last = g;
    Combination<T> sum = g;
    for (int i = 1; i < question_.local_steps; ++i) {
      x = x - constants_.step * last;
      last = next();
      made_.points.push_back({"y" + std::to_string(i), x, last});
      sum = sum + last;
    }
    return sum;
  }

  Exchanged exchange(const Combination<T>& gradients,
                     const Combination<T>& m,
                     const Combination<T>& e,
                     const Combination<T>& c) {
    const auto next_g = next();
    switch (question_.method) {
      case DescentMethod::dense:
        break;
      case DescentMethod::memoryless:
        made_.message = Message<T>{gradients, gradients - c};
        return {next_g, c, {}};
      case DescentMethod::ef14:
        made_.message = Message<T>{m + gradients, m + gradients - c};
        return {next_g, c, {made_.message->lost}};
      case DescentMethod::ef21:
        made_.message = Message<T>{next_g - m, next_g - m - c};
        return {next_g, m, {m + c}};
      case DescentMethod::econtrol: {
        const auto a = constants_.error_weight * e + next_g - m;
        made_.message = Message<T>{a, a - c};
        return {next_g, m, {m + c, e + next_g - m - c}};
      }
    }
    return {next_g, gradients, {}};
  }

  void finish(const Combination<T>& x, const Combination<T>& v, const Exchanged& exchanged) {
    const auto next_v = constants_.momentum * v + exchanged.move;
    const auto next_x = is_of_deviations_ ? zero() : x - constants_.step * next_v;
    made_.after = made_.before;
    made_.after.erase(made_.after.begin());
    made_.after.push_back(made_.points.size());
    made_.points.push_back({"x'", next_x, exchanged.next_gradient});
    if (!is_of_deviations_) {
      made_.next_state.push_back(next_x);
    }
    made_.next_state.push_back(exchanged.next_gradient);
    made_.next_state.insert(
        made_.next_state.end(), exchanged.memories.begin(), exchanged.memories.end());
    if (question_.momentum) {
      if (!is_of_deviations_) {
        made_.next_state.push_back(next_v);
      }
      made_.next_state.push_back(made_.points[made_.before.back()].g);
    }
  }

  WorstRateQuestion question_;
  Constants<T> constants_;
  bool is_of_deviations_;
  std::size_t used_ = 0;
  Iteration<T> made_;
};

}  // namespace residuum::worst_case
