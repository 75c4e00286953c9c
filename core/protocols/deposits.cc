#include "core/protocols/deposits.h"

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
void pass_deposit(Deposit<Real>& deposit, bool measured, ActorState& state) {
  state.value(deposit.worker);
  state.value(deposit.number);
  state.value(deposit.base);
  state.value(deposit.step_size);
  state.value(deposit.weight);
  pass_flag(deposit.message.everything, state);
  state.numbers(deposit.message.entries.indices);
  state.numbers(deposit.message.entries.values);
  state.numbers(deposit.message.coded);
  state.value(deposit.message.coded_values);
  pass_form(deposit.message.form, state);
  state.numbers(deposit.message.blocks);
  state.numbers(deposit.accumulator);
  if (!measured) {
    return;
  }
  pass_flag(deposit.cleared_everything, state);
  pass_flag(deposit.has_noise, state);
  state.numbers(deposit.gradient);
  state.numbers(deposit.residual_before);
  state.numbers(deposit.residual_after);
  state.record(deposit.scalars);
  state.value(deposit.magnitude);
}

template <class Real>
void check_deposit(const Deposit<Real>& deposit, std::size_t dimension, bool measured) {
  const auto& message = deposit.message;
  const auto& indices = message.entries.indices;
  check_saved(std::is_sorted(indices.begin(), indices.end()) &&
              (indices.empty() || indices.back() < dimension));
  check_saved(indices.size() == message.entries.values.size() || !message.coded.empty());
  const std::array kept{
      &deposit.accumulator, &deposit.gradient, &deposit.residual_before, &deposit.residual_after};
  // Only a worker whose gradient was not finite has sent nothing and left them out.
  const bool may_lack = !message.everything && (!measured || indices.empty());
  for (const auto* numbers : kept) {
    check_saved(numbers->size() == dimension || (may_lack && numbers->empty()) ||
                (!measured && numbers != &deposit.accumulator));
  }
}

template <class Real>
void weigh_workers_alike(std::span<const std::unique_ptr<Deposit<Real>>> deposits) {
  for (auto first = deposits.begin(); first != deposits.end();) {
    const auto end = std::find_if(first, deposits.end(), [&](const auto& deposit) {
      return deposit->worker != (*first)->worker;
    });
    const double weight = 1 / static_cast<double>(end - first);
    for (; first != end; ++first) {
      Deposit<Real>& deposit = **first;
      deposit.weight = weight;
      if (weight == 1) {
        continue;
      }
      const auto scale = [&](Real value) { return static_cast<Real>(weight) * value; };
      auto& values = deposit.message.entries.values;
      std::transform(values.begin(), values.end(), values.begin(), scale);
      if (deposit.message.everything) {
        std::transform(deposit.accumulator.begin(),
                       deposit.accumulator.end(),
                       std::back_inserter(deposit.weighed),
                       scale);
      }
    }
  }
}

template void check_deposit<float>(const Deposit<float>&, std::size_t, bool);
template void check_deposit<double>(const Deposit<double>&, std::size_t, bool);
template void pass_deposit<float>(Deposit<float>&, bool, ActorState&);
template void weigh_workers_alike<float>(std::span<const std::unique_ptr<Deposit<float>>>);
template void pass_deposit<double>(Deposit<double>&, bool, ActorState&);
template void weigh_workers_alike<double>(std::span<const std::unique_ptr<Deposit<double>>>);

}  // namespace residuum
