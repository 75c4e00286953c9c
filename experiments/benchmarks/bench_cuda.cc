// `residuum bench cuda` times the fused step on the device against a copy on the device that moves
// as many bytes (12 per coordinate: residual and gradient in, accumulator out); the host waits for
// both. The gradient is on the device and the selected pairs cross to the host. P7 clears all that
// was selected from the residual, as the step of P1 does; a line beside it sends the pairs back as
// a list to be removed.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/random/random.h"
#include "core/vectors/cuda/device_step.h"
#include "experiments/benchmarks/bench.h"

namespace residuum {
namespace {

constexpr std::array<std::size_t, 3> kDeviceSizes{1'000'000, 25'000'000, std::size_t{1} << 28U};

std::vector<float> normal_numbers(std::size_t size) {
  RandomStream random(1, Purpose::test, 0, 0);
  std::vector<float> values(size);
  for (float& value : values) {
    value = static_cast<float>(random.normal());
  }
  return values;
}

enum class Removed { selected, list };

/// Error feedback with a gradient that stays the same.
class StepCase {
 public:
  StepCase(std::span<const float> gradient, Removed removed)
      : removed_(removed), gradient_(gradient.size()), step_(gradient.size()) {
    gradient_.set(gradient);
    for (int t = 0; t < kStepsBefore; ++t) {
      run();
    }
  }

  void run() {
    step_.step(gradient_.span(), 1, gradient_.size() / kCompression, selected_);
    if (removed_ == Removed::list) {
      step_.update_residual(selected_, {});
    } else {
      step_.update_selected_residual();
    }
  }

 private:
  Removed removed_;
  cuda::DeviceMemory gradient_;
  cuda::DeviceStep step_;
  SparseVector<float> selected_;
};

struct CopyCase {
  explicit CopyCase(std::size_t size) : from(size), to(size) {}
  cuda::DeviceMemory from;
  cuda::DeviceMemory to;
};

void add_size(std::vector<Measure>& measures,
              std::span<const float> gradient,
              const DeviceTopK& top_k) {
  const std::size_t d = gradient.size();
  const auto named = [d](const char* what) { return fmt::format("cuda-{}/{}", what, d); };
  const auto step = std::make_shared<StepCase>(gradient, Removed::selected);
  add_benchmark(named("step"), [step] { step->run(); });
  const auto with_list = std::make_shared<StepCase>(gradient, Removed::list);
  add_benchmark(named("list"), [with_list] { with_list->run(); });
  // A copy moves 8 bytes per number, a step 12 per coordinate.
  const auto copied = std::make_shared<CopyCase>(d + d / 2);
  copied->from.set(std::vector<float>(d + d / 2, 1));
  add_benchmark(named("copy"), [copied] { cuda::copy(copied->from.span(), copied->to); });
  const auto line = [&](const char* id,
                        const char* benchmark,
                        const char* baseline,
                        const char* text,
                        std::optional<double> target) {
    measures.push_back({.id = id,
                        .name = fmt::format("step on the device, d = {}, {}", d, text),
                        .benchmark = named(benchmark),
                        .baseline = named(baseline),
                        .faster_than = true,
                        .target = target});
  };
  line("P7", "step", "copy", "against a copy of as many bytes", 0.7);
  line("", "list", "copy", "a list is put back, against a copy", std::nullopt);
  if (top_k) {
    add_benchmark(named("topk"), top_k(gradient, d / kCompression));
    line("P7", "step", "topk", "against torch.topk there", 10);
  }
}

}  // namespace

void bench_cuda(std::vector<Measure>& measures, const DeviceTopK& top_k) {
  if (!cuda::available()) {
    resource_error("benchmark 'cuda' needs a CUDA device and a build with nvcc; here is none");
  }
  if (!top_k) {
    fmt::print(stderr, "note: no comparison with torch.topk: no libtorch with CUDA here\n");
  }
  const auto gradient = normal_numbers(kDeviceSizes.back());
  for (const std::size_t d : kDeviceSizes) {
    add_size(measures, std::span(gradient).first(d), top_k);
  }
}

}  // namespace residuum
