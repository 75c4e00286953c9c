#pragma once
// Networks take their data sets in this form. This header names no type of libtorch.

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

/// ImageData has training images and, if there are any, held-out ones.
struct ImageData {
  ImageDataset train;
  std::optional<ImageDataset> test;
};

ImageShape shape_of(const ImageDataset& images);

/// Makes samples of images. Pixels are normalised by the moments of the training images; with
/// `augment`, batches are varied by crops of the image with a border of 4 and by mirroring, as He
/// et al. (2016) do. Images that do not have the `wanted` shape, and labels that are no class, are
/// usage errors.
NetworkData image_samples(ImageData data, const ImageShape& wanted, bool augment = false);

/// Makes samples of a text: sample i is the s = `sequence` tokens from the token i * `stride` on,
/// each labelled by its successor; a stride of 0 is s, so that windows do not overlap. Those of the
/// held-out text never do. Tokens after the last window are unused. A training text shorter than
/// one window is a usage error; a held-out text that is shorter is ignored.
NetworkData text_samples(TextDataset text, std::size_t sequence, std::size_t stride = 0);

/// Returns the number of those windows; the last token of a window needs a successor as its label.
std::size_t windows_in(std::size_t tokens, std::size_t sequence, std::size_t stride);

}  // namespace residuum
