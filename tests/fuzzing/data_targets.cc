// Data sets, and their caches between runs.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include "core/error.h"
#include "objectives/data/byte_stream.h"
#include "objectives/data/catalogue.h"
#include "objectives/data/image_files.h"
#include "objectives/data/libsvm.h"
#include "objectives/data/npy.h"
#include "objectives/data/text.h"
#include "objectives/facts_cache.h"
#include "tests/fuzzing/inputs.h"
#include "tests/fuzzing/targets.h"

namespace residuum::fuzzing {
namespace {

void expect_rows(const SparseDataset& data) {
  expect(data.row_begin.size() == data.rows() + 1, "a row has a begin and an end");
  expect(data.row_begin.back() == data.values.size(), "the last row ends with the values");
  expect(data.columns.size() == data.values.size(), "a value has a column");
  expect(std::is_sorted(data.row_begin.begin(), data.row_begin.end()), "rows follow each other");
  expect(std::all_of(data.columns.begin(),
                     data.columns.end(),
                     [&](std::uint32_t column) { return column < data.features; }),
         "columns are below the number of features");
}

void expect_two_classes(const SparseDataset& data) {
  expect_rows(data);
  expect(std::all_of(data.labels.begin(),
                     data.labels.end(),
                     [](std::int32_t label) { return label == -1 || label == 1; }),
         "labels are -1 and +1");
}

void expect_images(const ImageDataset& data) {
  expect(data.rows() > 0, "there are images");
  expect(data.pixels.size() == data.rows() * data.features(), "each has all of its pixels");
  expect(std::all_of(data.labels.begin(),
                     data.labels.end(),
                     [&](std::int32_t label) { return label >= 0 && label < data.classes; }),
         "labels are numbers of classes");
}

void expect_tokens(const TextDataset& text) {
  for (const auto* tokens : {&text.tokens, &text.held_out}) {
    expect(std::all_of(tokens->begin(),
                       tokens->end(),
                       [&](std::uint32_t token) { return token < text.vocabulary.size(); }),
           "tokens are numbers of words");
  }
}

}  // namespace

void take_libsvm(std::string_view bytes) { expect_two_classes(parse_libsvm(bytes, "data.svm")); }

void take_targets(std::string_view bytes) {
  const SparseDataset data = parse_libsvm(bytes, "data.svm", {.labels = LabelKind::targets});
  expect_rows(data);
  expect(data.targets.size() == data.rows(), "a row has a target");
  expect(std::all_of(data.targets.begin(),
                     data.targets.end(),
                     [](double target) { return std::isfinite(target); }),
         "targets are finite");
}

void take_classes(std::string_view bytes) {
  const SparseDataset data = parse_libsvm(bytes, "data.svm", {.labels = LabelKind::many_classes});
  expect_rows(data);
  const auto classes = static_cast<std::int32_t>(data.class_labels.size());
  expect(classes >= 2 && std::is_sorted(data.class_labels.begin(), data.class_labels.end()),
         "classes have labels of their own");
  expect(std::all_of(data.labels.begin(),
                     data.labels.end(),
                     [&](std::int32_t label) { return label >= 0 && label < classes; }),
         "labels are numbers of classes");
}

void take_shard(std::string_view bytes) {
  constexpr std::size_t kVocabulary = 1000;
  const auto tokens = parse_token_shard(bytes, "t.bin", kVocabulary);
  expect(!tokens.empty() && 2 * tokens.size() <= bytes.size(), "a token has two bytes");
  expect(std::all_of(tokens.begin(), tokens.end(), [](auto token) { return token < kVocabulary; }),
         "tokens are of the vocabulary");
}

/// An archive of more numbers than this is refused: unpacking would take all the time.
void take_npz(std::string_view bytes) {
  constexpr std::size_t kLimit = std::size_t{1} << 20U;
  std::string before;
  for (const NpzMember& member : read_npz(bytes, "a.npz", kLimit)) {
    expect(member.name != before, "arrays have names of their own");
    expect(member.bytes.size() <= kLimit, "no array is beyond the limit");
    before = member.name;
  }
}

void take_array(std::string_view bytes) {
  const NpyArray array(std::string(bytes), "x.npy");
  const std::size_t count = array.samples() * array.numbers_per_sample();
  for (std::size_t i = 0; i < count; ++i) {
    expect(std::isfinite(array.number(i)), "numbers are finite");
    expect(!array.is_whole() || static_cast<double>(array.whole_number(i)) == array.number(i),
           "a whole number is one number");
  }
}

void take_idx(std::string_view bytes) {
  const auto parts = parts_of(bytes);
  const auto part = [&](std::string_view name) {
    const auto found = parts.find(name);
    return found == parts.end() ? std::string_view() : found->second;
  };
  const auto images = scratch().write("images", part("images"));
  const auto labels = scratch().write("labels", part("labels"));
  expect_images(read_idx(images, labels));
}

/// A packed file of more than some images is refused here: unpacking would take all the time, and
/// `archive` tests it.
void take_cifar10(std::string_view bytes) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 16U;
  static_cast<void>(unpack_bytes(std::string(bytes), "images.bin", kLimit));
  expect_images(read_cifar10(std::array{scratch().write("images.bin", bytes)}));
}

void take_text(std::string_view bytes) {
  const auto source = load_text(scratch().write("text.txt", bytes).string(), scratch().path());
  expect_tokens(make_text(source, TextLevel::character, ""));
  expect_tokens(make_text(source, TextLevel::word, ""));
}

void take_archive(std::string_view bytes) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 20U;
  expect(unpack_bytes(std::string(bytes), "archive", kLimit).size() <=
             std::max<std::uint64_t>(kLimit, bytes.size()),
         "no more than the limit is unpacked");
}

/// A hash that no fuzzer will ever guess is added where there is none.
void take_vocabulary(std::string_view bytes) {
  const std::string print = "x";
  const auto file = vocabulary_file(scratch().path(), print).filename();
  scratch().write(file, bytes);
  if (load_vocabulary(scratch().path(), print)) {
    return;
  }
  scratch().write(file, std::string(bytes) + fingerprint(bytes) + '\n');
  require(load_vocabulary(scratch().path(), print).has_value(), "no vocabulary");
}

void take_facts(std::string_view bytes) {
  constexpr std::size_t kDimension = 2;
  // The revision is that of the kept inputs, whatever the solver's is today.
  const FactsKey key{
      .fingerprint = "0f", .l2 = 0.5, .intercept = false, .scale = "none", .solver = 2};
  scratch().write(facts_file(scratch().path(), key).filename(), bytes);
  const auto minimizer = load_minimizer(scratch().path(), key, kDimension);
  require(minimizer.has_value(), "no facts");
  expect(minimizer->size() == kDimension, "a minimizer has the dimension that was asked for");
}

}  // namespace residuum::fuzzing
