#pragma once
// A data set as networks take it. This header names no type of libtorch.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/objective.h"
#include "core/random/random.h"
#include "objectives/data/dataset.h"
#include "objectives/data/text.h"
#include "objectives/torch/network.h"

namespace residuum {

/// Immutable; what it is made from lives as long as it.
class SampleSource {
 public:
  SampleSource() = default;
  SampleSource(const SampleSource&) = delete;
  SampleSource& operator=(const SampleSource&) = delete;
  SampleSource(SampleSource&&) = delete;
  SampleSource& operator=(SampleSource&&) = delete;
  virtual ~SampleSource() = default;

  virtual std::size_t samples() const = 0;
  /// batch := `samples` in that order. With an `augmentation` stream they are varied by its next
  /// numbers, where the data set is one that is varied.
  virtual void assemble(std::span<const std::uint32_t> samples,
                        RandomStream* augmentation,
                        Batch<float>& batch) const = 0;
  virtual void assemble(std::span<const std::uint32_t> samples,
                        RandomStream* augmentation,
                        Batch<double>& batch) const = 0;
};

struct NetworkData {
  DataInfo info;
  std::vector<std::int32_t> labels;  // of the training samples; empty where they have no classes
  ImageShape shape;
  bool is_text = false;
  bool is_augmented = false;  // batches are varied
  std::unique_ptr<SampleSource> train;
  std::unique_ptr<SampleSource> test;  // null where nothing is held out
};

/// Training images and, where there are any, held-out ones.
struct ImageData {
  ImageDataset train;
  std::optional<ImageDataset> test;
};

ImageShape shape_of(const ImageDataset& images);

/// Pixels are normalised by the moments of the training images; with `augment`, batches are varied
/// by crops of the image with a border of 4 and by mirroring, as He et al. (2016) do. Images that
/// do not have the `wanted` shape, and labels that are no class, are usage errors.
NetworkData image_samples(ImageData data, const ImageShape& wanted, bool augment = false);

/// Sample i is the tokens i s .. i s + s - 1 of the text, s = `sequence`, each labelled by its
/// successor: windows that do not overlap, what follows the last one is left over. A text shorter
/// than one window is a usage error; a held-out one that is shorter counts for none.
NetworkData text_samples(TextDataset text, std::size_t sequence);

}  // namespace residuum
