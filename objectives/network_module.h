#pragma once
// What needs libtorch, behind one door: a shared library that is loaded when a study names a
// network or a benchmark compares with libtorch. Whatever else the program does starts without it,
// and works where libtorch is not installed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

  /// A network of `network_objectives()`.
  virtual std::unique_ptr<Objective> make(std::string_view name,
                                          const Section& section,
                                          const ObjectiveContext& context) const = 0;

  /// Whether this libtorch was built with CUDA and finds a device.
  virtual bool has_cuda() const = 0;

  /// Baselines of benchmarks: what training code does with libtorch's operators, on one thread.
  /// |x|.topk(k); returns the last kept magnitude, so that nothing is optimised away.
  virtual float top_k(std::span<const float> x, std::size_t k) const = 0;
  /// memory += scale * gradient, the k largest of it are taken out and the rest stays. Returns the
  /// sum of the norms of gradient, accumulator and residual.
  virtual float error_feedback(std::span<float> memory,
                               std::span<const float> gradient,
                               float scale,
                               std::size_t k) const = 0;
  /// |x|.topk(k) on the CUDA device, waited for; x is there already.
  virtual std::function<void()> device_top_k(std::span<const float> x, std::size_t k) const = 0;
  /// One iteration of error feedback with gTop-k on logistic regression, on made data.
  virtual std::function<void()> logistic(const LogisticSetting& setting) const = 0;
};

/// The module, which the first call loads. Where it or libtorch is missing: a resource error that
/// says so.
const NetworkModule& network_module();

/// Nullptr where nobody has loaded it yet.
const NetworkModule* loaded_network_module();

/// The networks that a study can name; a part of `objectives()`.
std::span<const ObjectiveEntry> network_objectives();

}  // namespace residuum
