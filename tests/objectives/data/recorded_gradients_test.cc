// Recordings of gradients: the gradients that are read, and recordings that are refused.

#include "objectives/data/recorded_gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <unistd.h>

#include "core/error.h"
#include "objectives/data/npy.h"
#include "tests/objectives/data/stored_npz.h"

namespace residuum {
namespace {

using ::testing::HasSubstr;

class Recording : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / "residuum-recording-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }

  std::string fault(const std::filesystem::path& path) const {
    try {
      open_recorded_gradients(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "no error";
  }

  std::filesystem::path folder_;
};

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::string singles_npy(const std::vector<std::size_t>& shape, const std::vector<float>& numbers) {
  return npy_header(NpyType::float32, shape) + bytes_of(numbers);
}

/// Two steps of three workers with two entries: 1, 2, ..., 12.
std::string twelve() { return singles_npy({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}); }

std::vector<double> gradient(const RecordedGradients& recording, std::size_t t, std::size_t w) {
  std::vector<double> g(recording.shape().dimension);
  recording.read(t, w, g);
  return g;
}

using Doubles = std::vector<double>;

TEST_F(Recording, GivesTheGradientOfStepAndWorker) {
  const auto recording = open_recorded_gradients(write("g.npy", twelve()));

  EXPECT_EQ(recording->shape().steps, 2U);
  EXPECT_EQ(recording->shape().workers, 3U);
  EXPECT_EQ(recording->shape().dimension, 2U);
  EXPECT_EQ(gradient(*recording, 0, 0), (Doubles{1, 2}));
  EXPECT_EQ(gradient(*recording, 0, 2), (Doubles{5, 6}));
  EXPECT_EQ(gradient(*recording, 1, 1), (Doubles{9, 10}));
  std::vector<float> narrow(2);
  recording->read(1, 2, narrow);
  EXPECT_EQ(narrow, (std::vector<float>{11, 12}));
}

TEST_F(Recording, ReadsHalfAndDoublePrecision) {
  const std::vector<std::uint16_t> halves{0x3c00, 0xc000};  // 1, -2
  const auto half = open_recorded_gradients(write(
      "h.npy", npy_header(NpyType::float16, std::vector<std::size_t>{1, 1, 2}) + bytes_of(halves)));
  const auto wide = open_recorded_gradients(
      write("d.npy",
            npy_header(NpyType::float64, std::vector<std::size_t>{1, 1, 2}) +
                bytes_of(Doubles{0.1, 1e300})));

  EXPECT_EQ(gradient(*half, 0, 0), (Doubles{1, -2}));
  EXPECT_EQ(gradient(*wide, 0, 0), (Doubles{0.1, 1e300}));
}

/// A head with fortran_order True.
std::string by_column(const std::vector<std::size_t>& shape, const std::string& numbers) {
  std::string head = npy_header(NpyType::float32, shape);
  return head.replace(head.find("False"), 5, "True ") + numbers;
}

// 1, 2, ..., 12 as numpy.asfortranarray(...) writes (2, 3, 2): the step changes fastest.
TEST_F(Recording, InFortranOrderIsTheSameRecording) {
  const std::vector<float> numbers{1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12};
  const auto other =
      open_recorded_gradients(write("f.npy", by_column({2, 3, 2}, bytes_of(numbers))));
  const auto recording = open_recorded_gradients(write("c.npy", twelve()));

  for (std::size_t t = 0; t < 2; ++t) {
    for (std::size_t w = 0; w < 3; ++w) {
      EXPECT_EQ(gradient(*other, t, w), gradient(*recording, t, w)) << t << " " << w;
    }
  }
  EXPECT_EQ(other->fingerprint(), recording->fingerprint());
}

TEST_F(Recording, OfOneFileForEachStepMayBeInEitherOrder) {
  write("steps/1.npy", singles_npy({2, 3}, {1, 2, 3, 4, 5, 6}));
  write("steps/2.npy", by_column({2, 3}, bytes_of(std::vector<float>{1, 4, 2, 5, 3, 6})));

  const auto recording = open_recorded_gradients(folder_ / "steps");

  for (std::size_t t = 0; t < 2; ++t) {
    EXPECT_EQ(gradient(*recording, t, 0), (Doubles{1, 2, 3})) << t;
    EXPECT_EQ(gradient(*recording, t, 1), (Doubles{4, 5, 6})) << t;
  }
}

TEST_F(Recording, InFortranOrderLongerThanWhatIsReadAtOnceIsWhole) {
  const std::size_t d = 100'001;
  std::vector<float> numbers(3 * d);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i);
  }
  const auto recording =
      open_recorded_gradients(write("long.npy", by_column({1, 3, d}, bytes_of(numbers))));

