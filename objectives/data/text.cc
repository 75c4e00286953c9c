#include "objectives/data/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/notes.h"
#include "core/text.h"
#include "objectives/data/byte_stream.h"
#include "objectives/data/dataset.h"

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

namespace {

std::string header(const std::string& print, std::size_t words) {
  return fmt::format("residuum vocabulary 1 {} {}", print, words);
}

/// Returns the lines of `content`, or none if it does not end with the hash of all that precedes
/// it.
std::vector<std::string> checked_lines(std::string_view content) {
  constexpr std::size_t kSeal = 17;  // 16 digits and a line break
  if (content.size() < kSeal) {
    return {};
  }
  std::string_view body = content.substr(0, content.size() - kSeal);
  if (content.substr(body.size()) != fingerprint(body) + '\n') {
    return {};
  }
  std::vector<std::string> lines;
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size() - 1);
    lines.emplace_back(body.substr(0, end));
    body.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

std::filesystem::path vocabulary_file(const std::filesystem::path& cache_dir,
                                      const std::string& print) {
  return cache_dir / fmt::format("vocabulary-{}.txt", print);
}

std::optional<std::vector<std::string>> load_vocabulary(const std::filesystem::path& cache_dir,
                                                        const std::string& print) {
  if (cache_dir.empty()) {
    return std::nullopt;
  }
  const auto path = vocabulary_file(cache_dir, print);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return std::nullopt;  // a pipe would never answer
  }
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> lines = checked_lines(content);
  if (lines.size() < 2 || lines.front() != header(print, lines.size() - 1)) {
    return std::nullopt;
  }
  lines.erase(lines.begin());
  return lines;
}

void store_vocabulary(const std::filesystem::path& cache_dir,
                      const std::string& print,
                      const std::vector<std::string>& words) {
  if (cache_dir.empty()) {
    return;
  }
  std::string body = header(print, words.size()) + '\n';
  for (const std::string& word : words) {
    body += word + '\n';
  }
  const auto path = vocabulary_file(cache_dir, print);
  if (!replace_file(path, body + fingerprint(body) + '\n')) {
    tell(NoteKind::warning,
         "the vocabulary is not kept for later runs: cannot write " + path.string());
  }
}

namespace {

constexpr std::size_t kShardHead = 256 * sizeof(std::int32_t);
constexpr std::int32_t kShardMagic = 20240520;

std::int32_t head_number(std::string_view bytes, std::size_t place) {
  std::int32_t number = 0;
  std::memcpy(&number, bytes.data() + place * sizeof(number), sizeof(number));
  return number;
}

bool has_shard_head(std::string_view bytes) {
  return bytes.size() >= sizeof(std::int32_t) && head_number(bytes, 0) == kShardMagic;
}

/// Returns the bytes of the tokens.
std::string_view tokens_behind_head(std::string_view bytes, const std::string& name) {
  require(bytes.size() >= kShardHead, "{}: ends in its head of {} bytes", name, kShardHead);
  require(head_number(bytes, 1) == 1,
          "{}: version {} of a token shard is not known; version 1 has tokens of two bytes",
          name,
          head_number(bytes, 1));
  const std::int32_t tokens = head_number(bytes, 2);
  const std::string_view rest = bytes.substr(kShardHead);
  require(tokens >= 0 && rest.size() == static_cast<std::size_t>(tokens) * sizeof(std::uint16_t),
          "{}: its head says {} tokens of two bytes, and {} bytes follow",
          name,
          tokens,
          rest.size());
  return rest;
}

}  // namespace

std::vector<std::uint32_t> parse_token_shard(std::string_view bytes,
                                             const std::string& name,
                                             std::size_t vocabulary) {
  const std::string_view numbers = has_shard_head(bytes) ? tokens_behind_head(bytes, name) : bytes;
  require(!numbers.empty(), "{}: has no tokens", name);
  require(numbers.size() % sizeof(std::uint16_t) == 0,
          "{}: {} bytes are no whole number of tokens of two bytes",
          name,
          numbers.size());
  std::vector<std::uint32_t> tokens(numbers.size() / sizeof(std::uint16_t));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::uint16_t token = 0;
    std::memcpy(&token, numbers.data() + i * sizeof(token), sizeof(token));
    require(token < vocabulary,
            "{}: token {} is {}, and 'objective.vocabulary' is {}: tokens are below it",
            name,
            i,
            token,
            vocabulary);
    tokens[i] = token;
  }
  return tokens;
}

TextDataset read_token_shards(const std::filesystem::path& train,
                              const std::optional<std::filesystem::path>& held_out,
                              std::size_t vocabulary) {
  TextDataset text{.name = data_file_name(train),
                   .level = TextLevel::word,
                   .vocabulary = {},
                   .tokens = parse_token_shard(read_bytes(train), train.string(), vocabulary),
                   .held_out = {},
                   .note = {}};
  if (held_out) {
    text.held_out = parse_token_shard(read_bytes(*held_out), held_out->string(), vocabulary);
  } else {
    const auto kept =
        text.tokens.end() - static_cast<std::ptrdiff_t>(text.tokens.size() / kHeldOutPart);
    text.held_out.assign(kept, text.tokens.end());
    text.tokens.erase(kept, text.tokens.end());
  }
  text.vocabulary.reserve(vocabulary);
  for (std::size_t token = 0; token < vocabulary; ++token) {
    text.vocabulary.push_back(fmt::format("{}", token));
  }
  text.note = fmt::format("{} tokens to train on, {} held out ({}); a vocabulary of {}",
                          text.tokens.size(),
                          text.held_out.size(),
                          held_out ? "a shard of its own" : "the last tenth",
                          vocabulary);
  return text;
}

}  // namespace residuum
