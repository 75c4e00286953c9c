// Vectors that a user brings, as .csv and .npy.

#include "experiments/program/commands/vectors_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tests/experiments/support.h"
#include "tests/objectives/data/stored_npz.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using Vectors = std::vector<std::vector<double>>;

template <class Real>
std::string npy(const std::string& type,
                const std::string& shape,
                const std::vector<Real>& numbers,
                const std::string& fortran = "False") {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  header.resize(118, ' ');
  header.back() = '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  bytes += header;
  for (const std::byte byte : std::as_bytes(std::span(numbers))) {
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

class VectorsFile : public testing::Test {
 protected:
  Vectors read(const std::string& name, const std::string& content) const {
    return read_vectors(folder_.write(name, content));
  }
  Vectors read_member(const std::string& content, const std::string& member) const {
    return read_vectors(folder_.write("a.npz", content), std::nullopt, member);
  }
  std::string error(const std::string& name, const std::string& content) const {
    try {
      read(name, content);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::usage);
      return e.what();
    }
    return "no error";
  }
  std::string error_of_folder(const std::string& name) const {
    try {
      read_vectors(folder_.path() / name);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::usage);
      return e.what();
    }
    return "no error";
  }
  TemporaryFolder folder_;
};

TEST_F(VectorsFile, ReadsCsvRows) {
  EXPECT_EQ(read("a.csv", "1.01,1\n-1,-1.01\n"), (Vectors{{1.01, 1}, {-1, -1.01}}));
  EXPECT_EQ(read("a.csv", " 1 , +2\r\n\n3,4e0"), (Vectors{{1, 2}, {3, 4}}));
}

TEST_F(VectorsFile, ReadsNpyOfBothPrecisionsAndOrders) {
  const Vectors expected{{1, 2, 3}, {4, 5, 6}};

  EXPECT_EQ(read("a.npy", npy<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6})), expected);
  EXPECT_EQ(read("a.npy", npy<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6})), expected);
  EXPECT_EQ(read("a.npy", npy<double>("<f8", "(2, 3)", {1, 4, 2, 5, 3, 6}, "True")), expected);
}

TEST_F(VectorsFile, ReadsHalfPrecision) {
  const std::vector<std::uint16_t> halves{0x3c00, 0xc000};  // 1, -2

  EXPECT_EQ(read("a.npy", npy("<f2", "(1, 2)", halves)), (Vectors{{1, -2}}));
}