  const auto second = gradient(*recording, 0, 1);
  for (std::size_t i = 0; i < d; ++i) {
    ASSERT_EQ(second[i], static_cast<double>(3 * i + 1)) << i;
  }
}

TEST_F(Recording, HasNoFilesWhoseNamesBeginWithADot) {
  write("steps/g1.npy", singles_npy({1, 2}, {1, 2}));
  write("steps/._g1.npy", std::string("\x00\x05\x16\x07", 4));  // AppleDouble, as macOS leaves it

  EXPECT_EQ(open_recorded_gradients(folder_ / "steps")->shape().steps, 1U);
}

TEST_F(Recording, OfOneFileForEachStepIsInTheOrderOfTheirNumbers) {
  write("steps/grad-10.npy", singles_npy({2, 1}, {3, 4}));
  write("steps/grad-9.npy", singles_npy({2, 1}, {1, 2}));
  write("steps/grad-11.npy", singles_npy({2, 1}, {5, 6}));
  write("steps/notes.txt", "not a step");

  const auto recording = open_recorded_gradients(folder_ / "steps");

  EXPECT_EQ(recording->shape().steps, 3U);
  EXPECT_EQ(gradient(*recording, 0, 1), (Doubles{2}));
  EXPECT_EQ(gradient(*recording, 1, 0), (Doubles{3}));
  EXPECT_EQ(gradient(*recording, 2, 1), (Doubles{6}));
}

TEST_F(Recording, LongerThanWhatIsReadAtOnceIsWhole) {
  const std::size_t d = 200'001;
  std::vector<float> numbers(2 * d);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i);
  }
  const auto recording =
      open_recorded_gradients(write("long.npy", singles_npy({1, 2, d}, numbers)));

  const auto second = gradient(*recording, 0, 1);
  for (std::size_t i = 0; i < d; ++i) {
    ASSERT_EQ(second[i], static_cast<double>(static_cast<float>(d + i))) << i;
  }
}

TEST_F(Recording, ANumberThatIsNotFiniteIsNamedByStepWorkerAndIndex) {
  EXPECT_THAT(fault(write("n.npy", singles_npy({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, NAN}))),
              HasSubstr("n.npy: the gradient of step 1, worker 1 is nan at index 1"));
  write("s/1.npy", singles_npy({1, 2}, {1, 2}));
  write("s/2.npy", singles_npy({1, 2}, {-INFINITY, 2}));
  EXPECT_THAT(fault(folder_ / "s"),
              HasSubstr("2.npy: the gradient of step 2, worker 0 is -inf at index 0"));
}

TEST_F(Recording, OtherFilesAreRefusedInOneLine) {
  const std::string numbers = bytes_of(std::vector<float>{1, 2, 3, 4});
  const auto with_head = [&](const std::string& type, const char* order, const char* shape) {
    std::string head =
        "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
    head.resize(117, ' ');
    head += '\n';
    return std::string("\x93NUMPY\x01\x00v\x00", 10) + head + numbers;
  };
  const std::vector<std::pair<std::string, std::string>> cases{
      {with_head("'<f4'", "False", "(2, 2)"), "shape (2, 2) is not (T, P, d)"},
      {with_head("'<f4'", "False", "(4,)"), "shape (4,) is not (T, P, d)"},
      {with_head("'<f4'", "False", "(1, 1, 1, 4)"), "is not (T, P, d)"},
      {with_head("'<f4'", "False", "(0, 2, 2)"), "16 bytes of numbers do not make shape"},
      {with_head("'<f4'", "False", "(1, 2, 3)"), "do not make shape (1, 2, 3)"},
      {with_head("'<f4'", "False", "(9999999999, 9999999999, 4)"), "do not make shape"},
      {with_head("'>f4'", "False", "(1, 1, 4)"), "type '>f4' is not supported"},
      {with_head("'|O'", "False", "(1, 1, 4)"), "type '|O' is not supported"},
      {with_head("'<i4'", "False", "(1, 1, 4)"), "type '<i4' is not supported"},
      {with_head("[('a', '<f4')]", "False", "(1, 1, 4)"), "is not supported"},
      {"PK\x03\x04", "no .npy file"},
      {"", "no .npy file"}};
  for (const auto& [bytes, message] : cases) {
    EXPECT_THAT(fault(write("bad.npy", bytes)), HasSubstr("bad.npy: "));
    EXPECT_THAT(fault(write("bad.npy", bytes)), HasSubstr(message));
  }
  EXPECT_THAT(fault(folder_ / "missing.npy"), HasSubstr("No such file or directory"));
  EXPECT_THAT(fault("/dev/zero"), HasSubstr("is no file of numbers"));
}

