#include "objectives/torch/network_options.h"

#include <limits>
#include <utility>

#include "core/error.h"

namespace residuum {
namespace {

std::size_t count(const Section& section, const char* key) {
  const std::int64_t value = section.integer(key, 0);
  require(value >= 0, "{} must be at least 1, or 0 for all, got {}", section.where(key), value);
  return static_cast<std::size_t>(value);
}

}  // namespace

NetworkOptions read_network_options(const Section& section,
                                    const ObjectiveContext& context,
                                    EvaluatePrecision usual) {
  const char* const fallback = usual == EvaluatePrecision::float32 ? "float32" : "float64";
  return {.device = device_from(section, context.local_rank, cuda_devices()),
          .evaluate_samples = count(section, "evaluate_samples"),
          .test_samples = count(section, "test_samples"),
          .evaluate_in_float =
              section.choice("evaluate_precision", {"float32", "float64"}, fallback) == "float32"};
}

std::int64_t read_size(const Section& section,
                       const char* key,
                       std::int64_t usual,
                       std::int64_t largest) {
  const std::int64_t size = section.integer(key, usual);
  require(size >= 1 && size <= largest,
          "{} must lie in 1..{}, got {}",
          section.where(key),
          largest,
          size);
  return size;
}

void check_parameters(double parameters, const std::string& what) {
  require(parameters < static_cast<double>(std::numeric_limits<std::uint32_t>::max()),
          "{} has {:.0f} parameters, at most 2^32 - 1 can be numbered",
          what,
          parameters);
}

std::unique_ptr<Objective> make_image_network(ImageData data,
                                              const Networks& networks,
                                              const Section& section,
                                              const ObjectiveContext& context,
                                              EvaluatePrecision usual) {
  const NetworkOptions options = read_network_options(section, context, usual);
  const bool augment = section.flag("augment", false);
  return std::make_unique<NetworkObjective>(
      image_samples(std::move(data), networks.shape, augment), networks, options);
}

}  // namespace residuum
