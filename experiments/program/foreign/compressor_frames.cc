#include "experiments/program/foreign/compressor_frames.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "objectives/data/npy.h"

namespace residuum {
namespace {

// No compressor needs more for a message than an index and a value of 8 bytes for every entry;
// there is room for a head and for a careless code.
constexpr std::size_t kMessageBytesPerEntry = 64;
constexpr std::size_t kSpareMessageBytes = std::size_t{1} << 16U;

constexpr std::size_t kLongestLine = std::size_t{1} << 16U;
constexpr std::size_t kLongestArrayHead = std::size_t{1} << 16U;

constexpr std::string_view kAnswer = "the compressor's answer";

struct AnswerLine {
  std::optional<std::uint64_t> bytes;
  std::string error;
  bool residual = false;
  bool message = false;
  std::size_t size = 0;  // bytes of the line, with its end
};

bool flag_of(const nlohmann::json& value, const std::string& key) {
  require(value.is_boolean(), "{}: '{}' is {}, not true or false", kAnswer, key, value.dump());
  return value.get<bool>();
}

void take_key(AnswerLine& line, const std::string& key, const nlohmann::json& value) {
  if (key == "bytes") {
    require(value.is_number_unsigned(),
            "{}: 'bytes' is {}, not a whole number from 0 up",
            kAnswer,
            value.dump());
    line.bytes = value.get<std::uint64_t>();
  } else if (key == "error") {
    require(value.is_string() && !value.get<std::string>().empty(),
            "{}: 'error' is {}, not a text",
            kAnswer,
            value.dump());
    line.error = value.get<std::string>();
  } else if (key == "residual") {
    line.residual = flag_of(value, key);
  } else if (key == "message") {
    line.message = flag_of(value, key);
  } else {
    const std::vector<std::string> known{"bytes", "error", "residual", "message"};
    usage_error("{}: unknown key '{}'{}", kAnswer, key, suggestion(key, known));
  }
}

/// Reads the line that may stand before the arrays; absent while it is not complete.
std::optional<AnswerLine> parse_line(std::string_view bytes) {
  if (bytes.front() != '{') {
    return AnswerLine{};
  }
  const auto end = bytes.find('\n');
  require(std::min(end, bytes.size()) < kLongestLine,
          "{}: a line that begins with {{ has no end in {} bytes",
          kAnswer,
          kLongestLine);
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const auto json = nlohmann::json::parse(bytes.substr(0, end), nullptr, false);
  require(json.is_object(), "{}: the line is no JSON object: {}", kAnswer, bytes.substr(0, end));
  AnswerLine line{.bytes = {}, .error = {}, .residual = false, .message = false, .size = end + 1};
  for (const auto& [key, value] : json.items()) {
    take_key(line, key, value);
  }
  return line;
}

struct Array {
  NpyType type = NpyType::float32;
  std::vector<std::size_t> shape;
  std::string_view data;
  std::size_t size = 0;  // bytes of head and data
};

/// The type, the shape and the most bytes of an array. An empty shape stands for one dimension of
/// any length.
struct Expected {
  NpyType type = NpyType::float32;
  std::span<const std::size_t> shape;
  std::size_t most_bytes = 0;
};

std::optional<Array> parse_array(std::string_view bytes,
                                 const Expected& expected,
                                 const std::string& name) {
  const NpyType type = expected.type;
  const auto shape = expected.shape;
  constexpr std::size_t kShown = 40;
  const std::string_view begin = bytes.substr(0, kShown);
  require(bytes.empty() || bytes.front() == '\x93',
          "{}: where {} should begin stands: {}",
          kAnswer,
          name,
          begin);
  const std::string place = fmt::format("{}, {}", kAnswer, name);
  const auto head = npy_header_size(bytes, place);
  require(head.value_or(0) <= kLongestArrayHead, "{}: a head of {} bytes", place, head.value_or(0));
  if (!head || bytes.size() < *head) {
    return std::nullopt;
  }
  const NpyHeader header = parse_npy_header(bytes, place);
  require(npy_type(header.type) == type,
          "{}: the type is {}, not {}",
          place,
          header.type,
          type == NpyType::float32 ? "'<f4', little-endian float32" : "'|u1', unsigned bytes");
  const auto found = parse_npy_shape(header.shape);
  const bool is_expected =
      found &&
      (shape.empty() ? found->size() == 1
                     : std::equal(found->begin(), found->end(), shape.begin(), shape.end()));
  require(is_expected && (!header.by_column || found->size() == 1),
          "{}: the shape is {}{}, not ({}) in C order",
          place,
          header.shape,
          header.by_column ? " in Fortran order" : "",
          shape.empty() ? "n" : fmt::format("{}", fmt::join(shape, ", ")));
  std::size_t length = npy_width(type);
  for (const std::size_t size : *found) {
    require(size <= expected.most_bytes / std::max<std::size_t>(length, 1),
            "{}: the shape {} is more than {} bytes, the most for a vector of this shape",
            place,
            header.shape,
            expected.most_bytes);
    length *= size;
  }
  if (bytes.size() - *head < length) {
    return std::nullopt;
  }
  return Array{
      .type = type, .shape = *found, .data = bytes.substr(*head, length), .size = *head + length};
}

std::vector<float> singles_of(std::string_view data) {
  std::vector<float> values(data.size() / sizeof(float));
  if (!values.empty()) {
    std::memcpy(values.data(), data.data(), data.size());
  }
  return values;
}

}  // namespace

void compressor_request(const laws::Tensor& tensor,
                        std::uint64_t seed,
                        std::span<const float> x,
                        std::string& bytes) {
  const nlohmann::ordered_json line{
      {"tensor", tensor.name}, {"shape", tensor.shape}, {"seed", seed}};
  bytes = line.dump() + '\n' + npy_header(NpyType::float32, tensor.shape);
  bytes.append(std::string_view(reinterpret_cast<const char*>(x.data()),  // NOLINT: its bytes
                                x.size_bytes()));
}

std::optional<AnswerView> view_answer(std::string_view bytes, std::span<const std::size_t> shape) {
  const auto line = bytes.empty() ? std::nullopt : parse_line(bytes);
  if (!line) {
    return std::nullopt;
  }
  AnswerView view{.declared_bytes = line->bytes,
                  .message_bytes = {},
                  .refusal = line->error,
                  .output = {},
                  .residual = {},
                  .size = line->size};
  if (!view.refusal.empty()) {
    return view;
  }
  const auto next = [&](const Expected& expected, const char* name) {
    auto array = parse_array(bytes.substr(view.size), expected, name);
    view.size += array ? array->size : 0;
    return array;
  };
  std::size_t entries = 1;
  for (const std::size_t size : shape) {
    entries *= size;
  }
  const Expected vector{NpyType::float32, shape, entries * sizeof(float)};
  const Expected packed{NpyType::uint8, {}, kSpareMessageBytes + kMessageBytesPerEntry * entries};
  require(line->bytes.value_or(0) <= packed.most_bytes,
          "{}: 'bytes' is {}, more than {}, the most for a vector of this shape",
          kAnswer,
          line->bytes.value_or(0),
          packed.most_bytes);
  const auto output = next(vector, "the output");
  if (!output) {
    return std::nullopt;
  }
  view.output = output->data;
  if (line->residual) {
    const auto residual = next(vector, "the residual");
    if (!residual) {
      return std::nullopt;
    }
    view.residual = residual->data;
  }
  if (line->message) {
    const auto message = next(packed, "the message");
    if (!message) {
      return std::nullopt;
    }
    view.message_bytes = message->data.size();
  }
  return view;
}

std::optional<ParsedAnswer> parse_answer(std::string_view bytes,
                                         std::span<const std::size_t> shape) {
  const auto view = view_answer(bytes, shape);
  if (!view) {
    return std::nullopt;
  }
  ParsedAnswer parsed{.answer = {}, .size = view->size};
  parsed.answer.output = singles_of(view->output);
  parsed.answer.residual = singles_of(view->residual);
  parsed.answer.declared_bytes = view->declared_bytes;
  parsed.answer.message_bytes = view->message_bytes;
  parsed.answer.refusal = view->refusal;
  return parsed;
}

}  // namespace residuum
