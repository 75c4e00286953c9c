#pragma once
// Networks take their data sets in this form. This header names no type of libtorch.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/objective.h"
#include "core/random/random.h"
#include "objectives/data/dataset.h"
#include "objectives/torch/network.h"

namespace residuum {

/// A source is immutable and owns what it is made from.
class SampleSource {
 public:
  SampleSource() = default;
  SampleSource(const SampleSource&) = delete;
  SampleSource& operator=(const SampleSource&) = delete;
  SampleSource(SampleSource&&) = delete;
  SampleSource& operator=(SampleSource&&) = delete;
  virtual ~SampleSource() = default;

  virtual std::size_t samples() const = 0;
  /// batch := `samples` in that order. If the data set is augmented, they are varied by the next
  /// numbers of the `augmentation` stream.
  virtual void assemble(std::span<const std::uint32_t> samples,
                        RandomStream* augmentation,
                        Batch<float>& batch) const = 0;
  virtual void assemble(std::span<const std::uint32_t> samples,
                        RandomStream* augmentation,
                        Batch<double>& batch) const = 0;
};

struct NetworkData {
  DataInfo info;
  std::vector<std::int32_t> labels;  // those of the training samples; empty without classes
  ImageShape shape;
  bool is_text = false;
  bool is_augmented = false;  // batches are varied
  std::unique_ptr<SampleSource> train;
  std::unique_ptr<SampleSource> test;  // null without held-out data
};

}  // namespace residuum
