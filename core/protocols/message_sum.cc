#include "core/protocols/message_sum.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "core/messages/packed_message.h"
#include "core/messages/wire.h"
#include "core/protocols/actors/actor_message_wire.h"
#include "core/quantisers/coded_message.h"

namespace residuum {
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
