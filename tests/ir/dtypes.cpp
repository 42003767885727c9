#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/dtype.h"

using heddle::DType;

namespace {

DType dtype_at(int i) { return static_cast<DType>(i); }

DType dtype_of_letter(char letter) {
  const std::string letters = "?bhiqBHIQegfdFD";
  return dtype_at(static_cast<int>(letters.find(letter)));
}

/// NumPy 2's table, and g for bfloat16 as numpy.add promotes it with ml_dtypes.
constexpr const char* promotion_table = R"(
    ? b h i q B H I Q e g f d F D
?   ? b h i q B H I Q e g f d F D
b   b b h i q h i q d e g f d F D
h   h h h i q h i q d f f f d F D
i   i i i i q i i q d d d d d D D
q   q q q q q q q q d d d d d D D
B   B h h i q B H I Q e g f d F D
H   H i i i q H H I Q f f f d F D
I   I q q q q I I I Q d d d d D D
Q   Q d d d d Q Q Q Q d d d d D D
e   e e f d d e f d d e f f d F D
g   g g f d d g f d d f g f d F D
f   f f f d d f f d d f f f d F D
d   d d d d d d d d d d d d d D D
F   F F F D D F F D D F F F D F D
D   D D D D D D D D D D D D D D D
)";

}  // namespace

TEST_CASE("promote_types is NumPy's table") {
  std::istringstream text(promotion_table);
  std::vector<char> columns(heddle::dtype_count);
  for (char& column : columns) text >> column;
  char row = 0, cell = 0;
  int cells = 0;
  while (text >> row) {
    for (char column : columns) {
      text >> cell;
      CAPTURE(row);
      CAPTURE(column);
      CHECK(heddle::promote_types(dtype_of_letter(row), dtype_of_letter(column)) ==
            dtype_of_letter(cell));
      ++cells;
    }
  }
  CHECK(cells == heddle::dtype_count * heddle::dtype_count);
}

TEST_CASE("dtype names read back and sizes are NumPy's") {
  const std::string names = "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128";
  const std::string numpy_names =
      "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
      "complex64 complex128";
  const std::vector<std::size_t> sizes = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  std::istringstream name_stream(names), numpy_stream(numpy_names);
  for (int i = 0; i < heddle::dtype_count; ++i) {
    std::string name, numpy_name;
    name_stream >> name;
    numpy_stream >> numpy_name;
    CHECK(heddle::name_of(dtype_at(i)) == name);
    CHECK(heddle::numpy_name_of(dtype_at(i)) == numpy_name);
    CHECK(heddle::dtype_from_name(name) == dtype_at(i));
    CHECK(heddle::size_of(dtype_at(i)) == sizes[static_cast<std::size_t>(i)]);
  }
  CHECK_FALSE(heddle::dtype_from_name("float32").has_value());
  CHECK_FALSE(heddle::dtype_from_name("").has_value());
}

TEST_CASE("every dtype is of exactly one class") {
  for (int i = 0; i < heddle::dtype_count; ++i) {
    const DType dtype = dtype_at(i);
    CHECK(is_boolean(dtype) + is_signed_integer(dtype) + is_unsigned_integer(dtype) +
              is_floating(dtype) + is_complex(dtype) ==
          1);
    CHECK(is_integer(dtype) == (is_signed_integer(dtype) || is_unsigned_integer(dtype)));
  }
}

TEST_CASE("floating_dtype widens integers as NumPy's floating functions do") {
  const std::string operands = "?bBhHiIqQegfdFD", results = "eeeffddddegfdFD";
  for (std::size_t i = 0; i < operands.size(); ++i) {
    CHECK(heddle::floating_dtype(dtype_of_letter(operands[i])) == dtype_of_letter(results[i]));
  }
}
