// `residuum bench fused` times what error feedback with exact Top-k costs a worker. The step is the
// one of a training: the accumulator formed in one pass with its three norms, the selection, and
// the residual; the next gradient is another. The floor is m += eta g on the same vectors, compiled
// for the same vectors of the machine.

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "experiments/benchmarks/bench.h"
#include "experiments/benchmarks/bench_training.h"
#include "experiments/benchmarks/triad.h"
#include "objectives/network_module.h"

namespace residuum {
namespace {

constexpr double kDensity = 1e-3;
constexpr std::size_t kLayers = 60;

std::shared_ptr<const ErrorFeedbackCase::Gradients> gradients_of(std::size_t d) {
  constexpr std::uint32_t kDifferent = 4;
  auto gradients = std::make_shared<ErrorFeedbackCase::Gradients>();
  for (std::uint32_t i = 0; i < kDifferent; ++i) {
    gradients->push_back(gaussian_vector(d, i));
  }
  return gradients;
}

/// Makes layers whose sizes grow by 15 % from one to the next, as unequal as those of networks.
std::vector<Segment> layers_of(std::size_t d) {
  constexpr double kGrowth = 1.15;
  const double first = static_cast<double>(d) * (kGrowth - 1) / (std::pow(kGrowth, kLayers) - 1);
  std::vector<Segment> layers;
  double end = 0;
  for (std::size_t l = 0; l < kLayers; ++l) {
    end += first * std::pow(kGrowth, static_cast<double>(l));
    const std::size_t begin = layers.empty() ? 0 : layers.back().begin + layers.back().size;
    const std::size_t last = l + 1 == kLayers ? d : static_cast<std::size_t>(end);
    layers.push_back({.begin = begin, .size = last - begin});
  }
  return layers;
}

std::shared_ptr<ErrorFeedbackCase> case_after_steps(
    const std::shared_ptr<const ErrorFeedbackCase::Gradients>& gradients,
    std::vector<Segment> layers = {},
    std::string_view kind = "top-k") {
  auto step = std::make_shared<ErrorFeedbackCase>(gradients, kDensity, std::move(layers), kind);
  for (int t = 0; t < kStepsBefore; ++t) {
    step->step();
  }
  return step;
}

std::string misses_of(const ErrorFeedbackCase& step) {
  return fmt::format("{} of {} selections were cold", step.misses(), step.selections());
}

void bench_size(std::size_t d, std::vector<Measure>& measures) {
  const auto gradients = gradients_of(d);
  const auto named = [d](const char* name) { return fmt::format("fused-{}/{}", name, d); };
  const auto warm = case_after_steps(gradients);
  const auto cold = case_after_steps(gradients);
  const auto layered = case_after_steps(gradients, layers_of(d));
  const auto chunked = case_after_steps(gradients, {}, "chunk-top-k");
  const auto torch = case_after_steps(gradients);
  add_benchmark(named("warm"), [warm] { warm->step(); });
  add_benchmark(named("cold"), [cold] {
    cold->forget();
    cold->step();
  });
  add_benchmark(named("layers"), [layered] { layered->step(); });
  add_benchmark(named("chunks"), [chunked] { chunked->step(); });
  // Nothing is added, so that the vectors stay those of the step.
  add_benchmark(named("triad"), [warm, gradients, t = std::size_t{0}]() mutable {
    triad(warm->memory(), (*gradients)[t++ % gradients->size()], 0);
  });
  add_benchmark(
      named("torch"),
      [torch] {
        network_module().error_feedback(torch->memory(), torch->gradient(), 1, torch->k());
      },
      3);
  const std::string size = fmt::format("d = {}, k = {}", d, warm->k());
  const auto line = [&](const char* id,
                        const std::string& name,
                        const char* benchmark,
                        const char* baseline,
                        std::optional<double> target,
                        const std::shared_ptr<ErrorFeedbackCase>& step) {
    measures.push_back({.id = id,
                        .name = fmt::format("{}, {}", name, size),
                        .benchmark = named(benchmark),
                        .baseline = named(baseline),
                        .faster_than = false,
                        .target = target});
    if (step != nullptr) {
      measures.back().note = [step] { return misses_of(*step); };
    }
  };
  line("P1", "step, warm, against m += eta g", "warm", "triad", 1.25, warm);
  measures.back().bytes = 3 * d * sizeof(float);
  line("P1c", "step, cold, against m += eta g", "cold", "triad", 3.0, cold);
  line("P2", "step, warm, faster than libtorch's operators", "warm", "torch", 20.0, nullptr);
  measures.back().faster_than = true;
  line("", "chunk-top-k, blocks of 4096, against Top-k", "chunks", "warm", 2.0, nullptr);
  line("", fmt::format("{} layers against one vector", kLayers), "layers", "warm", {}, layered);
}

}  // namespace

void bench_fused(std::vector<Measure>& measures, const Options& /*options*/) {
  for (const std::size_t d : {kMillion, 25 * kMillion}) {
    bench_size(d, measures);
  }
}

}  // namespace residuum