/// A file of this head and these numbers.
template <class Number>
std::string safetensors(const std::string& head, const std::vector<Number>& numbers) {
  const std::uint64_t size = head.size();
  std::string bytes(sizeof(size), '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  bytes += head;
  for (const std::byte byte : std::as_bytes(std::span(numbers))) {
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

constexpr const char* kTwoTensors =
    R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},)"
    R"("b":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}})";

TEST_F(VectorsFile, ReadsTensorsWhoseFirstDimensionIsThatOfTheWorkers) {
  const std::string head = R"({"w":{"dtype":"F32","shape":[2,1,2],"data_offsets":[8,24]},)"
                           R"("b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const auto file = folder_.write("a.safetensors", safetensors<float>(head, {1, 2, 3, 4, 5, 6}));

  EXPECT_EQ(read_vectors(file), (Vectors{{1, 3, 4}, {2, 5, 6}}));
  EXPECT_EQ(read_vectors(file, std::nullopt, "w"), (Vectors{{3, 4}, {5, 6}}));
  EXPECT_THAT(error("a.safetensors", "x"), HasSubstr("it ends in its head"));
  EXPECT_THAT(error("a.safetensors", safetensors<float>(kTwoTensors, {7, 8, 9})),
              HasSubstr("has 2 rows, and array 'b' has 1"));
  EXPECT_THAT(
      error("a.safetensors",
            safetensors<float>(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", {1})),
      HasSubstr("has no rows"));
}

// Tensors are taken in the order in which they lie in the file: b, then w.
TEST_F(VectorsFile, OfAFolderAreThoseOfItsFilesByNumber) {
  const auto folder = folder_.path() / "workers";
  std::filesystem::create_directory(folder);
  folder_.write("workers/rank10.safetensors", safetensors<float>(kTwoTensors, {7, 8, 9}));
  folder_.write("workers/rank9.npy", npy<double>("<f8", "(3, 1)", {4, 5, 6}));
  folder_.write("workers/rank2.safetensors",
                safetensors<std::uint16_t>(  // 1, -2, 0.5 as bfloat16
                    R"({"a":{"dtype":"BF16","shape":[3],"data_offsets":[0,6]}})",
                    {0x3f80, 0xc000, 0x3f00}));
  folder_.write("workers/._rank9.npy", "of macOS");
  folder_.write("workers/readme.txt", "no array");

  EXPECT_EQ(read_vectors(folder), (Vectors{{1, -2, 0.5}, {4, 5, 6}, {7, 8, 9}}));

  const auto complaint = [&](const std::string& name, const std::string& content) {
    const auto file = folder_.write("workers/" + name, content);
    std::string text = "no error";
    try {
      read_vectors(folder);
    } catch (const Error& wrong) {
      text = wrong.what();
    }
    std::filesystem::remove(file);
    return text;
  };
  EXPECT_THAT(complaint("r09.npy", npy<double>("<f8", "(3,)", {4, 5, 6})),
              HasSubstr("are both worker 9"));
  EXPECT_THAT(complaint("mean.npy", npy<double>("<f8", "(3,)", {4, 5, 6})),
              HasSubstr("mean.npy: has no number of a worker in its name"));
  EXPECT_THAT(complaint("r3.npy", npy<double>("<f8", "(2,)", {4, 5})),
              HasSubstr("r3.npy: has 2 numbers, and "));
  EXPECT_THAT(complaint("r3.npy", npy<double>("<f8", "(3,)", {4, std::nan(""), 5})),
              HasSubstr("r3.npy: entry 1 is not finite"));
  EXPECT_THAT(complaint("r3.npy", npy<double>("<f8", "(3, 1)", {1, 2, 3}, "True")),
              HasSubstr("is in Fortran order"));
}

TEST_F(VectorsFile, OfSafetensorsThatAreWrongAreRefusedByPlace) {
  const std::vector<float> numbers{1, 2, 3};
  std::filesystem::create_directory(folder_.path() / "w");
  const auto fault = [&](const std::string& head) {
    folder_.write("w/0.safetensors", safetensors(head, numbers));
    return error_of_folder("w");
  };
  EXPECT_EQ(fault(kTwoTensors), "no error");
  for (const auto& [head, part] : std::vector<std::pair<std::string, std::string>>{
           {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
            R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
            "tensor 'b' begins at byte 4 of the numbers, and 8 was expected"},
           {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
            "tensor 'a' begins at byte 4 of the numbers, and 0 was expected"},
           {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
            "4 bytes of numbers belong to no tensor"},
           {R"({"a":{"dtype":"I8","shape":[12],"data_offsets":[0,12]}})",
            "tensor 'a' is of type 'I8'; save float16, bfloat16, float32 or float64"},
           {R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,12]}})",
            "tensor 'a' has 12 bytes, which do not make its shape"},
           {R"({"a":{"dtype":"F32","shape":[4611686018427387907],"data_offsets":[0,12]}})",
            "which do not make its shape"},
           {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,16]}})", "does not lie within"},
           {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[-4,12]}})", "does not lie within"},
           {R"({"a":3})", "tensor 'a' is of type 'none'"},
           {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
            R"("a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})",
            "there are two tensors 'a'"},
           {"[]", "its head is no JSON"}}) {
    EXPECT_THAT(fault(head), HasSubstr(part)) << head;
  }
  std::string long_head = safetensors(kTwoTensors, numbers);
  long_head[7] = 0x10;  // 2^60 bytes
  folder_.write("w/0.safetensors", long_head);
  EXPECT_THAT(error_of_folder("w"), HasSubstr("its head is said to have 11529215046068"));
  folder_.write("w/0.safetensors", "1234");
  EXPECT_THAT(error_of_folder("w"), HasSubstr("it ends in its head"));
}

TEST_F(VectorsFile, OfArchivesAreRefusedWithWhatConvertsThem) {
  EXPECT_THAT(error("a.pt", "PK"), HasSubstr("torch.load('a.pt', weights_only=True).numpy())"));
}

