#pragma once
// A baseline for benchmarks: error feedback with gTop-k on logistic regression, every step of it an
// operator of libtorch, as training code would write it.

#include <memory>

#include "objectives/network_module.h"

namespace residuum {

/// On made data, dense and binary: what it costs depends on the shape alone. One thread.
class TorchLogistic {
 public:
  explicit TorchLogistic(const LogisticSetting& setting);
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
