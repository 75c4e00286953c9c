// Alistarh et al. (NeurIPS 2018) assume that the selections of the workers together are close to
// the selection from the mean, |Top_k(mean a) - mean Top_k(a^p)| = xi |eta mean G|. xi is a ratio
// of norms, not of squares. It is measured where a message is Top_k(a^p): what another selection or
// a quantiser makes of an accumulator is not what the assumption is about.

#include <algorithm>
#include <cmath>

#include "assumptions/probes/probe.h"
#include "core/vectors/dense.h"
#include "core/vectors/select.h"

namespace residuum {
namespace {

class XiProbe final : public Probe {
 public:
  std::vector<Column> columns() const override { return {Column::xi}; }
  Needs needs() const override {
    return {.gradients = true, .mean_gradient = true, .mean_accumulator = true};
  }

  void observe(const StepView& view, Row& row, std::vector<Check>& /*checks*/) override {
    if (!view.exchanges_gradients()) {
      return;
    }
    const double scale = std::sqrt(norm_sq<double>(view.mean.gradient)) * view.memory_step;
    if (view.exchange.sent_everything || !view.selection.keeps_largest || scale == 0) {
      return;
    }
    difference_.assign(view.dimension(), 0);
    for (const auto& list : view.exchange.sent) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        difference_[list.indices[i]] -= list.values[i] / view.divisor();
      }
    }
    select_top_k<double>(
        view.mean.accumulator, static_cast<std::size_t>(view.selection.k), workspace_, selected_);
    for (std::size_t i = 0; i < selected_.size(); ++i) {
      difference_[selected_.indices[i]] += selected_.values[i];
    }
    row.set(Column::xi, std::sqrt(norm_sq<double>(difference_)) / scale);
  }

 private:
  std::vector<double> difference_;
  SelectWorkspace workspace_;
  SparseVector<double> selected_;
};

}  // namespace

std::unique_ptr<Probe> make_xi_probe(const Section& /*section*/) {
  return std::make_unique<XiProbe>();
}

}  // namespace residuum
