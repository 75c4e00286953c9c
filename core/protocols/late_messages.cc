#include "core/protocols/late_messages.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>

#include "core/messages/message.h"
#include "core/messages/wire.h"
#include "core/protocols/actors/actor_message.h"
#include "core/quantisers/coded_message.h"

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
  pass_flag(late_message.removed_everything, state);
  pass_flag(late_message.has_noise, state);
  state.numbers(late_message.gradient);
  state.numbers(late_message.residual_before);
  state.numbers(late_message.residual_after);
  state.record(late_message.scalars);
  state.value(late_message.magnitude);
}

template <class Real>
void share_late_message(const Cluster& cluster, bool measured, LateMessage<Real>& late_message) {
  Bytes bytes;
  const bool here = cluster.here(late_message.worker);
  if (here) {
    ActorState state(bytes);
    pass_late_message(late_message, measured, state);
  }
  broadcast(cluster.world(), cluster.host(late_message.worker), bytes);
  if (!here) {
    ActorState state{std::span<const std::byte>(bytes)};
    pass_late_message(late_message, measured, state);
  }
}

void pass_of_root(const Cluster& cluster,
                  LoadedBy loaded_by,
                  const std::function<void(ActorState&)>& pass,
                  RunState& state) {
  Bytes bytes;
  if (state.saves() && state.is_root()) {
    ActorState numbers(bytes);
    pass(numbers);
  }
  state.root_list(bytes);
  if (!state.loads()) {
    return;
  }
  if (loaded_by == LoadedBy::all) {
    broadcast(cluster.world(), 0, bytes);
  }
  if (loaded_by == LoadedBy::all || state.is_root()) {
    state.examine([&] {
      ActorState numbers{std::span<const std::byte>(bytes)};
      pass(numbers);
      require(numbers.is_at_end(), "the saved state is not one of this protocol: it is too long");
    });
  }
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

template void share_late_message<float>(const Cluster&, bool, LateMessage<float>&);
template void share_late_message<double>(const Cluster&, bool, LateMessage<double>&);
template void check_late_message<float>(const LateMessage<float>&, std::size_t, bool);
template void check_late_message<double>(const LateMessage<double>&, std::size_t, bool);
template void pass_late_message<float>(LateMessage<float>&, bool, ActorState&);
template void weigh_workers_alike<float>(std::span<const std::unique_ptr<LateMessage<float>>>);
template void pass_late_message<double>(LateMessage<double>&, bool, ActorState&);
template void weigh_workers_alike<double>(std::span<const std::unique_ptr<LateMessage<double>>>);

namespace {

enum class SumForm : std::uint8_t {
  list,           // indices and values
  list_as_whole,  // a list, as the whole vector of which it is the non-zero entries
  everything,     // whole accumulators
  coded,          // what a quantiser wrote
  packed,         // indices in their form, and values
};

/// Returns the messages in the order of workers and their gradients.
template <class Real>
std::vector<const LateMessage<Real>*> in_order(
    std::span<const std::unique_ptr<LateMessage<Real>>> messages) {
  std::vector<const LateMessage<Real>*> ordered;
  for (const auto& message : messages) {
    ordered.push_back(message.get());
  }
  std::sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) {
    return std::pair(a->worker, a->number) < std::pair(b->worker, b->number);
  });
  return ordered;
}

/// Returns what each message of the worker is multiplied by.
template <class Real>
Real weight_in(std::span<const LateMessage<Real>* const> messages, int worker, Weights weights) {
  if (weights == Weights::plain) {
    return 1;
  }
  const auto count = std::count_if(messages.begin(), messages.end(), [&](const auto* message) {
    return message->worker == worker;
  });
  return static_cast<Real>(1 / static_cast<double>(count));
}

template <class Real>
void scale_and_add(const LateMessage<Real>& late_message, Real weight, MessageSum<Real>& sum) {
  if (sum.message.everything) {
    for (std::size_t i = 0; i < sum.whole.size(); ++i) {
      sum.whole[i] += weight * late_message.accumulator[i];
    }
    return;
  }
  SparseVector<Real> scaled = late_message.message.entries;
  for (Real& value : scaled.values) {
    value *= weight;
  }
  SparseVector<Real> added;
  add(sum.message.entries, scaled, added);
  sum.message.entries = std::move(added);
}

template <class Real>
void pack_dense(std::span<const Real> values, Bytes& bytes) {
  const auto view = std::as_bytes(values);
  bytes.insert(bytes.end(), view.begin(), view.end());
}

