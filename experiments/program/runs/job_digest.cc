#include "experiments/program/runs/job_digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>

#include "core/fnv1a.h"
#include "experiments/program/runs/provenance.h"

namespace residuum {
namespace {

/// Neither an argument of a program nor a text of JSON holds this character.
constexpr char kEnd = '\0';

std::string packed(const JobDigest& digest) {
  std::string text;
  for (const auto& part : digest.parts) {
    text.append(part.name).push_back(kEnd);
    text.append(part.text).push_back(kEnd);
  }
  return text;
}

std::string next_text(std::string_view& rest) {
  const auto end = std::min(rest.find(kEnd), rest.size());
  std::string text(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return text;
}

JobDigest unpacked(std::string_view rest) {
  JobDigest digest;
  while (!rest.empty()) {
    std::string name = next_text(rest);
    digest.parts.push_back({.name = std::move(name), .text = next_text(rest)});
  }
  return digest;
}

/// Returns whether all processes give the same number. Collective.
bool all_equal(World& world, std::uint64_t mine) {
  Gathered all;
  world.all_gather(std::as_bytes(std::span(&mine, 1)), all);
  bool equal = true;
  for (std::size_t rank = 1; rank < all.parts(); ++rank) {
    const auto first = all.part(0);
    const auto part = all.part(rank);
    equal = equal && std::equal(first.begin(), first.end(), part.begin(), part.end());
  }
  return equal;
}

std::uint64_t hash_of(std::string_view text) {
  Fnv1a hash;
  hash.add(text);
  return hash.value();
}

/// Copies the root's text to all processes. Collective.
void take_from_root(World& world, std::string& text) {
  const auto own = std::as_bytes(std::span(text));
  Bytes bytes(own.begin(), own.end());
  broadcast(world, 0, bytes);
  text.resize(bytes.size());
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(text)).begin());
}

/// Returns up to 60 characters around a place, with "..." where something is left out.
std::string piece_around(std::string_view text, std::size_t place) {
  constexpr std::size_t kBefore = 24;
  constexpr std::size_t kLength = 60;
  const std::size_t begin = text.size() <= kLength || place <= kBefore ? 0 : place - kBefore;
  const std::string_view piece = text.substr(std::min(begin, text.size()), kLength);
  return fmt::format(
      "{}{}{}", begin == 0 ? "" : "...", piece, begin + piece.size() < text.size() ? "..." : "");
}

std::string value_text(const std::string& text) {
  return text.empty() ? "nothing" : fmt::format("'{}'", text);
}

std::string this_process(const World& world) {
  return fmt::format("rank {} on {}", world.rank(), host_name());
}

}  // namespace

std::optional<DigestDifference> difference(const JobDigest& mine, const JobDigest& first) {
  const auto [own, other] =
      std::mismatch(mine.parts.begin(), mine.parts.end(), first.parts.begin(), first.parts.end());
  if (own == mine.parts.end() && other == first.parts.end()) {
    return std::nullopt;
  }
  if (own == mine.parts.end()) {
    return DigestDifference{.name = other->name, .mine = {}, .first = piece_around(other->text, 0)};
  }
  if (other == first.parts.end() || own->name != other->name) {
    return DigestDifference{.name = own->name, .mine = piece_around(own->text, 0), .first = {}};
  }
  const auto place = static_cast<std::size_t>(
      std::mismatch(own->text.begin(), own->text.end(), other->text.begin(), other->text.end())
          .first -
      own->text.begin());
  return DigestDifference{.name = own->name,
                          .mine = piece_around(own->text, place),
                          .first = piece_around(other->text, place)};
}

void agree(World& world, const JobDigest& digest) {
  std::string text = packed(digest);
  if (all_equal(world, hash_of(text))) {
    return;
  }
  std::string root = this_process(world);
  take_from_root(world, root);
  take_from_root(world, text);
  together(world, [&] {
    if (const auto differs = difference(digest, unpacked(text))) {
      usage_error(
          "{} and {} differ in {}: {} and {}; all processes of a job need the same program, "
          "options and data",
          this_process(world),
          root,
          differs->name,
          value_text(differs->mine),
          value_text(differs->first));
    }
  });
}

void each_together(World& world, const std::function<void()>& action) {
  std::optional<Error> mine;
  try {
    action();
  } catch (const Error& error) {
    mine = error;
  } catch (const std::bad_alloc&) {
    mine = Error(ExitCode::resource, "out of memory");
  }
  const bool alike = all_equal(world, mine ? hash_of(mine->what()) : 0);
  together(world, [&] {
    if (!mine) {
      return;
    }
    // A request to stop reaches the processes one after the other, and is no fault of any.
    const bool names_itself = !alike && mine->code() != ExitCode::stopped;
    throw Error(mine->code(),
                names_itself ? fmt::format("{}: {}", this_process(world), mine->what())
                             : std::string(mine->what()));
  });
}

}  // namespace residuum
