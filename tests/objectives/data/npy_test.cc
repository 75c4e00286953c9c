// The head of .npy arrays, against bytes that NumPy writes and numbers of IEEE 754.

#include "objectives/data/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/error.h"

namespace residuum {
namespace {

using ::testing::ElementsAre;

/// The first 128 bytes of numpy.save of a float32 array of two entries.
std::string head_as_numpy_writes_it() {
  std::string head("\x93NUMPY\x01\x00v\x00", 10);
  head += "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  head.resize(127, ' ');
  return head + '\n';
}

std::string npy_fault(const std::string& bytes) {
  try {
    parse_npy_header(bytes, "x");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Npy, WritesTheHeadThatNumPyWrites) {
  EXPECT_EQ(npy_header(NpyType::float32, std::vector<std::size_t>{2}), head_as_numpy_writes_it());
}

TEST(Npy, ReadsTypeOrderShapeAndPlaceOfTheNumbers) {
  const NpyHeader header = parse_npy_header(head_as_numpy_writes_it(), "x");

  EXPECT_EQ(header.type, "'<f4'");
  EXPECT_FALSE(header.by_column);
  EXPECT_EQ(header.shape, "(2,)");
  EXPECT_EQ(header.size, 128U);
}

/// The head with this dictionary.
std::string head_with(const std::string& dictionary) {
  std::string head("\x93NUMPY\x01\x00v\x00", 10);
  head += dictionary;
  head.resize(127, ' ');
  return head + '\n';
}

// numpy.load reads the header by Python's literal_eval, so all of these are the same to it.
TEST(Npy, ReadsTheHeadsOfOtherWritersAsNumPyDoes) {
  for (const char* dictionary :
       {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,3,), }",
        "{\"descr\": \"<f4\", \"fortran_order\": True, \"shape\": (2, 3)}",
        "{ 'descr' : '<f4' , 'fortran_order' :True , 'shape' : ( 2 , 3 ) }",
        "{'shape': (2L, 3L), 'fortran_order': True, 'descr': \"<f4\"}",
        "  {'descr':\t'<f4',\n 'fortran_order':True,'shape':(2,3)}"}) {
    const NpyHeader header = parse_npy_header(head_with(dictionary), "x");
    EXPECT_EQ(npy_type(header.type), NpyType::float32) << dictionary;
    EXPECT_TRUE(header.by_column) << dictionary;
    EXPECT_THAT(parse_npy_shape(header.shape).value(), ElementsAre(2U, 3U)) << dictionary;
  }
  for (const char* dictionary : {"{'descr\": '<f4', 'fortran_order': True, 'shape': (2,)}",
                                 "{descr: '<f4', 'fortran_order': True, 'shape': (2,)}",
                                 "{'descr' '<f4', 'fortran_order': True, 'shape': (2,)}",
                                 "{'descr': '<f4', 'fortran_order'; True, 'shape': (2,)}"}) {
    EXPECT_NE(npy_fault(head_with(dictionary)), "no error") << dictionary;
  }
}

TEST(Npy, TellsFromTheFirstTenBytesHowLongTheHeadIs) {
  const std::string head = head_as_numpy_writes_it();

  for (std::size_t seen = 0; seen < 10; ++seen) {
    EXPECT_EQ(npy_header_size(head.substr(0, seen), "x"), std::nullopt) << seen;
  }
  EXPECT_EQ(npy_header_size(head.substr(0, 10), "x"), 128U);
  EXPECT_THROW(npy_header_size("Traceback", "x"), Error);
}

TEST(Npy, RefusesEveryHeadThatIsCutOff) {
  const std::string head = head_as_numpy_writes_it();

  for (std::size_t kept = 0; kept < head.size(); ++kept) {
    EXPECT_NE(npy_fault(head.substr(0, kept)), "no error") << kept;
  }
  EXPECT_EQ(npy_fault(head), "no error");
}

TEST(Npy, ReadsShapesOfAnyNumberOfDimensionsAsPythonWritesThem) {
  EXPECT_THAT(parse_npy_shape("(3,)").value(), ElementsAre(3U));
  EXPECT_THAT(parse_npy_shape("(2, 3)").value(), ElementsAre(2U, 3U));
  EXPECT_THAT(parse_npy_shape("(2, 3, 4)").value(), ElementsAre(2U, 3U, 4U));
  for (const char* text : {"(2,3,)", "( 2 , 3 )", "(2, 3 , )", "(2L, 3L)", "(2L, 3L,)"}) {
    EXPECT_THAT(parse_npy_shape(text).value(), ElementsAre(2U, 3U)) << text;
  }
  for (const char* text : {"()",
                           "(",
                           "",
                           "(-1,)",
                           "(2; 3)",
                           "[2, 3]",
                           "(2,, 3)",
                           "(2, 3,,)",
                           "(,)",
                           "(L,)",
                           "(2LL,)",
                           "(2l,)",
                           "(True,)",
                           "(99999999999999999999,)"}) {
    EXPECT_EQ(parse_npy_shape(text), std::nullopt) << text;
  }
}

TEST(Npy, KnowsOnlyLittleEndianTypesOfNumbers) {
  EXPECT_EQ(npy_type("'<f2'"), NpyType::float16);
  EXPECT_EQ(npy_width(*npy_type("'<f8'")), 8U);
  for (const char* type : {"'>f4'", "'|O'", "[('a', '<f4')]", "'<i8'", "<f4", ""}) {
    EXPECT_EQ(npy_type(type), std::nullopt) << type;
  }
}

TEST(Npy, ReadsHalfPrecisionAsIeee754Says) {
  const auto half = [](unsigned bits) {
    const std::string data{static_cast<char>(bits & 0xffU), static_cast<char>(bits >> 8U)};
    return npy_number(NpyType::float16, data, 0);
  };

  EXPECT_EQ(half(0x3c00), 1.0);
  EXPECT_EQ(half(0xc000), -2.0);
  EXPECT_EQ(half(0x7bff), 65504.0);
  EXPECT_EQ(half(0x0400), std::ldexp(1.0, -14));
  EXPECT_EQ(half(0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(half(0x3555), 0.333251953125);
  EXPECT_TRUE(std::signbit(half(0x8000)));
  EXPECT_EQ(half(0xfc00), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(half(0x7e00)));
}

TEST(Npy, CountsEntriesOnlyOfShapesThatTheBytesMake) {
  EXPECT_EQ(npy_entries(std::vector<std::size_t>{2, 3}, 4, 24), 6U);
  EXPECT_EQ(npy_entries(std::vector<std::size_t>{2, 3}, 4, 23), std::nullopt);
  EXPECT_EQ(npy_entries(std::vector<std::size_t>{2, 3}, 4, 28), std::nullopt);
  EXPECT_EQ(npy_entries(std::vector<std::size_t>{0, 3}, 4, 0), std::nullopt);
  EXPECT_EQ(
      npy_entries(std::vector<std::size_t>{std::size_t{1} << 33U, std::size_t{1} << 33U}, 4, 8),
      std::nullopt);
}

}  // namespace
}  // namespace residuum