TEST_F(Recording, CutOffAnywhereIsRefused) {
  const std::string whole = twelve();

  for (std::size_t kept = 0; kept < whole.size(); ++kept) {
    EXPECT_NE(fault(write("cut.npy", whole.substr(0, kept))), "no error") << kept;
  }
  EXPECT_NE(fault(write("cut.npy", whole + 'x')), "no error");
}

TEST_F(Recording, CutOffWhileItIsReadIsAMessage) {
  const auto file = write("g.npy", twelve());
  const auto recording = open_recorded_gradients(file);
  std::filesystem::resize_file(file, 140);

  try {
    gradient(*recording, 1, 0);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("g.npy: has 140 bytes in place of 176 since it was opened: the file was "
                          "cut off, or written to; start again"));
  }
}

TEST_F(Recording, ReplacedWhileItIsInUseIsAMessage) {
  const std::string step = singles_npy({3, 2}, {1, 2, 3, 4, 5, 6});
  for (const bool is_folder : {false, true}) {
    const auto file = is_folder ? write("f/step-0.npy", step) : write("g.npy", twelve());
    const auto recording = open_recorded_gradients(is_folder ? file.parent_path() : file);
    gradient(*recording, 0, 0);
    std::filesystem::rename(write("new.npy", is_folder ? step : twelve()), file);

    try {
      gradient(*recording, 0, 0);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(),
                  HasSubstr(".npy: was replaced by another file while it was in use; start again"));
    }
  }
}

TEST_F(Recording, OfFilesThatDoNotFitEachOtherIsRefused) {
  write("empty/readme.txt", "");
  EXPECT_THAT(fault(folder_ / "empty"), HasSubstr("has no .npy files"));
  write("unnamed/a.npy", singles_npy({1, 2}, {1, 2}));
  EXPECT_THAT(fault(folder_ / "unnamed"), HasSubstr("has no step number in its name"));
  write("twice/1.npy", singles_npy({1, 2}, {1, 2}));
  write("twice/01.npy", singles_npy({1, 2}, {1, 2}));
  EXPECT_THAT(fault(folder_ / "twice"), HasSubstr("are both step 1"));
  write("sizes/1.npy", singles_npy({1, 2}, {1, 2}));
  write("sizes/2.npy", singles_npy({2, 1}, {1, 2}));
  EXPECT_THAT(fault(folder_ / "sizes"), HasSubstr("2.npy: has 2 workers of 1 numbers, but "));
  write("types/1.npy", singles_npy({1, 2}, {1, 2}));
  write("types/2.npy",
        npy_header(NpyType::float64, std::vector<std::size_t>{1, 2}) + bytes_of(Doubles{1, 2}));
  EXPECT_THAT(fault(folder_ / "types"), HasSubstr("another type of numbers"));
}

TEST_F(Recording, OfWhichAStepIsMissingIsRefused) {
  for (const char* name : {"s098.npy", "s099.npy", "s101.npy"}) {
    write(std::string("gap/") + name, singles_npy({1, 2}, {1, 2}));
  }

  EXPECT_EQ(fault(folder_ / "gap"),
            (folder_ / "gap/s100.npy").string() + ": is missing, though there is s101.npy");
  write("gap/s100.npy", singles_npy({1, 2}, {1, 2}));
  EXPECT_EQ(fault(folder_ / "gap"), "no error");
}

