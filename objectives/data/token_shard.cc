#include "objectives/data/token_shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "objectives/data/byte_stream.h"

namespace residuum {
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
  constexpr std::size_t kHeldOutPart = 10;  // as of a text
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
