#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "core/error.h"
#include "objectives/torch/samples.h"

namespace residuum {
namespace {

/// Returns the number of windows; the last token of a window needs a successor as its label.
std::size_t windows_in(std::size_t tokens, std::size_t sequence) {
  return tokens == 0 ? 0 : (tokens - 1) / sequence;
}

class TextSamples final : public SampleSource {
 public:
  TextSamples(std::vector<std::uint32_t> tokens, std::size_t sequence)
      : tokens_(std::move(tokens)), sequence_(sequence) {}

  std::size_t samples() const override { return windows_in(tokens_.size(), sequence_); }
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
      const auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(sample * sequence_);
      const auto end = begin + static_cast<std::ptrdiff_t>(sequence_);
      batch.tokens.insert(batch.tokens.end(), begin, end);
      batch.labels.insert(batch.labels.end(), begin + 1, end + 1);
    }
  }

  std::vector<std::uint32_t> tokens_;
  std::size_t sequence_;
};

}  // namespace

NetworkData text_samples(TextDataset text, std::size_t sequence) {
  assert(sequence > 0);
  require(text.tokens.size() > sequence,
          "'{}' has {} {}s to train on; one sequence of {} and its last successor need {}; "
          "take a longer text or a smaller 'objective.sequence'",
          text.name,
          text.tokens.size(),
          text.level == TextLevel::word ? "word" : "character",
          sequence,
          sequence + 1);
  const std::size_t windows = windows_in(text.tokens.size(), sequence);
  NetworkData data{
      .info = {.name = text.name,
               .samples = windows,
               .features = sequence,
               .fingerprint = fingerprint(text),
               .note = text.note + fmt::format("; a sample is one of {} sequences of {}, each from "
                                               "a zero state, its loss the mean over its tokens",
                                               windows,
                                               sequence)},
      .labels = {},
      .shape = {.height = 1,
                .width = sequence,
                .classes = static_cast<int>(text.vocabulary.size())},
      .is_text = true,
      .train = std::make_unique<TextSamples>(std::move(text.tokens), sequence),
      .test = nullptr};
  if (windows_in(text.held_out.size(), sequence) > 0) {
    data.test = std::make_unique<TextSamples>(std::move(text.held_out), sequence);
  }
  return data;
}

}  // namespace residuum
