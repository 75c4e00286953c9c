// Vectors that a user brings, and checkpoints.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/run_state.h"
#include "core/cluster/world.h"
#include "core/error.h"
#include "experiments/program/commands/vectors_file.h"
#include "experiments/program/foreign/compressor_frames.h"
#include "experiments/program/runs/checkpoint.h"
#include "objectives/data/recorded_gradients.h"
#include "objectives/data/safetensors.h"
#include "tests/fuzzing/inputs.h"
#include "tests/fuzzing/targets.h"

namespace residuum::fuzzing {
namespace {

/// Vectors that were read can be written and read again, to the last bit.
void expect_round_trip(const std::filesystem::path& file) {
  const auto vectors = read_vectors(file);
  std::vector<double> flat;
  for (const auto& row : vectors) {
    expect(!row.empty() && row.size() == vectors.front().size(), "rows are equally long");
    flat.insert(flat.end(), row.begin(), row.end());
  }
  for (const double value : flat) {
    expect(std::isfinite(value), "numbers are finite");
  }
  const auto copy = scratch().path() / "copy.npy";
  write_vectors(copy, flat, vectors.front().size());
  expect(read_vectors(copy) == vectors, "vectors come back as they were");
}

template <class Number>
void append_number(std::string& file, Number number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  file += bytes;
}

/// The file around a head and a state, its checksum the right one (see checkpoint.cc).
std::string sealed_checkpoint(std::string_view head, std::string_view state) {
  constexpr std::uint64_t kMagic = 0x5253444d53544154;
  constexpr std::uint32_t kFormat = 5;
  std::string file;
  append_number(file, kMagic);
  append_number(file, kFormat);
  append_number(file, static_cast<std::uint32_t>(head.size()));
  file += head;
  file += state;
  append_number(file, checksum(0, file));
  return file;
}

/// A state with all that a state is made of.
void pass_state(StateStream& stream, RunState::Direction direction) {
  const auto world = make_single_process();
  const Cluster cluster(*world, 2);
  RunState state(cluster, &stream, direction);
  double number = 0;
  std::vector<double> pair(2);
  std::vector<std::vector<double>> of_workers(2, std::vector<double>(1));
  std::vector<double> list;
  state.root(number);
  state.shared(pair);
  state.workers<double>(1, [&](std::size_t slot) { return std::span(of_workers[slot]); });
  state.root_list(list);
  expect(!state.damage(), "a state of the right length is loaded");
}

}  // namespace

void take_npy(std::string_view bytes) { expect_round_trip(scratch().write("vectors.npy", bytes)); }

void take_csv(std::string_view bytes) { expect_round_trip(scratch().write("vectors.csv", bytes)); }

void take_safetensors(std::string_view bytes) {
  std::size_t numbers = 0;
  for (const NamedTensor& tensor : read_safetensors(bytes, "some.safetensors")) {
    numbers += tensor.numbers.size();
  }
  expect(numbers <= bytes.size() / 2, "a number has at least two bytes");
}

void take_answer(std::string_view bytes) {
  const std::array<std::size_t, 2> shape{2, 3};
  const auto parsed = parse_answer(bytes, shape);
  require(parsed.has_value(), "the answer is not complete");
  const auto& answer = parsed->answer;
  expect(parsed->size <= bytes.size(), "an answer ends within its bytes");
  expect(answer.output.size() == (answer.refusal.empty() ? 6U : 0U), "an answer has six numbers");
  expect(answer.residual.empty() || answer.residual.size() == 6, "and so has its residual");
  expect(!parse_answer(bytes.substr(0, parsed->size - 1), shape).has_value(),
         "an answer is complete with its last byte alone");
}

void take_recorded(std::string_view bytes) {
  const auto recording = open_recorded_gradients(scratch().write("gradients.npy", bytes));
  const RecordedShape shape = recording->shape();
  std::vector<double> gradient(shape.dimension);
  recording->read(shape.steps - 1, shape.workers - 1, gradient);
  for (const double value : gradient) {
    expect(std::isfinite(value), "numbers are finite");
  }
}

void take_checkpoint(std::string_view bytes) {
  std::filesystem::create_directories(scratch().path() / "checkpoint");
  const auto parts = parts_of(bytes);
  const auto head = parts.find("head");
  const auto state = parts.find("state");
  const bool has_parts = head != parts.end() && state != parts.end();
  scratch().write("checkpoint/state-7",
                  has_parts ? sealed_checkpoint(head->second, state->second) : std::string(bytes));
  const auto checkpoint =
      find_checkpoint(scratch().path(), "m-000000000000", [](const CheckpointHead&) {});
  require(checkpoint.has_value(), "no checkpoint");
  for (const auto direction : {RunState::Direction::measure, RunState::Direction::load}) {
    read_checkpoint(*checkpoint, [&](StateStream& stream) { pass_state(stream, direction); });
  }
}

}  // namespace residuum::fuzzing
