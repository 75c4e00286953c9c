#include "core/training/device_model.h"

#include "core/training/device_placement.h"

namespace residuum {

void DeviceModel::moved(std::span<const std::uint32_t> indices, std::span<const float> model) {
  if (!is_there_) {
    return;  // all numbers cross before the next gradient
  }
  moved_.resize(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    moved_.indices[i] = indices[i];
    moved_.values[i] = model[indices[i]];
  }
  there_->assign(0, moved_);
}

DeviceSpan DeviceModel::of(std::span<const float> model) {
  if (there_ == nullptr) {
    there_ = device_.vectors(1, d_);
  }
  if (!is_there_) {
    there_->set(0, model);
    is_there_ = true;
  }
  return there_->vector(0).span();
}

bool takes_gradients_there(const Training& training) {
  return training.device != nullptr && training.precision == Precision::float32 &&
         training.objective->on_device() != nullptr && takes_plain_gradients(training, {});
}

}  // namespace residuum
