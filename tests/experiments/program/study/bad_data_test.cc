// Data that a model cannot take, and files that are not what they should be: one line, exit code 2,
// and nothing is left behind.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::string_literals;

const std::string kBadDataStudy = R"(schema = 1
name = "bad"
seeds = 1
[objective]
kind = "mlp"
[workers]
count = 2
batch = 2
[step]
value = 0.1
[budget]
iterations = 1
)";

/// A record of CIFAR-10 in one grey.
std::string record(int label) {
  return std::string(1, static_cast<char>(label)).append(3072, '\x40');
}

class BadData : public testing::Test {
 protected:
  void SetUp() override { RESIDUUM_NEEDS_NETWORKS(); }
  BadData() {
    std::filesystem::create_directories(data_ / "cifar10");
    std::filesystem::create_directories(data_ / "mnist");
    for (const char* batch : {"1", "2", "3", "4", "5"}) {
      write(std::string("cifar10/data_batch_") + batch + ".bin", record(1) + record(2));
    }
    write("cifar10/test_batch.bin", record(3));
    for (const char* part : {"train", "t10k"}) {
      write(std::string("mnist/") + part + "-images-idx3-ubyte",
            "\0\0\x08\x03\0\0\0\x02\0\0\0\x1c\0\0\0\x1c"s + std::string(2 * 28 * 28, '\x40'));
      write(std::string("mnist/") + part + "-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\x02\x01\x02"s);
    }
  }

  void write(const std::string& name, const std::string& content) const {
    folder_.write("data/" + name, content);
  }

  /// The one line that the program answers with, after a warning that the photographs are few.
  std::string answer(const std::string& kind,
                     const std::string& data,
                     const std::string& setting = "seeds=1") const {
    const Finished finished = residuum_program({"run",
                                                folder_.write("s.toml", kBadDataStudy).string(),
                                                "--data-dir",
                                                data_.string(),
                                                "--out",
                                                "out",
                                                "--set",
                                                "objective.kind=" + kind,
                                                "--set",
                                                "objective.data=" + data,
                                                "--set",
                                                setting},
                                               folder_.path());
    EXPECT_EQ(finished.code, 2) << kind << " on " << data << ": " << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
    const std::size_t line =
        finished.err.starts_with("warning: ") ? finished.err.find('\n') + 1 : 0;
    const std::string error = finished.err.substr(line);
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << finished.err;
    return error;
  }

  TemporaryFolder folder_;
  std::filesystem::path data_ = folder_.path() / "data";
};

TEST_F(BadData, OfAnotherShapeIsNamedWithBothShapes) {
  for (const char* photographs : {"resnet20", "vgg16", "alexnet"}) {
    EXPECT_THAT(answer(photographs, "mnist"),
                AllOf(HasSubstr("'mnist' has images of 1x28x28"), HasSubstr("takes 3x32x32")));
  }
  EXPECT_THAT(answer("lenet", "cifar10"),
              AllOf(HasSubstr("'cifar10' has images of 3x32x32"), HasSubstr("takes 1x28x28")));
}

TEST_F(BadData, OfAnotherKindIsAnsweredWithWhatTheModelTakes) {
  folder_.write("a.svm", "1 1:1\n-1 2:1\n");
  for (const char* network : {"resnet20", "vgg16", "alexnet", "lenet", "mlp"}) {
    EXPECT_THAT(answer(network, "a9a"),
                AllOf(HasSubstr("'a9a' holds feature vectors"), HasSubstr("mnist, cifar10")));
    EXPECT_THAT(
        answer(network, "./a.svm"),
        AllOf(HasSubstr("images are taken by name, not from a path"), HasSubstr("mnist, cifar10")));
  }
  EXPECT_THAT(answer("lstm", "cifar10"),
              AllOf(HasSubstr("'cifar10' holds images"), HasSubstr("wikitext-2")));
  EXPECT_THAT(answer("logistic", "wikitext-2"),
              AllOf(HasSubstr("'wikitext-2' holds text"), HasSubstr("a9a")));
  folder_.write("novel.txt", "It was a dark night.\n");
  EXPECT_THAT(answer("logistic", "./novel.txt"), HasSubstr("novel.txt:1:1: label 'It'"));
}

TEST_F(BadData, IsNotReadWhereAResnetHasNoSuchDepth) {
  for (const char* depth : {"9", "2", "0", "116", "-4"}) {
    EXPECT_THAT(answer("resnet", "cifar10", std::string("objective.depth=") + depth),
                HasSubstr("'objective.depth'"));
  }
  EXPECT_THAT(answer("resnet", "cifar10", "objective.depth=9"),
              HasSubstr("must be 6 n + 2 for n blocks in each of three stages (8, 14, 20, "));
}

TEST_F(BadData, WithAClassThatTheModelHasNotIsNamedByItsPlace) {
  write("cifar10/data_batch_3.bin", record(0) + record(10));
  EXPECT_THAT(answer("resnet20", "cifar10"),
              HasSubstr("data_batch_3.bin: label 10 of image 1 (byte 3073); labels are 0 to 9"));
  write("mnist/train-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\x02\x01\x0b"s);
  EXPECT_THAT(answer("lenet", "mnist"),
              HasSubstr("train-labels-idx1-ubyte: label 11 of sample 1 (byte 9)"));
}

TEST_F(BadData, ThatIsCutOffOrEmptyIsNamedWithItsLength) {
  write("cifar10/data_batch_2.bin", record(1) + record(2).substr(1));
  EXPECT_THAT(answer("vgg16", "cifar10"),
              HasSubstr("data_batch_2.bin: 6145 bytes; a CIFAR-10 file is whole records of 3073"));
  write("cifar10/data_batch_2.bin", "");
  EXPECT_THAT(answer("alexnet", "cifar10"), HasSubstr("data_batch_2.bin: 0 bytes"));
  write("mnist/train-images-idx3-ubyte",
        "\0\0\x08\x03\0\0\0\x02\0\0\0\x1c\0\0\0\x1c"s + std::string(28 * 28, '\x40'));
  EXPECT_THAT(answer("lenet", "mnist"),
              HasSubstr("784 bytes follow the header, which says 2 images of 28 x 28"));
  folder_.write("empty.svm", "");
  EXPECT_THAT(answer("logistic", "./empty.svm"), HasSubstr("empty.svm:1:1: no samples"));
}

TEST_F(BadData, ThatIsNoTextOrTooShortIsNamedWithThePlace) {
  folder_.write("empty.txt", "");
  folder_.write("latin.txt", "one line\nthe caf\xe9 is open\n");
  folder_.write("program", "\x7f"s + "ELF\x02\x01\x01\0\0\0"s);
  folder_.write("short.txt", "a b c\n");

  EXPECT_THAT(answer("lstm", "./empty.txt"), HasSubstr("empty.txt: the file is empty"));
  EXPECT_THAT(answer("lstm", "./latin.txt"),
              AllOf(HasSubstr("latin.txt:2: byte 16 of the file, 0xe9"), HasSubstr("iconv")));
  EXPECT_THAT(answer("lstm", "./program"), HasSubstr("program:1: byte 7 of the file, 0x00"));
  EXPECT_THAT(answer("lstm", "./short.txt"),
              AllOf(HasSubstr("'short.txt' has 6 characters to train on; one sequence of 32"),
                    HasSubstr("a smaller 'objective.sequence'")));
}

}  // namespace
}  // namespace residuum
