#pragma once
// A shard has the tokens of a text as numbers of two bytes, little-endian: as nanoGPT writes
// train.bin and val.bin, without a head, or as FineWeb's shards for modded-nanogpt, behind a head
// of 256 int32: 20240520, version 1, the number of tokens, zeros.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objectives/data/text.h"

namespace residuum {

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
