// Messages of other processes, quantised or not. The head of an input says what the receiver knows
// of the message; the bytes after it are the received ones.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "core/error.h"
#include "core/messages/message.h"
#include "core/quantisers/coded_message.h"
#include "tests/fuzzing/inputs.h"
#include "tests/fuzzing/targets.h"

namespace residuum::fuzzing {
namespace {

struct MessageHead {
  std::uint8_t kind = 0;       // of the indices; from 4 on the same in float64
  std::uint8_t quantiser = 0;  // 0: none; the others by their line in the registry
  std::uint16_t block = 0;
  std::uint16_t values = 0;
  std::uint16_t dimension = 0;
};

constexpr std::size_t kKinds = 4;

std::unique_ptr<Quantiser> quantiser_of(const MessageHead& head) {
  if (head.quantiser == 0) {
    return nullptr;
  }
  const auto& entry = quantisers()[(head.quantiser - 1U) % quantisers().size()];
  return entry.make(example_section("quantiser", entry));
}

/// The receiver has drawn the first blocks that n values fill.
std::vector<std::uint32_t> agreed_blocks(const IndexForm& form, std::size_t n) {
  std::vector<std::uint32_t> blocks((n + form.block - 1) / form.block);
  std::iota(blocks.begin(), blocks.end(), 0U);
  return blocks;
}

template <class Real>
void expect_entries(const Message<Real>& message, std::size_t dimension) {
  const auto& [indices, values] = message.entries;
  expect(indices.size() == values.size(), "every index has a value");
  expect(indices.empty() || indices.back() < dimension, "indices are below the dimension");
  expect(std::is_sorted(indices.begin(), indices.end(), std::less_equal<>()), "indices rise");
  expect(std::count(values.begin(), values.end(), Real{0}) == 0, "there are no zeros");
}

template <class Real>
void take_message_of(const MessageHead& head, std::span<const std::byte> bytes) {
  Message<Real> message;
  message.form = {.kind = static_cast<IndexForm::Kind>(head.kind % kKinds), .block = head.block};
  if (message.form.kind == IndexForm::Kind::agreed) {
    message.blocks = agreed_blocks(message.form, head.values);
  }
  if (const auto quantiser = quantiser_of(head)) {
    message.coded.assign(bytes.begin(), bytes.end());
    message.coded_values = head.values;
    read_coded({.quantiser = quantiser.get()}, head.dimension, message);
    expect_entries(message, head.dimension);
    return;
  }
  unpack_message(bytes, head.values, head.dimension, message);
  expect_entries(message, head.dimension);
  if (message.entries.size() == head.values) {  // no zero has been left out
    std::vector<std::byte> again;
    pack_message(message, head.dimension, again);
    expect(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()),
           "a message is packed as it came");
  }
}

}  // namespace

void take_message(std::string_view bytes) {
  MessageHead head;
  require(bytes.size() >= sizeof(head), "there is no head");
  std::memcpy(&head, bytes.data(), sizeof(head));
  require(head.block > 0, "a block has entries");
  const auto rest = std::as_bytes(std::span(bytes)).subspan(sizeof(head));
  if (head.kind < kKinds) {
    take_message_of<float>(head, rest);
  } else {
    take_message_of<double>(head, rest);
  }
}

}  // namespace residuum::fuzzing
