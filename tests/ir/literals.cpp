#include <bit>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "ir/types/literal.h"

using heddle::DType;
using heddle::ir::ElementBits;
using heddle::ir::literal_text;
using heddle::ir::parse_literal;

namespace {

void check_round_trip(DType dtype, std::uint64_t bits) {
  const std::string text = literal_text(dtype, bits);
  CAPTURE(text);
  CHECK(parse_literal(dtype, text) == bits);
}

}  // namespace

TEST_CASE("every 16-bit float reads back from its text") {
  for (std::uint64_t bits = 0; bits <= 0xffff; ++bits) {
    // One check a value would be slow; these fail once, with the value.
    for (DType dtype : {DType::f16, DType::bf16}) {
      if (parse_literal(dtype, literal_text(dtype, bits)) != bits) check_round_trip(dtype, bits);
    }
  }
  CHECK(literal_text(DType::f16, 0x2e66) == "0.1");
  CHECK(literal_text(DType::bf16, 0x3dcd) == "0.1");
  CHECK(literal_text(DType::f16, 0x7bff) == "6.55e+04");
  CHECK(literal_text(DType::f16, 0x0001) == "6e-08");
  CHECK(literal_text(DType::f16, 0x3c00) == "1.0");
  CHECK(literal_text(DType::bf16, 0x0001) == "9e-41");
}

TEST_CASE("16-bit floats round to nearest even and do not overflow silently") {
  CHECK(parse_literal(DType::f16, "2049") == 0x6800);
  CHECK(parse_literal(DType::f16, "2051") == 0x6802);
  CHECK(parse_literal(DType::f16, "65519") == 0x7bff);
  CHECK_FALSE(parse_literal(DType::f16, "65520").has_value());
  CHECK(parse_literal(DType::f16, "2e-8") == 0x0000);
  CHECK(parse_literal(DType::f16, "-4e-8") == 0x8001);
  CHECK(parse_literal(DType::bf16, "1.00390625") == 0x3f80);
  CHECK(parse_literal(DType::bf16, "1.01171875") == 0x3f82);
}

TEST_CASE("random bits of 32 and 64-bit floats read back") {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    check_round_trip(DType::f32, random() & 0xffffffff);
    check_round_trip(DType::f64, random());
  }
}

TEST_CASE("special values have spellings") {
  CHECK(literal_text(DType::f32, 0) == "0.0");
  CHECK(literal_text(DType::f32, 0x80000000) == "-0.0");
  CHECK(literal_text(DType::f32, std::bit_cast<std::uint32_t>(0.1f)) == "0.1");
  CHECK(literal_text(DType::f32, 0x7f800000) == "inf");
  CHECK(literal_text(DType::f32, 0xff800000) == "-inf");
  CHECK(literal_text(DType::f32, 0x7fc00000) == "nan");
  CHECK(literal_text(DType::f32, 0x7fc00001) == "0x7fc00001");
  CHECK(literal_text(DType::f32, 0xffc00000) == "0xffc00000");
  CHECK(literal_text(DType::f16, 0x7c01) == "0x7c01");
  CHECK(literal_text(DType::f64, 0x7ff0000000000001) == "0x7ff0000000000001");
  CHECK(literal_text(DType::f64, std::bit_cast<std::uint64_t>(1e300)) == "1e+300");
  CHECK(literal_text(DType::boolean, 1) == "true");
  CHECK(literal_text(DType::boolean, 0) == "false");
}

TEST_CASE("integers keep to their range") {
  CHECK(literal_text(DType::i8, 0x80) == "-128");
  CHECK(literal_text(DType::u8, 0xff) == "255");
  CHECK(literal_text(DType::i64, 0x8000000000000000) == "-9223372036854775808");
  CHECK(literal_text(DType::u64, 0xffffffffffffffff) == "18446744073709551615");
  CHECK(parse_literal(DType::i8, "-128") == 0x80);
  CHECK(parse_literal(DType::i64, "-1") == 0xffffffffffffffff);
  CHECK(parse_literal(DType::i32, "-1") == 0xffffffff);
  for (DType dtype : {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16,
                      DType::u32, DType::u64}) {
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * heddle::size_of(dtype));
    std::mt19937_64 random(9);
    for (int i = 0; i < 200; ++i) check_round_trip(dtype, random() & mask);
  }
}

TEST_CASE("text that is no value of the dtype is refused") {
  struct Case {
    DType dtype;
    const char* text;
  };
  for (const Case& c : {Case{DType::i8, "128"},
                        Case{DType::i8, "-129"},
                        Case{DType::u8, "-1"},
                        Case{DType::u8, "256"},
                        Case{DType::i64, "9223372036854775808"},
                        Case{DType::i32, "1.0"},
                        Case{DType::i32, ""},
                        Case{DType::i32, "0x1"},
                        Case{DType::boolean, "1"},
                        Case{DType::f32, "1e39"},
                        Case{DType::f32, "infinity"},
                        Case{DType::f32, "nan(1)"},
                        Case{DType::f32, "-nan"},
                        Case{DType::f32, "1.0f"},
                        Case{DType::f32, "-"},
                        Case{DType::f32, ""},
                        Case{DType::f16, "0x10000"},
                        Case{DType::f16, "0x"},
                        Case{DType::f64, "true"},
                        Case{DType::c64, "1.0"},
                        Case{DType::c64, "(1.0)"},
                        Case{DType::c64, "(1.0,2.0"},
                        Case{DType::c64, "(1.0,1e39)"},
                        Case{DType::c128, "1.0,2.0"}}) {
    CAPTURE(c.text);
    CHECK_FALSE(parse_literal(c.dtype, c.text).has_value());
  }
}

TEST_CASE("complex literals are both parts") {
  constexpr std::uint64_t one = 0x3ff0000000000000u, minus_zero = std::uint64_t{1} << 63;
  constexpr std::uint64_t odd_nan = 0x7ff0000000000001u;
  const ElementBits wide(one, minus_zero);
  CHECK(literal_text(DType::c128, wide) == "(1.0,-0.0)");
  CHECK(parse_literal(DType::c128, "(1.0,-0.0)") == wide);
  CHECK(literal_text(DType::c128, {odd_nan, one}) == "(0x7ff0000000000001,1.0)");
  CHECK(parse_literal(DType::c128, "(0x7ff0000000000001,1.0)") == ElementBits(odd_nan, one));
  const ElementBits narrow(0xff8000003fc00000u);
  CHECK(literal_text(DType::c64, narrow) == "(1.5,-inf)");
  CHECK(parse_literal(DType::c64, "(1.5,-inf)") == narrow);
}
