#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "core/error.h"
#include "objectives/torch/samples.h"

namespace residuum {
namespace {

class TextSamples final : public SampleSource {
 public:
  TextSamples(std::vector<std::uint32_t> tokens, std::size_t sequence, std::size_t stride)
      : tokens_(std::move(tokens)), sequence_(sequence), stride_(stride) {}

  std::size_t samples() const override { return windows_in(tokens_.size(), sequence_, stride_); }
  void assemble(std::span<const std::uint32_t> samples,
                RandomStream* /*augmentation*/,
                Batch<float>& batch) const override {
    fill(samples, batch);
  }
  void assemble(std::span<const std::uint32_t> samples,
                RandomStream* /*augmentation*/,
                Batch<double>& batch) const override {
    fill(samples, batch);
  }

 private:
  template <class Real>
  void fill(std::span<const std::uint32_t> samples, Batch<Real>& batch) const {
    batch.shape = {static_cast<std::int64_t>(sequence_)};
    batch.labels_per_sample = sequence_;
    batch.tokens.clear();
    batch.labels.clear();
    for (const std::uint32_t sample : samples) {
      assert(sample < this->samples());
      const auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(sample * stride_);
      const auto end = begin + static_cast<std::ptrdiff_t>(sequence_);
      batch.tokens.insert(batch.tokens.end(), begin, end);
      batch.labels.insert(batch.labels.end(), begin + 1, end + 1);
    }
  }

  std::vector<std::uint32_t> tokens_;
  std::size_t sequence_;
  std::size_t stride_;
};

std::string cut_text(std::size_t windows, std::size_t sequence, std::size_t stride) {
  return fmt::format(
      "; a sample is one of {} sequences of {}{}, each from a zero state, its loss "
      "the mean over its tokens",
      windows,
      sequence,
      stride == sequence ? "" : fmt::format(", one from every {} tokens on", stride));
}

}  // namespace

std::size_t windows_in(std::size_t tokens, std::size_t sequence, std::size_t stride) {
  return tokens <= sequence ? 0 : (tokens - 1 - sequence) / stride + 1;
}

NetworkData text_samples(TextDataset text, std::size_t sequence, std::size_t stride) {
  assert(sequence > 0);
  stride = stride == 0 ? sequence : stride;
  require(text.tokens.size() > sequence,
          "'{}' has {} {}s to train on; one sequence of {} and its last successor need {}; "
          "take a longer text or a smaller 'objective.sequence'",
          text.name,
          text.tokens.size(),
          text.level == TextLevel::word ? "word" : "character",
          sequence,
          sequence + 1);
  const std::size_t windows = windows_in(text.tokens.size(), sequence, stride);
  NetworkData data{.info = {.name = text.name,
                            .samples = windows,
                            .features = sequence,
                            .fingerprint = fingerprint(text),
                            .note = text.note + cut_text(windows, sequence, stride)},
                   .labels = {},
                   .shape = {.height = 1,
                             .width = sequence,
                             .classes = static_cast<int>(text.vocabulary.size())},
                   .is_text = true,
                   .train = std::make_unique<TextSamples>(std::move(text.tokens), sequence, stride),
                   .test = nullptr};
  if (windows_in(text.held_out.size(), sequence, sequence) > 0) {
    data.test = std::make_unique<TextSamples>(std::move(text.held_out), sequence, sequence);
  }
  return data;
}

}  // namespace residuum
