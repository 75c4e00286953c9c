#include "objectives/data/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "core/text.h"
#include "objectives/data/dataset.h"
#include "objectives/data/vocabulary_cache.h"

namespace residuum {
namespace {

constexpr std::string_view kEnd = "<eos>";
constexpr std::string_view kUnknown = "<unk>";
constexpr std::string_view kBlank = " \t\r\v\f";
constexpr std::size_t kMostWords = std::size_t{1} << 18U;
constexpr std::size_t kHeldOutPart = 10;

using Tokens = std::vector<std::string_view>;

void add_words(std::string_view line, Tokens& tokens) {
  std::size_t begin = line.find_first_not_of(kBlank);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
    tokens.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlank, end);
  }
  tokens.push_back(kEnd);
}

Tokens words_of(std::string_view text) {
  Tokens tokens;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_words(text.substr(0, end), tokens);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return tokens;
}

Tokens characters_of(std::string_view text) {
  Tokens tokens;
  tokens.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, utf8_character(text, 0));
    tokens.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return tokens;
}

/// True if words can be numbered by this list: each occurs once, and there is one for unknown
/// words.
bool is_vocabulary(const std::vector<std::string>& words) {
  const std::unordered_set<std::string_view> different(words.begin(), words.end());
  return different.size() == words.size() && different.size() <= kMostWords &&
         different.contains(kUnknown);
}

std::vector<std::string> cached_vocabulary(const std::string& text,
                                           std::span<const std::string_view> tokens,
                                           const std::string& name,
                                           const std::filesystem::path& cache_dir) {
  const std::string print = fmt::format("{}-{}", fingerprint(text), tokens.size());
  if (auto known = load_vocabulary(cache_dir, print); known && is_vocabulary(*known)) {
    return std::move(*known);
  }
  auto words = vocabulary_of(tokens, name);
  store_vocabulary(cache_dir, print, words);
  return words;
}

/// Takes <unk> out of the vocabulary if no token has its number. Only as the last word can it be
/// without a token of the training text.
void drop_unused_unknown(TextDataset& text) {
  const auto last = static_cast<std::uint32_t>(text.vocabulary.size() - 1);
  const auto uses_last = [last](const std::vector<std::uint32_t>& tokens) {
    return std::find(tokens.begin(), tokens.end(), last) != tokens.end();
  };
  if (text.vocabulary.back() == kUnknown && !uses_last(text.tokens) && !uses_last(text.held_out)) {
    text.vocabulary.pop_back();
  }
}

const char* plural_of(TextLevel level) { return level == TextLevel::word ? "words" : "characters"; }

}  // namespace

std::vector<std::string_view> tokens_of(std::string_view text, TextLevel level) {
  return level == TextLevel::word ? words_of(text) : characters_of(text);
}

std::vector<std::string> vocabulary_of(std::span<const std::string_view> tokens,
                                       const std::string& name) {
  std::unordered_set<std::string_view> seen;
  std::vector<std::string> words;
  for (const std::string_view token : tokens) {
    if (seen.insert(token).second) {
      words.emplace_back(token);
      require(words.size() < kMostWords,
              "'{}' has more than the {} different words that a vocabulary can hold; replace rare "
              "ones by <unk>, or use level = \"character\"",
              name,
              kMostWords - 1);
    }
  }
  if (!seen.contains(kUnknown)) {
    words.emplace_back(kUnknown);
  }
  return words;
}

std::vector<std::uint32_t> encode(std::span<const std::string_view> tokens,
                                  std::span<const std::string> vocabulary) {
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (const std::string& word : vocabulary) {
    numbers.emplace(word, static_cast<std::uint32_t>(numbers.size()));
  }
  assert(numbers.contains(kUnknown));
  const std::uint32_t unknown = numbers.at(kUnknown);
  std::vector<std::uint32_t> encoded;
  encoded.reserve(tokens.size());
  for (const std::string_view token : tokens) {
    const auto found = numbers.find(token);
    encoded.push_back(found == numbers.end() ? unknown : found->second);
  }
  return encoded;
}

std::string take_out_marks(std::string& text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  std::string left_out;
  if (text.starts_with(kMark)) {
    text.erase(0, kMark.size());
    left_out += "; a byte order mark was left out";
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends_line = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!ends_line) {
      text[kept++] = text[i];
    }
  }
  if (kept < text.size()) {
    left_out += fmt::format("; {} line ends CR LF were read as LF", text.size() - kept);
    text.resize(kept);
  }
  return left_out;
}

TextDataset make_text(const TextSource& source,
                      TextLevel level,
                      const std::filesystem::path& cache_dir,
                      UnknownWord unknown) {
  const Tokens all = tokens_of(source.train, level);
  const std::size_t held_out = source.test ? 0 : all.size() / kHeldOutPart;
  const auto train = std::span(all).first(all.size() - held_out);
  require(!train.empty(), "'{}' has no text to train on", source.name);

  TextDataset text;
  text.name = source.name;
  text.level = level;
  text.vocabulary = level == TextLevel::word
                        ? cached_vocabulary(source.train, train, source.name, cache_dir)
                        : vocabulary_of(train, source.name);
  text.tokens = encode(train, text.vocabulary);
  text.held_out =
      encode(source.test ? std::span<const std::string_view>(tokens_of(*source.test, level))
                         : std::span(all).last(held_out),
             text.vocabulary);
  if (unknown == UnknownWord::where_needed) {
    drop_unused_unknown(text);
  }
  text.note = fmt::format(
      "{} {} to train on, {} held out ({}); {} different ones, in the order of "
      "their first appearance in the training text",
      text.tokens.size(),
      plural_of(level),
      text.held_out.size(),
      source.test ? "a text of its own" : "the last tenth",
      text.vocabulary.size());
  text.note += source.note;
  return text;
}

}  // namespace residuum
