// Fingerprints are FNV-1a, 64 bit (Fowler, Noll, Vo; RFC 9923), over a fixed serialisation: a
// letter for the shape of the data, then every number as eight bytes, low byte first; images as
// bytes.

#include "objectives/data/dataset.h"

#include <fmt/format.h>

#include <bit>
#include <span>

#include "core/fnv1a.h"
#include "objectives/data/text.h"

namespace residuum {
namespace {

class Serialised {
 public:
  void byte(std::uint8_t value) { hash_.add(value); }
  void bytes(std::string_view bytes) { hash_.add(bytes); }

  void word(std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      byte(static_cast<std::uint8_t>(value >> shift));
    }
  }

  void labels(std::span<const std::int32_t> labels) {
    for (const std::int32_t label : labels) {
      word(static_cast<std::uint64_t>(std::int64_t{label}));
    }
  }

  std::string text() const { return fmt::format("{:016x}", hash_.value()); }

 private:
  Fnv1a hash_;
};

}  // namespace

std::string fingerprint(const SparseDataset& data) {
  Serialised hash;
  hash.byte('s');
  hash.word(data.rows());
  hash.word(data.features);
  for (const std::uint64_t begin : data.row_begin) {
    hash.word(begin);
  }
  for (const std::uint32_t column : data.columns) {
    hash.word(column);
  }
  for (const double value : data.values) {
    hash.word(std::bit_cast<std::uint64_t>(value));
  }
  hash.labels(data.labels);
  hash.labels(data.class_labels);
  for (const double target : data.targets) {
    hash.word(std::bit_cast<std::uint64_t>(target));
  }
  return hash.text();
}

std::string fingerprint(const ImageDataset& data) {
  Serialised hash;
  hash.byte('i');
  for (const std::size_t number : {data.rows(), data.channels, data.height, data.width}) {
    hash.word(number);
  }
  hash.word(static_cast<std::uint64_t>(data.classes));
  for (const std::uint8_t pixel : data.pixels) {
    hash.byte(pixel);
  }
  hash.labels(data.labels);
  return hash.text();
}

std::string fingerprint(const TextDataset& text) {
  Serialised hash;
  hash.byte('t');
  hash.word(text.vocabulary.size());
  for (const std::string& word : text.vocabulary) {
    hash.word(word.size());
    hash.bytes(word);
  }
  for (const auto& tokens : {std::span(text.tokens), std::span(text.held_out)}) {
    hash.word(tokens.size());
    for (const std::uint32_t token : tokens) {
      hash.word(token);
    }
  }
  return hash.text();
}

std::string fingerprint_of_both(const std::string& train, const std::string& held_out) {
  return fingerprint(train + '/' + held_out);
}

std::string fingerprint(std::string_view bytes) {
  Serialised hash;
  hash.bytes(bytes);
  return hash.text();
}

}  // namespace residuum
