#include "core/training/model_shift.h"

#include "core/vectors/dense.h"

namespace residuum {

template <class Real>
void ModelShift<Real>::follow(std::span<Real> shift) {
  for (std::size_t i = 0; i < shift.size(); ++i) {
    difference_[i] = rounded_[i] - shift[i];
  }
  gap_.before_sq = norm_sq<Real>(difference_);
  select_top_k<Real>(difference_, entries_, workspace_, sent_);
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    const std::size_t place = sent_.indices[i];
    shift[place] += sent_.values[i];
    difference_[place] = rounded_[place] - shift[place];
  }
  gap_.after_sq = norm_sq<Real>(difference_);
  gap_.kept = 1 - static_cast<double>(entries_) / static_cast<double>(shift.size());
}

template class ModelShift<float>;
template class ModelShift<double>;

}  // namespace residuum
