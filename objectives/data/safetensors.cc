#include "objectives/data/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "objectives/data/npy.h"

namespace residuum {
namespace {

using nlohmann::json;

struct TensorType {
  std::string_view name;
  std::size_t width = 0;
  double (*number)(std::string_view data, std::size_t position) = nullptr;
};

double number_of_single(std::string_view data, std::size_t position) {
  return npy_number(NpyType::float32, data, position);
}
double number_of_double(std::string_view data, std::size_t position) {
  return npy_number(NpyType::float64, data, position);
}
double number_of_half(std::string_view data, std::size_t position) {
  return npy_number(NpyType::float16, data, position);
}
/// The upper half of a float32.
double number_of_bfloat(std::string_view data, std::size_t position) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, data.data() + position * sizeof(bits), sizeof(bits));
  constexpr unsigned kLowerHalf = 16;
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << kLowerHalf));
}

constexpr std::array<TensorType, 4> kTensorTypes{{{"F16", 2, &number_of_half},
                                                  {"BF16", 2, &number_of_bfloat},
                                                  {"F32", 4, &number_of_single},
                                                  {"F64", 8, &number_of_double}}};

struct Tensor {
  std::string name;
  std::vector<std::size_t> shape;
  const TensorType* type = nullptr;
  std::size_t begin = 0;  // of the bytes behind the head
  std::size_t end = 0;
};

/// Returns the product of the sizes times `width`; nothing where a size is no whole number or the
/// product is beyond `most`.
std::optional<std::size_t> bytes_of_shape(const json& shape, std::size_t width, std::size_t most) {
  if (!shape.is_array()) {
    return std::nullopt;
  }
  std::size_t bytes = width;
  for (const json& size : shape) {
    if (!size.is_number_unsigned()) {
      return std::nullopt;
    }
    const auto entries = size.get<std::uint64_t>();
    if (entries != 0 && bytes > most / entries) {
      return std::nullopt;
    }
    bytes *= static_cast<std::size_t>(entries);
  }
  return bytes;
}

const json& member_of(const json& object, const char* key) {
  static const json nothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : nothing;
}

Tensor tensor_of(const std::string& name,
                 const json& told,
                 std::size_t size,
                 const std::string& file) {
  const json& type = member_of(told, "dtype");
  const auto* const known =
      std::find_if(kTensorTypes.begin(), kTensorTypes.end(), [&](const TensorType& one) {
        return type.is_string() && type.get_ref<const std::string&>() == one.name;
      });
  require(known != kTensorTypes.end(),
          "{}: tensor '{}' is of type '{}'; save float16, bfloat16, float32 or float64",
          file,
          name,
          type.is_string() ? type.get<std::string>() : "none");
  const json& places = member_of(told, "data_offsets");
  const bool has_places = places.is_array() && places.size() == 2 &&
                          places[0].is_number_unsigned() && places[1].is_number_unsigned() &&
                          places[0] <= places[1] && places[1] <= size;
  require(has_places, "{}: tensor '{}' does not lie within the file", file, name);
  Tensor tensor{.name = name,
                .shape = {},
                .type = known,
                .begin = places[0].get<std::size_t>(),
                .end = places[1].get<std::size_t>()};
  require(bytes_of_shape(member_of(told, "shape"), known->width, size) == tensor.end - tensor.begin,
          "{}: tensor '{}' has {} bytes, which do not make its shape",
          file,
          name,
          tensor.end - tensor.begin);
  tensor.shape = told["shape"].get<std::vector<std::size_t>>();
  return tensor;
}

json parse_safetensors_head(std::string_view bytes,
                            std::size_t& head_size,
                            const std::string& file) {
  constexpr std::size_t kCount = sizeof(std::uint64_t);
  std::uint64_t size = 0;
  require(bytes.size() >= kCount, "{}: is no .safetensors file: it ends in its head", file);
  std::memcpy(&size, bytes.data(), kCount);
  require(size <= bytes.size() - kCount,
          "{}: is no .safetensors file: its head is said to have {} bytes, and it has {} in all",
          file,
          size,
          bytes.size());
  head_size = kCount + static_cast<std::size_t>(size);
  // JSON keeps the last of two tensors of one name and would drop the numbers of the other.
  std::set<std::string> names;
  const auto note_name = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth == 1 && event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      require(names.insert(key).second, "{}: there are two tensors '{}'", file, key);
    }
    return true;
  };
  json head = json::parse(bytes.substr(kCount, static_cast<std::size_t>(size)), note_name, false);
  require(head.is_object(), "{}: is no .safetensors file: its head is no JSON", file);
  return head;
}

}  // namespace

std::vector<NamedTensor> read_safetensors(std::string_view bytes, const std::string& name) {
  std::size_t head_size = 0;
  const json head = parse_safetensors_head(bytes, head_size, name);
  const std::string_view data = bytes.substr(head_size);
  std::vector<Tensor> tensors;
  for (const auto& [key, told] : head.items()) {
    if (key != "__metadata__") {
      tensors.push_back(tensor_of(key, told, data.size(), name));
    }
  }
  std::sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::vector<NamedTensor> read;
  std::size_t expected = 0;
  for (const Tensor& tensor : tensors) {
    require(tensor.begin == expected,
            "{}: tensor '{}' begins at byte {} of the numbers, and {} was expected",
            name,
            tensor.name,
            tensor.begin,
            expected);
    expected = tensor.end;
    const std::string_view own = data.substr(tensor.begin, tensor.end - tensor.begin);
    const std::size_t count = own.size() / tensor.type->width;
    std::vector<double> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = tensor.type->number(own, i);
    }
    read.push_back({.name = tensor.name, .shape = tensor.shape, .numbers = std::move(numbers)});
  }
  require(expected == data.size(),
          "{}: {} bytes of numbers belong to no tensor",
          name,
          data.size() - expected);
  return read;
}

}  // namespace residuum
