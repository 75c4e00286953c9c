#include "objectives/torch/texts.h"

#include <fmt/format.h>

#include <cassert>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "objectives/data/catalogue.h"
#include "objectives/data/synthetic.h"
#include "objectives/data/text.h"
#include "objectives/torch/network_options.h"
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

namespace {

constexpr const char* kSyntheticText = "synthetic-text";
constexpr std::int64_t kDefaultCharacters = 20000;
constexpr std::int64_t kMostCharacters = 100'000'000;
constexpr std::int64_t kTrainingPerHeldOut = 5;

TextSource synthetic_text(const Section& section) {
  const std::int64_t characters = section.integer("characters", kDefaultCharacters);
  require(characters >= 1 && characters <= kMostCharacters,
          "{} must lie in 1..{}, got {}",
          section.where("characters"),
          kMostCharacters,
          characters);
  const std::int64_t seed = section.integer("data_seed", 1);
  require(seed >= 0, "{} must not be negative, got {}", section.where("data_seed"), seed);
  MarkovModel model{.characters = static_cast<std::size_t>(characters),
                    .seed = static_cast<std::uint64_t>(seed)};
  TextSource text{.name = kSyntheticText, .train = make_markov_text(model)};
  model.characters = static_cast<std::size_t>(characters / kTrainingPerHeldOut);
  model.part = Part::held_out;
  text.test = make_markov_text(model);
  return text;
}

TextLevel read_level(const Section& section, TextLevel usual) {
  const char* const fallback = usual == TextLevel::word ? "word" : "character";
  return section.choice("level", {"word", "character"}, fallback) == "word" ? TextLevel::word
                                                                            : TextLevel::character;
}

std::size_t stride_from(const Section& section, std::int64_t sequence) {
  return static_cast<std::size_t>(read_size(section, "stride", sequence, sequence));
}

/// Keeps the text of the first `count` samples; 0 keeps all.
void keep_first(std::int64_t count,
                const Section& section,
                std::size_t sequence,
                std::size_t stride,
                TextDataset& text) {
  const std::size_t windows = windows_in(text.tokens.size(), sequence, stride);
  if (windows == 0) {
    return;  // too short for any count; text_samples reports it
  }
  require(count >= 0 && static_cast<std::uint64_t>(count) <= windows,
          "{} must be between 1 and the {} sequences of {} in '{}', or 0 for all, got {}",
          section.where("train_samples"),
          windows,
          sequence,
          text.name,
          count);
  const auto kept = static_cast<std::size_t>(count);
  if (kept == 0 || kept == windows) {
    return;
  }
  text.note += fmt::format("; the first {} of {} sequences", kept, windows);
  text.tokens.resize((kept - 1) * stride + sequence + 1);
}

/// Reads the keys vocabulary and test_data of token shards.
TextDataset load_shards(const Section& section,
                        const ObjectiveContext& context,
                        const std::string& name) {
  constexpr std::int64_t kMostTokens = 65536;  // that two bytes tell apart
  const std::int64_t vocabulary = section.integer("vocabulary");
  require(vocabulary >= 1 && vocabulary <= kMostTokens,
          "{} must lie in 1..{}, got {}",
          section.where("vocabulary"),
          kMostTokens,
          vocabulary);
  std::optional<std::filesystem::path> held_out;
  if (section.has("test_data")) {
    held_out = context.file_of(section.text("test_data"));
  }
  return read_token_shards(name, held_out, static_cast<std::size_t>(vocabulary));
}

TextDataset load_words(const Section& section,
                       const ObjectiveContext& context,
                       const std::string& name,
                       UnknownWord unknown) {
  if (name.ends_with(".bin")) {
    return load_shards(section, context, name);
  }
  for (const char* const key : {"vocabulary", "test_data"}) {
    require(!section.has(key),
            "{}: a text has it of its own; it is for a .bin of tokens",
            section.where(key));
  }
  const TextSource source =
      name == kSyntheticText ? synthetic_text(section) : load_text(name, context.data_dir);
  const TextLevel level = read_level(section, source.usual_level);
  return make_text(source, level, context.cache_dir, unknown);
}

}  // namespace

NetworkData load_text_data(const Section& section,
                           const ObjectiveContext& context,
                           std::size_t sequence,
                           UnknownWord unknown) {
  const std::string name = data_in_study(section.text("data", kSyntheticText), context.study_dir);
  TextDataset text = load_words(section, context, name, unknown);
  const std::size_t stride = stride_from(section, static_cast<std::int64_t>(sequence));
  keep_first(section.integer("train_samples", 0), section, sequence, stride, text);
  return text_samples(std::move(text), sequence, stride);
}

}  // namespace residuum
