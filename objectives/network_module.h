#pragma once
// All code that needs libtorch is in one shared library, which is loaded when a study names a
// network or a benchmark compares with libtorch. The rest of the program starts without it and
// works where libtorch is not installed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "objectives/registry.h"

namespace residuum {

struct LogisticSetting {
  std::int64_t rows = 0;
  std::int64_t features = 0;
  int workers = 1;
  std::int64_t batch = 1;
  std::int64_t k = 1;
  double step_size = 0;
  double l2 = 0;
};

class NetworkModule {
 public:
  NetworkModule() = default;
  NetworkModule(const NetworkModule&) = delete;
  NetworkModule& operator=(const NetworkModule&) = delete;
  NetworkModule(NetworkModule&&) = delete;
  NetworkModule& operator=(NetworkModule&&) = delete;
  virtual ~NetworkModule() = default;

  /// Makes a network of `network_objectives()`.
  virtual std::unique_ptr<Objective> make(std::string_view name,
                                          const Section& section,
                                          const ObjectiveContext& context) const = 0;

  /// Returns how many devices CUDA shows to this process; 0 where libtorch was built without CUDA.
  virtual int cuda_devices() const = 0;
  /// Returns the index of the CUDA device that process `local_rank` of its machine takes where a
  /// study has this `device`; none: the CPU.
  virtual std::optional<int> cuda_device(const std::string& device, int local_rank) const = 0;

  /// Runs |x|.topk(k), as a baseline of benchmarks: what training code does with libtorch's
  /// operators, on one thread. It returns the last kept magnitude, so that nothing is optimised
  /// away.
  virtual float top_k(std::span<const float> x, std::size_t k) const = 0;
  /// memory += scale * gradient; then the k largest entries are removed and the rest stays. It
  /// returns the sum of the norms of gradient, accumulator and residual.
  virtual float error_feedback(std::span<float> memory,
                               std::span<const float> gradient,
                               float scale,
                               std::size_t k) const = 0;
  /// Returns a call that runs |x|.topk(k) on the CUDA device and waits for it; x is there already.
  virtual std::function<void()> device_top_k(std::span<const float> x, std::size_t k) const = 0;
  /// Returns a call that runs one iteration of error feedback with gTop-k on logistic regression,
  /// on synthetic data.
  virtual std::function<void()> logistic(const LogisticSetting& setting) const = 0;
};

/// True if this program was built with libtorch, and so has networks.
bool networks_are_built();

/// Refuses `what` in a build without libtorch: throws ResourceError, which names it and the cure.
void require_torch(std::string_view what);

/// Refuses the objective if it is a network and this build is without libtorch.
void require_built_network(std::string_view kind);

/// Returns the module, which the first call loads. If it or libtorch is missing, a resource error
/// says so.
const NetworkModule& network_module();

/// Returns the module, or nullptr if it has not been loaded yet.
const NetworkModule* loaded_network_module();

/// Returns the networks that a study can name; they are a part of `objectives()`.
std::span<const ObjectiveEntry> network_objectives();

}  // namespace residuum
