#include "core/feedback/feedback.h"

namespace residuum {

std::unique_ptr<Feedback> make_no_feedback(const Section& section);
std::unique_ptr<Feedback> make_ef14(const Section& section);
std::unique_ptr<Feedback> make_ef21(const Section& section);
std::unique_ptr<Feedback> make_dgc(const Section& section);
std::unique_ptr<Feedback> make_ef21_sgdm(const Section& section);
std::unique_ptr<Feedback> make_econtrol(const Section& section);

namespace {

constexpr auto kFeedbacks = std::to_array<Entry<Feedback>>({
    {"none",
     "nothing is remembered: what is not applied is lost",
     "plain compressed SGD",
     "{}",
     make_no_feedback},
    {"ef14",
     "the residual is added to the next gradient; put-back captured, published or discard",
     "Seide et al., Interspeech 2014; Shi et al., ICDCS 2019",
     "{}",
     make_ef14},
    {"ef21",
     "workers send compressed changes of their gradient estimates",
     "Richtarik, Sokolov, Fatkhullin, NeurIPS 2021",
     "{}",
     make_ef21},
    {"dgc",
     "error feedback of velocities: momentum correction, with momentum factor masking",
     "Lin et al., ICLR 2018 (Deep Gradient Compression)",
     "{}",
     make_dgc},
    {"ef21-sgdm",
     "EF21 whose estimates follow an average of the gradients, averaging = 0.1 of the newest",
     "Fatkhullin, Tyurin, Richtarik, NeurIPS 2023",
     "{}",
     make_ef21_sgdm},
    {"econtrol",
     "EF21 that adds a part of what its estimates have missed, error_weight = 0.001, to messages",
     "Gao, Islamov, Stich, ICLR 2024",
     "{}",
     make_econtrol},
});

}  // namespace

std::span<const Entry<Feedback>> feedbacks() { return registry_of<Feedback>(kFeedbacks); }

std::unique_ptr<Feedback> make_feedback(const Section& section) {
  return make_from(feedbacks(), section);
}

Units units_from(const Section& section) {
  return section.choice("units", {"step", "gradient"}, "step") == "step" ? Units::step
                                                                         : Units::gradient;
}

}  // namespace residuum