TEST_F(Recording, HasAFingerprintOfItsNumbers) {
  const auto one = open_recorded_gradients(write("a.npy", singles_npy({1, 1, 2}, {1, 2})));
  const auto same = open_recorded_gradients(write("b.npy", singles_npy({1, 1, 2}, {1, 2})));
  const auto other = open_recorded_gradients(write("c.npy", singles_npy({1, 1, 2}, {1, 3})));
  const auto reshaped = open_recorded_gradients(write("d.npy", singles_npy({1, 2, 1}, {1, 2})));

  EXPECT_EQ(one->fingerprint().size(), 16U);
  EXPECT_EQ(one->fingerprint(), same->fingerprint());
  EXPECT_NE(one->fingerprint(), other->fingerprint());
  EXPECT_NE(one->fingerprint(), reshaped->fingerprint());
}

using ::testing::ElementsAre;

// Two steps of two workers: a tensor `a` of 1 x 2 entries, and one entry `b`.
TEST_F(Recording, OfAnArchiveHasItsArraysAsLayers) {
  const std::string both = stored_npz({{"a", singles_npy({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                                       {"b", singles_npy({2, 2}, {10, 20, 30, 40})}});
  const std::string first =
      stored_npz({{"a", singles_npy({2, 1, 2}, {1, 2, 3, 4})}, {"b", singles_npy({2}, {10, 20})}});
  const std::string second =
      stored_npz({{"a", singles_npy({2, 1, 2}, {5, 6, 7, 8})}, {"b", singles_npy({2}, {30, 40})}});
  write("steps/step-7.npz", first);
  write("steps/step-8.npz", second);

  for (const auto& path : {write("g.npz", both), folder_ / "steps"}) {
    const auto recording = open_recorded_gradients(path);
    EXPECT_EQ(recording->shape().steps, 2U);
    EXPECT_EQ(recording->shape().workers, 2U);
    EXPECT_EQ(recording->shape().dimension, 3U);
    EXPECT_EQ(gradient(*recording, 0, 0), (Doubles{1, 2, 10}));
    EXPECT_EQ(gradient(*recording, 1, 0), (Doubles{5, 6, 30}));
    EXPECT_EQ(gradient(*recording, 0, 1), (Doubles{3, 4, 20}));
    EXPECT_EQ(gradient(*recording, 1, 1), (Doubles{7, 8, 40}));
    const auto layers = recording->layers();
    ASSERT_EQ(layers.size(), 2U);
    EXPECT_EQ(layers[0].name, "a");
    EXPECT_THAT(layers[0].shape, ElementsAre(1, 2));
    EXPECT_EQ(layers[1].name, "b");
    EXPECT_EQ(layers[1].offset, 2U);
  }
}

TEST_F(Recording, OfArchivesThatDoNotFitIsRefused) {
  const auto of = [](const std::string& name, const std::vector<std::size_t>& shape) {
    std::size_t count = 1;
    for (const std::size_t size : shape) {
      count *= size;
    }
    return stored_npz({{name, singles_npy(shape, std::vector<float>(count, 1))}});
  };
  EXPECT_THAT(fault(write("g.npz", of("a", {3}))),
              HasSubstr("array 'a': shape (3) is not (T, P, ...) of floating-point numbers"));
  const std::string unequal =
      stored_npz({{"a", singles_npy({1, 2, 1}, {1, 2})}, {"b", singles_npy({1, 1, 1}, {1})}});
  EXPECT_THAT(fault(write("g.npz", unequal)),
              HasSubstr("array 'b': has 1 steps and 1 workers, and array 'a' has 1 and 2"));
  write("steps/0.npz", of("a", {2, 3}));
  write("steps/1.npz", of("b", {2, 3}));
  EXPECT_THAT(fault(folder_ / "steps"), HasSubstr("1.npz: has other workers or arrays than"));
  write("mixed/0.npz", of("a", {2, 3}));
  write("mixed/1.npy", singles_npy({1, 1}, {1}));
  EXPECT_THAT(fault(folder_ / "mixed"), HasSubstr("are of two kinds"));
  EXPECT_THAT(fault(write("g.npz", stored_npz({{"a", singles_npy({1, 1, 1}, {NAN})}}))),
              HasSubstr("all numbers must be finite"));
}

TEST_F(Recording, OfAnArchiveThatIsReplacedIsNoticed) {
  const auto path = write("g.npz", stored_npz({{"a", singles_npy({1, 1, 2}, {1, 2})}}));
  const auto recording = open_recorded_gradients(path);
  std::filesystem::remove(path);
  write("g.npz", stored_npz({{"a", singles_npy({1, 1, 2}, {1, 3})}}));
  EXPECT_THROW(gradient(*recording, 0, 0), Error);
}

}  // namespace
}  // namespace residuum
