// Error feedback (Seide et al., Interspeech 2014; Stich et al., NeurIPS 2018) is a^p = e^p + c G^p,
// and e^p_{t+1} is a^p less its applied part, by the put-back rule. With decay = beta < 1 the
// rest fades, e^p_{t+1} := beta e^p_{t+1} (SparseLoCo, Sarfi et al. 2025): what has faded is lost
// by design. With clears = "selected" the residual loses the entries that the sparsifier chose, and
// not the decoded ones: the rounding of the quantiser is lost. It is a control, which shows what
// error feedback on quantised values is good for.

#include "core/feedback/put_back.h"

namespace residuum {
namespace {

/// accumulator -= what the sparsifier chose of it.
template <class Real>
void clear_chosen(std::span<Real> accumulator,
                  const Message<Real>& sent,
                  ResidualUpdate<Real>& residual_update) {
  if (sent.chose_everything) {
    residual_update.remove_everything();
    std::fill(accumulator.begin(), accumulator.end(), Real{0});
    return;
  }
  residual_update.remove(sent.chosen);
  for (std::size_t i = 0; i < sent.chosen.size(); ++i) {
    accumulator[sent.chosen.indices[i]] -= sent.chosen.values[i];
  }
}

struct Ef14Settings {
  PutBack rule = PutBack::captured;
  Units units = Units::step;
  double decay = 1;
  bool clears_selection = false;
};

class Ef14 final : public FeedbackFor<Ef14>, public DeviceFeedback {
 public:
  explicit Ef14(const Ef14Settings& settings) : settings_(settings) {}

  template <class Real>
  PassNorms accumulate(std::span<Real> memory,
                       std::span<const Real> gradient,
                       double step_size,
                       const Pass& pass) const {
    const double scale = settings_.units == Units::step ? step_size : 1.0;
    return residuum::accumulate(memory, gradient, static_cast<Real>(scale), pass);
  }

  template <class Real>
  void update_residual(std::span<Real> memory,
                       const MessageOutcome<Real>& outcome,
                       ResidualUpdate<Real>& residual_update) const {
    if (settings_.clears_selection) {
      clear_chosen(memory, outcome.sent, residual_update);
    } else {
      put_back(settings_.rule, memory, outcome, residual_update);
    }
    if (settings_.decay < 1) {
      for (Real& value : memory) {
        value *= static_cast<Real>(settings_.decay);
      }
      residual_update.remove_part_of_all();
    }
  }

  const DeviceFeedback* on_device() const override { return this; }
  void start_accumulate_there(DeviceVectors& memory,
                              DeviceSpan gradient,
                              double step_size,
                              std::span<const Segment> segments) const override {
    const double scale = settings_.units == Units::step ? step_size : 1.0;
    memory.start_accumulate(gradient, static_cast<float>(scale), segments);
  }
  void update_residual_there(DeviceVectors& memory,
                             const MessageOutcome<float>& outcome,
                             ResidualUpdate<float>& residual_update) const override {
    if (!settings_.clears_selection) {
      put_back(settings_.rule, memory, outcome, residual_update);
    } else if (outcome.sent.chose_everything) {
      residual_update.remove_everything();
      memory.clear(0);
    } else {
      residual_update.remove(outcome.sent.chosen);
      memory.add(0, outcome.sent.chosen, -1);
    }
    if (settings_.decay < 1) {
      memory.scale(0, static_cast<float>(settings_.decay));
      residual_update.remove_part_of_all();
    }
  }

  Units units() const override { return settings_.units; }
  bool clears_selection() const override { return settings_.clears_selection; }
  double decay() const override { return settings_.decay; }
  const char* loss() const override {
    return settings_.clears_selection ? "residuals ignore what a quantiser rounds"
                                      : Feedback::loss();
  }

  bool conserves(const AggregatorLaw& aggregator,
                 bool /*sends_everything*/,
                 int workers) const override {
    return !settings_.clears_selection && residuum::conserves(settings_.rule, aggregator, workers);
  }

 private:
  Ef14Settings settings_;
};

double decay_from(const Section& section) {
  return section.fraction("decay", 1, "it is the factor of a residual after each exchange");
}

bool clears_selection_from(const Section& section) {
  return section.choice("clears", {"sent", "selected"}, "sent") == "selected";
}

}  // namespace

std::unique_ptr<Feedback> make_ef14(const Section& section) {
  return std::make_unique<Ef14>(Ef14Settings{.rule = put_back_from(section),
                                             .units = units_from(section),
                                             .decay = decay_from(section),
                                             .clears_selection = clears_selection_from(section)});
}

}  // namespace residuum
