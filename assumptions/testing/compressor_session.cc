#include "assumptions/testing/compressor_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

#include "assumptions/testing/laws.h"
#include "core/error.h"
#include "core/random/random.h"

namespace residuum::laws {
namespace {

std::vector<float> as_singles(std::span<const double> values, double scale = 1) {
  std::vector<float> singles;
  singles.reserve(values.size());
  for (const double value : values) {
    singles.push_back(static_cast<float>(scale * value));
  }
  return singles;
}

}  // namespace

std::vector<NamedSingles> single_accumulators(std::size_t d) {
  constexpr double kSmall = 1e-12;
  constexpr double kLarge = 1e12;
  std::vector<NamedSingles> all;
  for (const auto& [name, values] : accumulators(d)) {
    all.push_back({name, as_singles(values)});
    if (name == "normal 1") {
      all.push_back({"normal 1 times 1e-12", as_singles(values, kSmall)});
      all.push_back({"normal 1 times 1e12", as_singles(values, kLarge)});
    }
  }
  return all;
}

std::vector<float> normal_singles(std::size_t d, std::uint32_t number) {
  RandomStream random(2, Purpose::test, 0, number);
  std::vector<float> x(d);
  for (float& value : x) {
    value = static_cast<float>(random.normal());
  }
  return x;
}

std::size_t entries_of(std::span<const std::size_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

double norm_sq_of(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return sum;
}

double distance_sq(std::span<const float> x, std::span<const float> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    sum += difference * difference;
  }
  return sum;
}

bool same_bits(std::span<const float> x, std::span<const float> y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  });
}

std::size_t first_difference(std::span<const float> x, std::span<const float> y) {
  std::size_t i = 0;
  while (same_bits(x.subspan(i, 1), y.subspan(i, 1))) {
    ++i;
  }
  return i;
}

CompressorSession::CompressorSession(Compressor& compressor, const CompressorCases& cases)
    : compressor_(compressor), cases_(cases), dimension_(entries_of(cases.shape)) {
  compressor.restart();
}

CompressorAnswer CompressorSession::ask(const Tensor& tensor,
                                        std::span<const float> x,
                                        const std::string& name) {
  CompressorAnswer answer = compressor_.compress(tensor, x);
  require(answer.refusal.empty(),
          "the compressor has no answer to {} of tensor '{}', though its numbers are finite: {}",
          vector_words(name, x.size()),
          tensor.name,
          answer.refusal);
  return answer;
}

CompressorAnswer CompressorSession::ask(const std::string& tensor,
                                        std::span<const float> x,
                                        const std::string& name) {
  return ask(Tensor{.name = tensor, .shape = cases_.shape}, x, name);
}

CompressorAnswer CompressorSession::ask_fresh(std::span<const float> x, const std::string& name) {
  return ask(fresh(), x, name);
}

Tensor CompressorSession::fresh() {
  return {.name = fmt::format("t{}", fresh_++), .shape = cases_.shape};
}

std::string vector_words(const std::string& name, std::size_t d) {
  return fmt::format("vector '{}' of {} entries", name, d);
}

LawFinding not_looked_at(std::string law, std::string why) {
  return {.law = std::move(law), .holds = std::nullopt, .explanation = std::move(why)};
}

}  // namespace residuum::laws
