#include "core/protocols/late_messages.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace residuum {
namespace {

void pass_form(IndexForm& form, ActorState& state) {
  auto kind = static_cast<std::uint8_t>(form.kind);
  state.value(kind);
  state.value(form.block);
  require(kind <= static_cast<std::uint8_t>(IndexForm::Kind::agreed) && form.block > 0,
          "the saved state of the protocol is damaged: no such form of indices");
  form.kind = static_cast<IndexForm::Kind>(kind);
}

void pass_flag(bool& flag, ActorState& state) {
  std::uint8_t byte = flag ? 1 : 0;
  state.value(byte);
  flag = byte != 0;
}

}  // namespace

template <class Real>
void pass_late_message(LateMessage<Real>& late_message, bool measured, ActorState& state) {
  state.value(late_message.worker);
  state.value(late_message.number);
  state.value(late_message.base);
  state.value(late_message.step_size);
  state.value(late_message.weight);
  pass_flag(late_message.message.everything, state);
  state.numbers(late_message.message.entries.indices);
  state.numbers(late_message.message.entries.values);
  state.numbers(late_message.message.coded);
  state.value(late_message.message.coded_values);
  pass_form(late_message.message.form, state);
  state.numbers(late_message.message.blocks);
  state.numbers(late_message.accumulator);
  if (!measured) {
    return;
  }
  pass_flag(late_message.cleared_everything, state);
  pass_flag(late_message.has_noise, state);
  state.numbers(late_message.gradient);
  state.numbers(late_message.residual_before);
  state.numbers(late_message.residual_after);
  state.record(late_message.scalars);
  state.value(late_message.magnitude);
}

template <class Real>
void check_late_message(const LateMessage<Real>& late_message,
                        std::size_t dimension,
                        bool measured) {
  const auto& message = late_message.message;
  const auto& indices = message.entries.indices;
  check_saved(std::is_sorted(indices.begin(), indices.end()) &&
              (indices.empty() || indices.back() < dimension));
  check_saved(indices.size() == message.entries.values.size() || !message.coded.empty());
  const std::array kept{&late_message.accumulator,
                        &late_message.gradient,
                        &late_message.residual_before,
                        &late_message.residual_after};
  // Only a worker whose gradient was not finite has sent nothing and left them out.
  const bool may_lack = !message.everything && (!measured || indices.empty());
  for (const auto* numbers : kept) {
    check_saved(numbers->size() == dimension || (may_lack && numbers->empty()) ||
                (!measured && numbers != &late_message.accumulator));
  }
}

template <class Real>
void weigh_workers_alike(std::span<const std::unique_ptr<LateMessage<Real>>> late_messages) {
  for (auto first = late_messages.begin(); first != late_messages.end();) {
    const auto end = std::find_if(first, late_messages.end(), [&](const auto& late_message) {
      return late_message->worker != (*first)->worker;
    });
    const double weight = 1 / static_cast<double>(end - first);
    for (; first != end; ++first) {
      LateMessage<Real>& late_message = **first;
      late_message.weight = weight;
      if (weight == 1) {
        continue;
      }
      const auto scale = [&](Real value) { return static_cast<Real>(weight) * value; };
      auto& values = late_message.message.entries.values;
      std::transform(values.begin(), values.end(), values.begin(), scale);
      if (late_message.message.everything) {
        std::transform(late_message.accumulator.begin(),
                       late_message.accumulator.end(),
                       std::back_inserter(late_message.weighed),
                       scale);
      }
    }
  }
}

template void check_late_message<float>(const LateMessage<float>&, std::size_t, bool);
template void check_late_message<double>(const LateMessage<double>&, std::size_t, bool);
template void pass_late_message<float>(LateMessage<float>&, bool, ActorState&);
template void weigh_workers_alike<float>(std::span<const std::unique_ptr<LateMessage<float>>>);
template void pass_late_message<double>(LateMessage<double>&, bool, ActorState&);
template void weigh_workers_alike<double>(std::span<const std::unique_ptr<LateMessage<double>>>);

}  // namespace residuum
