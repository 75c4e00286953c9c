#pragma once
// Text becomes numbers: this header cuts it into words or characters, numbers them by the
// vocabulary of the training text, and holds a part of the text out.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residuum {

enum class TextLevel { word, character };

/// UnknownWord says whether the vocabulary has the word <unk> in any case, or only if a token of
/// the training text or of the held-out text needs it.
enum class UnknownWord { always, where_needed };

/// TextSource is a text as it was read, before it is cut into tokens.
struct TextSource {
  std::string name;
  std::string train;
  std::optional<std::string> test = std::nullopt;  // absent: the last tenth of `train` is held out
  TextLevel usual_level = TextLevel::character;
  std::string note = {};  // what was left out of the files
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

/// Cuts a text into tokens. Words are separated by white space, and every line ends with the word
/// <eos>, as is usual for WikiText-2; characters are those of UTF-8, Unicode's scalar values (a
/// byte that belongs to none stands for itself). The views point into `text`.
std::vector<std::string_view> tokens_of(std::string_view text, TextLevel level);

/// Returns the different tokens in the order of their first appearance. <unk>, which stands for
/// unknown tokens, is appended if it is not among them. More than 2^18 tokens are a usage error
/// that names the text.
std::vector<std::string> vocabulary_of(std::span<const std::string_view> tokens,
                                       const std::string& name);

/// Returns the number of every token; a token that is not in the vocabulary gets the number of
/// <unk>.
std::vector<std::uint32_t> encode(std::span<const std::string_view> tokens,
                                  std::span<const std::string> vocabulary);

/// Takes the byte order mark and the carriage returns before line feeds out of a text. Returns the
/// parts that were left out, in words; empty for nothing.
std::string take_out_marks(std::string& text);

/// Makes a data set of a text. The vocabulary comes from the training part alone; at the level of
/// words it is kept in `cache_dir` (empty: not kept). A text without a token is a usage error.
TextDataset make_text(const TextSource& source,
                      TextLevel level,
                      const std::filesystem::path& cache_dir,
                      UnknownWord unknown = UnknownWord::always);

// The words of a text are kept between runs, in one file per text. The file is named by the text's
// fingerprint and the number of tokens that are trained on.

/// Returns cache_dir/vocabulary-<print>.txt. The file has a line that says what it is and how many
/// words follow, one word per line, and a hash of all that.
std::filesystem::path vocabulary_file(const std::filesystem::path& cache_dir,
                                      const std::string& print);

/// Returns the words kept under this print; absent if there are none, or if the file was changed.
/// With an empty `cache_dir` nothing is kept.
std::optional<std::vector<std::string>> load_vocabulary(const std::filesystem::path& cache_dir,
                                                        const std::string& print);

/// Replaces the file in one step. If that fails, a note on stderr says so. Words must not contain
/// line breaks.
void store_vocabulary(const std::filesystem::path& cache_dir,
                      const std::string& print,
                      const std::vector<std::string>& words);

// A shard has the tokens of a text as numbers of two bytes, little-endian: as nanoGPT writes
// train.bin and val.bin, without a head, or as FineWeb's shards for modded-nanogpt, behind a head
// of 256 int32: 20240520, version 1, the number of tokens, zeros.

/// Returns the tokens of a shard. Bytes that are no whole number of tokens, or not as many as the
/// head says, no tokens, another version, and a token that is not below `vocabulary` are usage
/// errors that name the file and the place.
std::vector<std::uint32_t> parse_token_shard(std::string_view bytes,
                                             const std::string& name,
                                             std::size_t vocabulary);

/// Makes a data set of a shard, and of another one that is held out; without it the last tenth of
/// the first is. The words of the vocabulary are the numbers of the tokens.
TextDataset read_token_shards(const std::filesystem::path& train,
                              const std::optional<std::filesystem::path>& held_out,
                              std::size_t vocabulary);

}  // namespace residuum
