// Vectors that a user brings, as .csv and .npy.

#include "experiments/commands/vectors_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/experiments/support.h"

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
  std::string error(const std::string& name, const std::string& content) const {
    try {
      read(name, content);
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
                HasSubstr("not (P, d)"))
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

}  // namespace
}  // namespace residuum
