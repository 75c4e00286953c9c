#pragma once
// This baseline for benchmarks is error feedback with gTop-k on logistic regression; every step is
// an operator of libtorch, as training code would write it.

#include <memory>

#include "objectives/network_module.h"

namespace residuum {

/// The data are synthetic, dense and binary, because the cost depends on the shape alone. It runs
/// on one thread.
class TorchLogistic {
 public:
  explicit TorchLogistic(const LogisticSetting& setting);
  TorchLogistic(const TorchLogistic&) = delete;
  TorchLogistic& operator=(const TorchLogistic&) = delete;
  TorchLogistic(TorchLogistic&&) = delete;
  TorchLogistic& operator=(TorchLogistic&&) = delete;
  ~TorchLogistic();

  /// Runs one iteration of all workers.
  void iterate();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace residuum
