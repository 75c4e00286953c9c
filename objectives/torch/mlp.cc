// The multilayer perceptron is: image, flattened -> [linear, ReLU] per hidden layer -> linear ->
// logits.

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "core/error.h"
#include "objectives/registry.h"
#include "objectives/torch/images.h"
#include "objectives/torch/models.h"
#include "objectives/torch/network_options.h"
#include "objectives/torch/torch_network.h"

namespace residuum {
namespace {

constexpr std::int64_t kWidestLayer = 1'000'000;
constexpr std::size_t kMostHidden = 100;

std::int64_t width_from(const Section& section, const nlohmann::json& value) {
  require(value.is_number_integer() && value >= 1 && value <= kWidestLayer,
          "{} must be a layer width between 1 and {}, or a list of them, got {}",
          section.where("hidden"),
          kWidestLayer,
          shown(value));
  return value.get<std::int64_t>();
}

std::vector<std::int64_t> hidden_from(const Section& section) {
  const nlohmann::json value = section.any("hidden", 128);
  if (!value.is_array()) {
    return {width_from(section, value)};
  }
  require(value.size() <= kMostHidden,
          "{} has {} layers, at most {} are possible",
          section.where("hidden"),
          value.size(),
          kMostHidden);
  std::vector<std::int64_t> hidden;
  for (const auto& width : value) {
    hidden.push_back(width_from(section, width));
  }
  return hidden;
}

/// Returns the widths from image to logits.
std::vector<std::int64_t> widths_of(const ImageShape& shape,
                                    const std::vector<std::int64_t>& hidden) {
  std::vector<std::int64_t> widths{static_cast<std::int64_t>(shape.pixels())};
  widths.insert(widths.end(), hidden.begin(), hidden.end());
  widths.push_back(shape.classes);
  return widths;
}

/// Refuses a model whose parameter numbers do not fit in 32 bits, before memory is allocated.
void check_size(const std::vector<std::int64_t>& widths) {
  double parameters = 0;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    parameters += (static_cast<double>(widths[i - 1]) + 1) * static_cast<double>(widths[i]);
  }
  require(parameters < static_cast<double>(std::numeric_limits<std::uint32_t>::max()),
          "an mlp of widths {} has {:.0f} parameters, at most 2^32 - 1 can be numbered",
          fmt::join(widths, "-"),
          parameters);
}

}  // namespace

Networks mlp(const ImageShape& shape, const std::vector<std::int64_t>& hidden) {
  const auto widths = widths_of(shape, hidden);
  check_size(widths);
  return make_networks(shape, [widths] {
    torch::nn::Sequential net;
    net->push_back("flatten", torch::nn::Flatten());
    for (std::size_t i = 1; i < widths.size(); ++i) {
      if (i > 1) {
        net->push_back(fmt::format("relu{}", i - 1), torch::nn::ReLU());
      }
      net->push_back(fmt::format("fc{}", i), torch::nn::Linear(widths[i - 1], widths[i]));
    }
    return net;
  });
}

std::unique_ptr<Objective> make_mlp(const Section& section, const ObjectiveContext& context) {
  const auto hidden = hidden_from(section);
  ImageData data = load_image_data(section, context);
  Networks networks = mlp(shape_of(data.train), hidden);
  return make_image_network(
      std::move(data), networks, section, context, EvaluatePrecision::float64);
}

}  // namespace residuum