TEST_F(VectorsFile, OfOtherToolsAreRefusedWithTheCure) {
  for (const auto& [content, part] : std::vector<std::pair<std::string, std::string>>{
           {"0,1,2\n1.0,2.0,3.0\n", "a.csv:1: the first row counts the columns"},
           {"\r\n0,1\r\n5,6\r\n", "a.csv:2: the first row counts the columns"},
           {",0,1\n0,1.0,2.0\n", "a.csv:1: the first row ',0,1' has the names of columns"},
           {"w0,w1\n1,2\n", "the first row 'w0,w1' has the names of columns; delete it"},
           {"gradient\n1\n", "the first row 'gradient' has the names of columns"},
           {"1;2\n3;4\n", "a.csv:1: the values are parted by ';'; write commas"},
           {"1,5;2,5\n", "a.csv:1: the values are parted by ';'; write commas"},
           {"1\t2\n", "a.csv:1: the values are parted by tabs; write commas"},
           {"1e0 2e0\n", "a.csv:1: the values are parted by blanks; write commas"},
           {"\xef\xbb\xbf"
            "1,2\n",
            "a.csv:1:1: begins with a byte order mark; save it as UTF-8 without one"},
           {std::string("\xff\xfe"
                        "1\0,\0"
                        "2\0",
                        8),
            "begins with a byte order mark"}}) {
    EXPECT_THAT(error("a.csv", content), HasSubstr(part)) << content;
  }
  EXPECT_THAT(
      error("a.csv", "1,2,3\n0.5,1.5,2.5\n1e-3,2,3\n"),
      HasSubstr("a.csv: the first row counts the columns from 1; delete it, or write '1.0'"));
  EXPECT_THAT(error("a.csv", "0,1.5,2.5\n1,4,5.5\n"),
              HasSubstr("a.csv: the first column counts the rows; delete it"));
  EXPECT_EQ(read("a.csv", "1,2,3\n4,5,6\n"), (Vectors{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(read("a.csv", "0,1.5\n2,2.5\n"), (Vectors{{0, 1.5}, {2, 2.5}}));
  EXPECT_THAT(error("a.csv", "1,+-1\n"), HasSubstr("value 2 is '+-1'"));
  EXPECT_EQ(read("a.csv", "0.0,1,2\n"), (Vectors{{0, 1, 2}}));
  EXPECT_EQ(read("a.csv", "0\n1\n"), (Vectors{{0}, {1}}));
  EXPECT_EQ(read("a.csv", "1,2\n0,1\n"), (Vectors{{1, 2}, {0, 1}}));
}

TEST_F(VectorsFile, NamesPlaceAndCauseOfWhatIsWrong) {
  EXPECT_THAT(error("a.csv", "1,2\n3\n"), HasSubstr("a.csv:2: 1 values, but the first row has 2"));
  EXPECT_THAT(error("a.csv", "1,x\n"), HasSubstr("a.csv:1: value 2 is 'x'"));
  EXPECT_THAT(error("a.csv", "1,nan\n"), HasSubstr("not finite"));
  EXPECT_THAT(error("a.csv", "1,inf\n"), HasSubstr("not finite"));
  EXPECT_THAT(error("a.csv", "1,\n"), HasSubstr("value 2"));
  EXPECT_THAT(error("a.csv", ""), HasSubstr("no vectors"));
  EXPECT_THAT(error("a.npy", "nothing"), HasSubstr("no .npy file"));
  EXPECT_THAT(error("a.npy", npy<float>("<i4", "(1, 2)", {1, 2})), HasSubstr("float32 or float64"));
  EXPECT_THAT(error("a.npy", npy<float>("<f4", "(2,)", {1, 2})), HasSubstr("not (P, d)"));
  EXPECT_THAT(error("a.npy", npy<float>("<f4", "(2, 2)", {1, 2})), HasSubstr("do not make shape"));
  EXPECT_THAT(error("a.npy", npy<float>("<f4", "(0, 2)", {})), HasSubstr("do not make shape"));
  EXPECT_THAT(error("a.npy", npy<float>("<f4", "(99999999999, 99999999999)", {1})),
              HasSubstr("do not make shape"));
  for (const char* shape : {"(-2, -4)", "(2, 4, 1)", "()", "(8,)", "(2; 4)", "[2 4]", "((2, 4)"}) {
    EXPECT_THAT(error("a.npy", npy<double>("<f8", shape, {1, 2, 3, 4, 5, 6, 7, 8})),
                testing::AnyOf(HasSubstr("not (P, d)"), HasSubstr("name a step by --step")))
        << shape;
  }
  EXPECT_THAT(error("a.npy", npy<double>("<f8", "(False, True)", {1, 2})), HasSubstr("not (P, d)"));
  EXPECT_THAT(error("a.npy", npy<double>("<f8", "(1, 2)", {1, 2}, "Perhaps")),
              HasSubstr("fortran_order is Perhaps in the .npy header"));
  EXPECT_THAT(error("a.npy", npy<double>(">f8", "(1, 2)", {1, 2})), HasSubstr("little-endian"));
  EXPECT_THAT(error("a.npy", npy<double>("\x1b[2J", "(1, 2)", {1, 2})), HasSubstr("'?[2J'"));
  const std::string whole = npy<double>("<f8", "(1, 2)", {1, 2});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(error("a.npy", whole.substr(0, length)), "no error") << length;
  }
}

TEST_F(VectorsFile, TakesANumpyHeaderInAnyOrderOfItsThreeKeys) {
  const Vectors expected{{1, 2}};
  const auto with_header = [&](std::string header) {
    std::string bytes = npy<double>("<f8", "(1, 2)", {1, 2});
    header.resize(118, ' ');
    return bytes.replace(10, header.size(), header);
  };
  const std::string descr = "'descr': '<f8'";
  const std::string order = "'fortran_order': False";
  const std::string shape = "'shape': (1, 2)";
  const auto dictionary = [](const std::string& inside) { return "{" + inside + "}"; };

  EXPECT_EQ(read("a.npy", with_header(dictionary(shape + ", " + descr + ", " + order))), expected);
  EXPECT_EQ(read("a.npy", with_header(dictionary(descr + "," + order + " ,\n" + shape + ","))),
            expected);
  for (const auto& [header, part] : std::vector<std::pair<std::string, std::string>>{
           {dictionary(descr + ", " + shape), "has no 'fortran_order'"},
           {dictionary(descr + ", " + order + ", True, " + shape), "unknown or doubled key: True"},
           {dictionary(descr + ", " + descr + ", " + order + ", " + shape), "doubled key: 'descr'"},
           {dictionary(descr + ", " + order + ", " + shape + ", 'more': 1"), "unknown or doubled"},
           {dictionary(descr + ", 'fortran_order':, " + shape), "'fortran_order' has no value"},
           {dictionary(descr + ", " + order + ", " + shape) + " and more", "not one dictionary"},
           {descr + ", " + order + ", " + shape, "not one dictionary"},
           {"{", "not one dictionary"},
           {"", "not one dictionary"}}) {
    EXPECT_THAT(error("a.npy", with_header(header)), HasSubstr(part)) << header;
  }
}

TEST_F(VectorsFile, NamesAFileThatIsNotThere) {
  EXPECT_THROW(read_vectors(folder_.path() / "none.csv"), Error);
}

// Two workers: the array `a` has 2 x 1 entries of each, `b` one.
TEST_F(VectorsFile, OfAnArchiveHasTheWorkersRowOfEveryArray) {
  const std::string a = npy<double>("<f8", "(2, 2, 1)", {1, 2, 3, 4});
  const std::string b = npy<float>("<f4", "(2,)", {5, 6});
  const std::string both = stored_npz({{"a", a}, {"b", b}});

  EXPECT_EQ(read("v.npz", both), (Vectors{{1, 2, 5}, {3, 4, 6}}));
  const std::string steps = npy<double>("<f8", "(2, 1, 2)", {1, 2, 3, 4});
  const auto file = folder_.write("t.npz", stored_npz({{"b", b}, {"steps", steps}}));
  EXPECT_EQ(read_vectors(file, 1, "steps"), (Vectors{{3, 4}}));
  const std::string rows = npy<double>("<f8", "(2, 2)", {1, 2, 3, 4});
  EXPECT_EQ(read("v.npz", stored_npz({{"only", rows}})), (Vectors{{1, 2}, {3, 4}}));
  EXPECT_EQ(read_member(stored_npz({{"b", b}, {"rows", rows}}), "rows"), (Vectors{{1, 2}, {3, 4}}));
}

TEST_F(VectorsFile, OfAFolderMayBeArchives) {
  const std::string first = npy<double>("<f8", "(2,)", {1, 2});
  const std::string second = npy<double>("<f8", "(1, 1)", {3});
  std::filesystem::create_directories(folder_.path() / "w");
  folder_.write("w/0.npz", stored_npz({{"x", first}, {"y", second}}));
  folder_.write("w/1.npz", stored_npz({{"x", first}, {"y", second}}));

  EXPECT_EQ(read_vectors(folder_.path() / "w"), (Vectors{{1, 2, 3}, {1, 2, 3}}));
  EXPECT_EQ(read_vectors(folder_.path() / "w", std::nullopt, "y"), (Vectors{{3}, {3}}));
}

TEST_F(VectorsFile, OfAnArchiveThatDoesNotFitIsRefused) {
  const std::string two = npy<double>("<f8", "(2, 1)", {1, 2});
  const std::string three = npy<double>("<f8", "(3,)", {1, 2, 3});
  const std::string both = stored_npz({{"two", two}, {"three", three}});
  EXPECT_THAT(error("a.npz", both), HasSubstr("array 'three': has 3 rows, and array 'two' has 2"));
  EXPECT_THAT(error("a.npz", "PK"), HasSubstr("a.npz: is no .npz file"));
  const auto fault = [&](const std::optional<std::int64_t> step, const std::string& member) {
    try {
      read_vectors(folder_.write("a.npz", both), step, member);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(fault(std::nullopt, "tree"), HasSubstr("has no array 'tree'; did you mean 'three'?"));
  EXPECT_THAT(fault(0, "two"), HasSubstr("leave out --step"));
}

}  // namespace
}  // namespace residuum
