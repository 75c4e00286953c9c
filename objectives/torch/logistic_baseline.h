#pragma once
// A baseline for benchmarks: error feedback with gTop-k on logistic regression, every step of it an
// operator of libtorch, as training code would write it.

#include <cstdint>
#include <memory>

namespace residuum {

struct TorchLogisticSetting {
  std::int64_t rows = 0;
  std::int64_t features = 0;
  int workers = 1;
  std::int64_t batch = 1;
  std::int64_t k = 1;
  double step_size = 0;
  double l2 = 0;
};

/// On made data, dense and binary: what it costs depends on the shape alone. One thread.
class TorchLogistic {
 public:
  explicit TorchLogistic(const TorchLogisticSetting& setting);
  TorchLogistic(const TorchLogistic&) = delete;
  TorchLogistic& operator=(const TorchLogistic&) = delete;
  TorchLogistic(TorchLogistic&&) = delete;
  TorchLogistic& operator=(TorchLogistic&&) = delete;
  ~TorchLogistic();

  /// One iteration of all workers.
  void iterate();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace residuum
