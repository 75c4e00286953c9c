// This feedback has no memory: a^p = c G^p, and entries that are not applied are lost. It is a
// negative control for error feedback. The residual is 0 at the start and after every residual
// update.

#include <algorithm>

#include "core/feedback/feedback.h"

namespace residuum {
namespace {

class NoFeedback final : public FeedbackFor<NoFeedback>, public DeviceFeedback {
 public:
  explicit NoFeedback(Units units) : units_(units) {}

  template <class Real>
  PassNorms accumulate(std::span<Real> memory,
                       std::span<const Real> gradient,
                       double step_size,
                       const Pass& pass) const {
    const double scale = units_ == Units::step ? step_size : 1.0;
    return residuum::accumulate(memory, gradient, static_cast<Real>(scale), pass);
  }

  template <class Real>
  void update_residual(std::span<Real> memory,
                       const MessageOutcome<Real>& /*outcome*/,
                       ResidualUpdate<Real>& residual_update) const {
    std::fill(memory.begin(), memory.end(), Real{0});
    residual_update.remove_everything();
  }

  const DeviceFeedback* on_device() const override { return this; }
  void start_accumulate_there(DeviceVectors& memory,
                              DeviceSpan gradient,
                              double step_size,
                              std::span<const Segment> segments) const override {
    const double scale = units_ == Units::step ? step_size : 1.0;
    memory.start_accumulate(gradient, static_cast<float>(scale), segments);
  }
  void update_residual_there(DeviceVectors& memory,
                             const MessageOutcome<float>& /*outcome*/,
                             ResidualUpdate<float>& residual_update) const override {
    memory.clear(0);
    residual_update.remove_everything();
  }

  Units units() const override { return units_; }
  bool forgets() const override { return true; }
  const char* loss() const override { return "what is not sent is forgotten"; }
  bool conserves(const AggregatorLaw& aggregator,
                 bool sends_everything,
                 int /*workers*/) const override {
    return sends_everything && aggregator.applies_whole_messages;
  }

 private:
  Units units_;
};

}  // namespace

std::unique_ptr<Feedback> make_no_feedback(const Section& section) {
  return std::make_unique<NoFeedback>(units_from(section));
}

}  // namespace residuum
