#include "objectives/torch/baselines.h"

#include <torch/torch.h>

#include <vector>

namespace residuum {
namespace {

/// Returns a view; nothing writes through it, though from_blob wants a mutable pointer.
torch::Tensor view_of(std::span<const float> x) {
  auto* const data = const_cast<float*>(x.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return torch::from_blob(data, {static_cast<std::int64_t>(x.size())});
}

}  // namespace

float torch_top_k(std::span<const float> x, std::size_t k) {
  const torch::NoGradGuard no_grad;
  at::set_num_threads(1);
  const auto [values, indices] = view_of(x).abs().topk(static_cast<std::int64_t>(k));
  return values[-1].item<float>();
}

float torch_error_feedback(std::span<float> memory,
                           std::span<const float> gradient,
                           float scale,
                           std::size_t k) {
  const torch::NoGradGuard no_grad;
  at::set_num_threads(1);
  auto accumulator = view_of(memory);
  const auto step = view_of(gradient);
  accumulator.add_(step, scale);
  const auto norms = step.norm() + accumulator.norm();
  const auto [magnitudes, indices] = accumulator.abs().topk(static_cast<std::int64_t>(k));
  const auto sent = accumulator.index_select(0, indices);
  accumulator.index_fill_(0, indices, 0);
  return (norms + accumulator.norm()).item<float>();
}

class TorchLogistic::Implementation {
 public:
  explicit Implementation(const LogisticSetting& setting)
      : setting_(setting),
        rows_((torch::rand({setting.rows, setting.features}) < kShareOfOnes).to(torch::kFloat32)),
        labels_(2 * (torch::rand({setting.rows}) < 0.5).to(torch::kFloat32) - 1),
        model_(torch::zeros({setting.features})),
        residuals_(static_cast<std::size_t>(setting.workers), torch::zeros({setting.features})) {}

  void iterate() {
    auto sum = torch::zeros({setting_.features});
    for (auto& residual : residuals_) {
      const auto accumulator = residual + setting_.step_size * gradient();
      const auto message = top_k(accumulator);
      residual = accumulator - message;
      sum += message;
    }
    // The update is the exact gTop-k of the sum; the cut entries go back to the first worker.
    const auto update = top_k(sum);
    residuals_.front() += sum - update;
    model_ -= update / setting_.workers;
  }

 private:
  static constexpr double kShareOfOnes = 14.0 / 123;  // as in a9a

  torch::Tensor gradient() const {
    const auto batch = torch::randint(setting_.rows, {setting_.batch}, torch::kInt64);
    const auto rows = rows_.index_select(0, batch);
    const auto labels = labels_.index_select(0, batch);
    const auto weights = labels * torch::sigmoid(-labels * rows.mv(model_));
    return setting_.l2 * model_ - rows.t().mv(weights) / setting_.batch;
  }

  torch::Tensor top_k(const torch::Tensor& x) const {
    const auto indices = std::get<1>(x.abs().topk(setting_.k));
    return torch::zeros_like(x).index_copy_(0, indices, x.index_select(0, indices));
  }

  LogisticSetting setting_;
  torch::Tensor rows_;
  torch::Tensor labels_;
  torch::Tensor model_;
  std::vector<torch::Tensor> residuals_;
};

TorchLogistic::TorchLogistic(const LogisticSetting& setting)
    : implementation_(std::make_unique<Implementation>(setting)) {}
TorchLogistic::~TorchLogistic() = default;

void TorchLogistic::iterate() {
  const torch::NoGradGuard no_grad;
  at::set_num_threads(1);
  implementation_->iterate();
}

}  // namespace residuum
