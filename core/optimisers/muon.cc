// Muon (Jordan et al. 2024; Liu et al., "Muon is scalable for LLM training", arXiv 2502.16982). A
// layer with several rows and columns is a matrix M_l with a row for each entry of the tensor's
// first dimension:
//   v <- mu v + g;  u = s orth(g + mu v) + lambda w, or orth(v) without Nesterov's form,
// where orth is that of newton_schulz.h. All other layers take the direction of AdamW. The scale
// s of m rows and n columns is one of
//   rms       0.2 sqrt(max(m, n)): entries as large as those of AdamW's directions (Liu et al.,
//             section 2.2), so that one step size serves all layers;
//   spectral  sqrt(max(1, m/n)), as Jordan's code has it.
// The authors give the first and the last layer of a network to AdamW; here they are matrices like
// others.

#include <algorithm>
#include <cmath>

#include "core/optimisers/adamw.h"
#include "core/optimisers/newton_schulz.h"
#include "core/optimisers/optimiser.h"

namespace residuum {
namespace {

struct MuonNumbers {
  double momentum = 0.95;
  bool looks_ahead = true;
  bool scales_by_rms = true;
  AdamWNumbers of_vectors;
  std::string place = {};  // of the optimiser, for messages
};

bool is_true_matrix(const MatrixPlace& layer) { return layer.rows > 1 && layer.columns > 1; }

class Muon final : public OptimiserFor<Muon> {
 public:
  explicit Muon(MuonNumbers numbers) : numbers_(std::move(numbers)) {}

  /// The second vector has the squares of AdamW; matrices do not use theirs.
  std::size_t vectors() const override { return 2; }

  void check(std::span<const MatrixPlace> layers) const override {
    require(std::any_of(layers.begin(), layers.end(), is_true_matrix),
            "{}: no layer of this model is a matrix, and Muon is about matrices; use optimiser "
            "\"adamw\" or \"lion\"",
            numbers_.place);
  }

  template <class Real>
  void make_direction(const OptimiserStep<Real>& step) const {
    if (step.layers.empty()) {
      take_vector(step, {.begin = 0, .rows = step.gradient.size()});
    }
    std::vector<Real> own_room;
    std::vector<Real>& room = step.room != nullptr ? *step.room : own_room;
    for (const MatrixPlace& layer : step.layers) {
      if (is_true_matrix(layer)) {
        take_matrix(step, layer, room);
      } else {
        take_vector(step, layer);
      }
    }
  }

 private:
  template <class Real>
  void take_vector(const OptimiserStep<Real>& step, const MatrixPlace& layer) const {
    const std::size_t size = layer.rows * layer.columns;
    take_adamw_direction<Real>(numbers_.of_vectors,
                               step.before,
                               step.model.subspan(layer.begin, size),
                               step.gradient.subspan(layer.begin, size),
                               step.memory.subspan(layer.begin, size),
                               step.memory.subspan(step.gradient.size() + layer.begin, size));
  }

  template <class Real>
  void take_matrix(const OptimiserStep<Real>& step,
                   const MatrixPlace& layer,
                   std::vector<Real>& room) const {
    const std::size_t size = layer.rows * layer.columns;
    const auto gradient = step.gradient.subspan(layer.begin, size);
    const auto velocity = step.memory.subspan(layer.begin, size);
    const auto model = step.model.subspan(layer.begin, size);
    const auto momentum = static_cast<Real>(numbers_.momentum);
    for (std::size_t i = 0; i < size; ++i) {
      velocity[i] = momentum * velocity[i] + gradient[i];
      gradient[i] = numbers_.looks_ahead ? gradient[i] + momentum * velocity[i] : velocity[i];
    }
    orthogonalise_by_newton_schulz<Real>(layer.rows, layer.columns, gradient, room);
    const auto scale = static_cast<Real>(scale_of(layer));
    const auto decay = static_cast<Real>(numbers_.of_vectors.decay);
    for (std::size_t i = 0; i < size; ++i) {
      gradient[i] = scale * gradient[i] + decay * model[i];
    }
  }

  double scale_of(const MatrixPlace& layer) const {
    const auto rows = static_cast<double>(layer.rows);
    const auto columns = static_cast<double>(layer.columns);
    constexpr double kRms = 0.2;
    return numbers_.scales_by_rms ? kRms * std::sqrt(std::max(rows, columns))
                                  : std::sqrt(std::max(1.0, rows / columns));
  }

  MuonNumbers numbers_;
};

}  // namespace

std::unique_ptr<Optimiser> make_muon(const Section& section) {
  constexpr AdamWNumbers kOfVectors{.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-10, .decay = 0};
  return std::make_unique<Muon>(
      MuonNumbers{.momentum = optimiser_factor_from(section, "momentum", 0.95),
                  .looks_ahead = section.flag("nesterov", true),
                  .scales_by_rms = section.choice("scale", {"rms", "spectral"}, "rms") == "rms",
                  .of_vectors = adamw_numbers_from(section, kOfVectors),
                  .place = section.where("optimiser")});
}

}  // namespace residuum