template <class Real>
std::vector<Real> unpack_dense(std::span<const std::byte> bytes, std::size_t d) {
  check_actor_message(bytes.size() == d * sizeof(Real));
  std::vector<Real> values(d);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class Real>
void unpack_list(std::span<const std::byte> bytes, std::size_t d, SparseVector<Real>& list) {
  check_actor_message(bytes.size() % entry_bytes<Real>(d) == 0);
  unpack(bytes, list);
  const auto is_rising = [](std::uint32_t a, std::uint32_t b) { return a < b; };
  const auto& indices = list.indices;
  check_actor_message(indices.empty() || indices.back() < d);
  check_actor_message(std::adjacent_find(indices.begin(), indices.end(), std::not_fn(is_rising)) ==
                      indices.end());
}

}  // namespace

template <class Real>
MessageSum<Real> sum_of(std::span<const std::unique_ptr<LateMessage<Real>>> messages,
                        Weights weights,
                        std::size_t d) {
  MessageSum<Real> sum;
  if (messages.empty()) {
    return sum;
  }
  const auto ordered = in_order(messages);
  sum.message.everything = ordered.front()->message.everything;
  if (sum.message.everything) {
    sum.whole.resize(d);
  }
  for (const LateMessage<Real>* message : ordered) {
    scale_and_add(*message, weight_in<Real>(ordered, message->worker, weights), sum);
  }
  return sum;
}

template <class Real>
std::uint64_t pack_sum(const MessageSum<Real>& sum, std::size_t d, Bytes& bytes) {
  if (const auto& coded = sum.message.coded; !coded.empty()) {
    bytes.push_back(static_cast<std::byte>(SumForm::coded));
    bytes.insert(bytes.end(), coded.begin(), coded.end());
    return coded.size();
  }
  if (sum.message.form.kind != IndexForm::Kind::listed) {
    bytes.push_back(static_cast<std::byte>(SumForm::packed));
    pack_message(sum.message, d, bytes);
    return sum.message.bytes(d);
  }
  const auto& list = sum.message.entries;
  const std::size_t list_bytes = packed_bytes<Real>(list.size());
  const bool is_list = !sum.message.everything && list_bytes <= d * sizeof(Real);
  const SumForm form = sum.message.everything ? SumForm::everything
                       : is_list              ? SumForm::list
                                              : SumForm::list_as_whole;
  bytes.push_back(static_cast<std::byte>(form));
  if (is_list) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + list_bytes);
    pack(list, std::span(bytes).subspan(begin).data());
    return list_bytes;
  }
  if (sum.message.everything) {
    pack_dense<Real>(sum.whole, bytes);
  } else {
    std::vector<Real> whole(d);
    for (std::size_t i = 0; i < list.size(); ++i) {
      whole[list.indices[i]] = list.values[i];
    }
    pack_dense<Real>(whole, bytes);
  }
  return d * sizeof(Real);
}

template <class Real>
std::uint64_t unpack_sum(std::span<const std::byte> bytes,
                         std::size_t d,
                         const Coding& coding,
                         MessageSum<Real>& sum) {
  check_actor_message(!bytes.empty());
  const auto form = static_cast<SumForm>(bytes.front());
  const auto numbers = bytes.subspan(1);
  if (form != SumForm::coded && form != SumForm::packed) {
    sum.message.form = {};
  }
  switch (form) {
    case SumForm::list:
      unpack_list(numbers, d, sum.message.entries);
      return numbers.size();
    case SumForm::list_as_whole: {
      const auto whole = unpack_dense<Real>(numbers, d);
      to_sparse<Real>(whole, sum.message.entries);
      return numbers.size();
    }
    case SumForm::everything:
      sum.message.everything = true;
      sum.whole = unpack_dense<Real>(numbers, d);
      return numbers.size();
    case SumForm::coded:
      check_actor_message(coding.quantiser != nullptr);
      sum.message.coded.assign(numbers.begin(), numbers.end());
      read_coded(coding, d, sum.message);
      return numbers.size();
    case SumForm::packed:
      unpack_message(numbers, sum.message.coded_values, d, sum.message);
      return numbers.size();
  }
  check_actor_message(false);
  return 0;
}

template MessageSum<float> sum_of(std::span<const std::unique_ptr<LateMessage<float>>>,
                                  Weights,
                                  std::size_t);
template MessageSum<double> sum_of(std::span<const std::unique_ptr<LateMessage<double>>>,
                                   Weights,
                                   std::size_t);
template std::uint64_t pack_sum(const MessageSum<float>&, std::size_t, Bytes&);
template std::uint64_t pack_sum(const MessageSum<double>&, std::size_t, Bytes&);
template std::uint64_t unpack_sum(std::span<const std::byte>,
                                  std::size_t,
                                  const Coding&,
                                  MessageSum<float>&);
template std::uint64_t unpack_sum(std::span<const std::byte>,
                                  std::size_t,
                                  const Coding&,
                                  MessageSum<double>&);

}  // namespace residuum
