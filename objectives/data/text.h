#pragma once
// Text as numbers: words or characters, the vocabulary of the training text, and which part of a
// text is held out.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residuum {

enum class TextLevel { word, character };

/// A text as it was read, before it is cut into tokens.
struct TextSource {
  std::string name;
  std::string train;
  std::optional<std::string> test = std::nullopt;  // absent: the last tenth of `train` is held out
  TextLevel usual_level = TextLevel::character;
};

/// Tokens are numbers of words in the vocabulary.
struct TextDataset {
  std::string name;
  TextLevel level = TextLevel::character;
  std::vector<std::string> vocabulary;
  std::vector<std::uint32_t> tokens;    // to train on
  std::vector<std::uint32_t> held_out;  // never trained on; may be empty
  std::string note;
};

/// Words are what stands between white space, and every line ends with the word <eos>, as is usual
/// for WikiText-2; characters are bytes. The views point into `text`.
std::vector<std::string_view> tokens_of(std::string_view text, TextLevel level);

/// The different tokens in the order in which they appear first; last, where it is not among them,
/// <unk>, which unknown ones become. More than 2^18 are a usage error that names the text.
std::vector<std::string> vocabulary_of(std::span<const std::string_view> tokens,
                                       const std::string& name);

/// The number of every token; one that the vocabulary does not have gets that of <unk>.
std::vector<std::uint32_t> encode(std::span<const std::string_view> tokens,
                                  std::span<const std::string> vocabulary);

/// The vocabulary comes from the training part alone, and at the level of words from `cache_dir`
/// where it was kept (empty: nowhere). A text without a token is a usage error.
TextDataset make_text(const TextSource& source,
                      TextLevel level,
                      const std::filesystem::path& cache_dir);

}  // namespace residuum
