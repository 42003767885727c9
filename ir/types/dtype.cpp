#include "heddle/dtype.h"

#include <iterator>
#include <ostream>

namespace heddle {
namespace {

struct DTypeRow {
  std::string_view name;
  std::string_view numpy_name;
  std::size_t size;
};

constexpr DTypeRow rows[] = {
    {"bool", "bool", 1},   {"i8", "int8", 1},       {"i16", "int16", 2},
    {"i32", "int32", 4},   {"i64", "int64", 8},     {"u8", "uint8", 1},
    {"u16", "uint16", 2},  {"u32", "uint32", 4},    {"u64", "uint64", 8},
    {"f16", "float16", 2}, {"bf16", "bfloat16", 2}, {"f32", "float32", 4},
    {"f64", "float64", 8}, {"c64", "complex64", 8}, {"c128", "complex128", 16},
};
static_assert(std::size(rows) == dtype_count);

const DTypeRow& row(DType dtype) { return rows[static_cast<std::size_t>(dtype)]; }

/// The promotion table uses one letter for each dtype, so that it stays readable.
constexpr std::string_view letters = "?bhiqBHIQegfdFD";
static_assert(letters.size() == dtype_count);

/// The letters are NumPy's type codes, with g for bfloat16. The rows and columns of bfloat16 are
/// the results of numpy.add with ml_dtypes' bfloat16, because numpy.promote_types raises for
/// bfloat16 with float16 and with integers of 16 bits or more.
constexpr std::string_view promotions[] = {
    "?bhiqBHIQegfdFD",  // ?
    "bbhiqhiqdegfdFD",  // b
    "hhhiqhiqdfffdFD",  // h
    "iiiiqiiqdddddDD",  // i
    "qqqqqqqqdddddDD",  // q
    "BhhiqBHIQegfdFD",  // B
    "HiiiqHHIQfffdFD",  // H
    "IqqqqIIIQddddDD",  // I
    "QddddQQQQddddDD",  // Q
    "eefddefddeffdFD",  // e
    "ggfddgfddfgfdFD",  // g
    "fffddffddfffdFD",  // f
    "dddddddddddddDD",  // d
    "FFFDDFFDDFFFDFD",  // F
    "DDDDDDDDDDDDDDD",  // D
};
static_assert(std::size(promotions) == dtype_count);

constexpr bool promotions_are_symmetric() {
  for (std::size_t a = 0; a < dtype_count; ++a) {
    for (std::size_t b = 0; b < dtype_count; ++b) {
      if (promotions[a].size() != dtype_count || promotions[a][b] != promotions[b][a]) return false;
    }
  }
  return true;
}
static_assert(promotions_are_symmetric());

}  // namespace

std::size_t size_of(DType dtype) { return row(dtype).size; }
std::string_view name_of(DType dtype) { return row(dtype).name; }
std::string_view numpy_name_of(DType dtype) { return row(dtype).numpy_name; }

std::ostream& operator<<(std::ostream& stream, DType dtype) {
  return stream << numpy_name_of(dtype);
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 0; i < dtype_count; ++i) {
    if (rows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

DType promote_types(DType a, DType b) {
  const char letter = promotions[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  return static_cast<DType>(letters.find(letter));
}

DType floating_dtype(DType dtype) {
  if (is_inexact(dtype)) return dtype;
  switch (size_of(dtype)) {
    case 1:
      return DType::f16;
    case 2:
      return DType::f32;
    default:
      return DType::f64;
  }
}

}  // namespace heddle
