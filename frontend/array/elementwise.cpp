#include "heddle/elementwise.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/at_location.h"

namespace heddle {

using frontend::Access;
using frontend::AtLocation;
using frontend::binary;
using frontend::NodeRef;
using frontend::unary;
using ir::Op;

namespace {

/// sin(pi x) / (pi x). The angle is reduced to within half a turn of 0, where the sine is exact.
Array complex_sinc(const Operand& x) {
  const AtLocation here(x);
  constexpr double pi = 3.14159265358979323846;
  const Array real_part = real(x), imaginary_part = imag(x);
  const Array turns = rint(here(multiply(here(real_part), here(Scalar(0.5)))));
  const auto times_pi = [&](const Array& real_angle) {
    return make_complex(here(multiply(here(real_angle), here(Scalar(pi)))),
                        here(multiply(here(imaginary_part), here(Scalar(pi)))));
  };
  const Array rest = subtract(here(real_part), here(multiply(here(turns), here(Scalar(2)))));
  const Array ratio = divide(here(sin(here(times_pi(rest)))), here(times_pi(real_part)));
  return where(here(equal(x, here(Scalar(0)))), here(Scalar(1)), here(ratio));
}

/// An op of the op table; complex sinc is composed of other ops.
Array of_one(Op op, const Operand& x) {
  const Operand* operands[] = {&x};
  if (op == Op::sinc && is_complex(frontend::common_dtype(operands))) return complex_sinc(x);
  return unary(op, x);
}

}  // namespace

#define HEDDLE_DEFINE_1(name) \
  Array name(const Operand& x) { return of_one(Op::name, x); }
#define HEDDLE_DEFINE_2(name) \
  Array name(const Operand& x, const Operand& y) { return binary(Op::name, x, y); }
#define HEDDLE_DEFINE_3(name)                                        \
  Array name(const Operand& x, const Operand& y, const Operand& z) { \
    return frontend::elementwise(Op::name, {&x, &y, &z});            \
  }
#define HEDDLE_DEFINE_4(name)                                                          \
  Array name(const Operand& x, const Operand& y, const Operand& z, const Operand& u) { \
    return frontend::elementwise(Op::name, {&x, &y, &z, &u});                          \
  }
#define HEDDLE_DEFINE_5(name)                                                        \
  Array name(const Operand& x, const Operand& y, const Operand& z, const Operand& u, \
             const Operand& v) {                                                     \
    return frontend::elementwise(Op::name, {&x, &y, &z, &u, &v});                    \
  }
#define HD_OP(name, arity, ...) HEDDLE_DEFINE_##arity(name)
#include "heddle/ops.def"
#undef HD_OP

namespace {

DType dtype_of_operand(const Operand& x) {
  const Operand* operands[] = {&x};
  return frontend::common_dtype(operands);
}

}  // namespace

Array where(const Operand& condition, const Operand& x, const Operand& y) {
  return frontend::select(condition, x, y, "where");
}

Array clip(const Operand& x, const Operand& low, const Operand& high) {
  return x.array() != nullptr ? frontend::clip(x, &low, &high)
                              : frontend::clip({asarray(x), x.where()}, &low, &high);
}

Array round(const Operand& x, int decimals) {
  const DType dtype = dtype_of_operand(x);
  const SourceLocation where = x.where();
  if (is_boolean(dtype) && decimals != 0) {
    throw DTypeError(frontend::at("round: bool has no decimals; astype to another dtype", where));
  }
  if (is_integer(dtype) && decimals >= 0) {
    return Access::make(frontend::node_of("round", x, dtype));
  }
  if (decimals == 0) return rint(x);
  if (is_complex(dtype)) {
    return make_complex({round({real(x), where}, decimals), where},
                        {round({imag(x), where}, decimals), where});
  }
  const double scale = std::pow(10.0, std::abs(decimals));
  if (!is_floating(dtype)) {
    const Array scaled = rint({divide(x, {scale, where}), where});
    return astype({multiply({scaled, where}, {scale, where}), where}, dtype);
  }
  if (decimals > 0) {
    return divide({rint({multiply(x, {scale, where}), where}), where}, {scale, where});
  }
  return multiply({rint({divide(x, {scale, where}), where}), where}, {scale, where});
}

Array around(const Operand& x, int decimals) { return round(x, decimals); }

Array positive(const Operand& x) {
  const DType dtype = dtype_of_operand(x);
  if (is_boolean(dtype)) {
    throw DTypeError(
        frontend::at("positive is not defined for bool; astype to an integer dtype", x.where()));
  }
  return Access::make(frontend::node_of("positive", x, dtype));
}

Array conj(const Operand& x) { return conjugate(x); }

Array angle(const Operand& x, bool degrees) {
  const SourceLocation where = x.where();
  // NumPy uses the Python integer 0 as imaginary part of real numbers, so bool becomes int64.
  const bool is_real = !is_complex(dtype_of_operand(x));
  const Array radians =
      is_real ? arctan2({0, where}, x) : arctan2({imag(x), where}, {real(x), where});
  return degrees ? heddle::degrees({radians, where}) : radians;
}

Array iscomplex(const Operand& x) { return not_equal({imag(x), x.where()}, {0, x.where()}); }
Array isreal(const Operand& x) { return equal({imag(x), x.where()}, {0, x.where()}); }

Array float_power(const Operand& x, const Operand& y) {
  const Operand* operands[] = {&x, &y};
  const DType dtype = is_complex(frontend::common_dtype(operands)) ? DType::c128 : DType::f64;
  const Array base = astype(x, dtype);
  if (y.array() == nullptr) return power({base, x.where()}, y);
  return power({base, x.where()}, {astype(y, dtype), y.where()});
}

Array true_divide(const Operand& x, const Operand& y) { return divide(x, y); }
Array mod(const Operand& x, const Operand& y) { return remainder(x, y); }

std::pair<Array, Array> divmod(const Operand& x, const Operand& y) {
  return {floor_divide(x, y), remainder(x, y)};
}

std::pair<Array, Array> modf(const Operand& x) { return {modf_fraction(x), modf_integer(x)}; }
std::pair<Array, Array> frexp(const Operand& x) { return {frexp_mantissa(x), frexp_exponent(x)}; }

Array nan_to_num(const Operand& x, const Operand& nan, const std::optional<Operand>& posinf,
                 const std::optional<Operand>& neginf) {
  const DType dtype = dtype_of_operand(x);
  Array value = Access::make(frontend::node_of("nan_to_num", x, dtype));
  if (is_complex(dtype)) {
    const SourceLocation where = x.where();
    const Array real_part = nan_to_num({real(x), where}, nan, posinf, neginf);
    const Array imaginary = nan_to_num({imag(x), where}, nan, posinf, neginf);
    return make_complex({real_part, where}, {imaginary, where});
  }
  if (!is_floating(dtype)) return value;
  const double largest = dtype == DType::f16    ? 65504.0
                         : dtype == DType::bf16 ? 0x1.fep127
                         : dtype == DType::f32
                             ? static_cast<double>(std::numeric_limits<float>::max())
                             : std::numeric_limits<double>::max();
  const SourceLocation place = x.where();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto replace = [&](const Array& condition, const Operand& replacement, const Array& rest) {
    const Array inside = Access::make(frontend::node_of("nan_to_num", replacement, dtype));
    return where({condition, place}, {inside, place}, {rest, place});
  };
  const Array bounded = replace(equal({value, place}, {infinity, place}),
                                posinf.value_or(Operand(largest, place)), value);
  const Array finite = replace(equal({value, place}, {-infinity, place}),
                               neginf.value_or(Operand(-largest, place)), bounded);
  return replace(isnan({value, place}), nan, finite);
}

Array isclose(const Operand& x, const Operand& y, const Operand& rtol, const Operand& atol,
              bool equal_nan) {
  // As in NumPy, only y is converted to an inexact dtype. Scalars stay weak, and so does the
  // tolerance.
  const AtLocation here(x);
  if (y.array() == nullptr && !y.scalar().is_inexact())
    return isclose(x, here(Scalar(frontend::value_of(y.scalar()))), rtol, atol, equal_nan);
  if (!is_inexact(dtype_of_operand(y)))
    return isclose(x, here(multiply(y, here(Scalar(1.0)))), rtol, atol, equal_nan);
  const bool all_numbers =
      y.array() == nullptr && rtol.array() == nullptr && atol.array() == nullptr;
  const auto number = [&] {
    const double size = std::hypot(y.scalar().floating, y.scalar().imaginary);
    return Scalar(frontend::value_of(atol.scalar()) + frontend::value_of(rtol.scalar()) * size);
  };
  const Array tolerance =
      all_numbers ? Array() : add(here(multiply(here(absolute(y)), rtol)), atol);
  const Array near = less_equal(here(absolute(here(subtract(x, y)))),
                                all_numbers ? here(number()) : here(tolerance));
  Array close = logical_or(here(logical_and(here(near), here(isfinite(y)))), here(equal(x, y)));
  if (equal_nan) {
    const Array both = logical_and(here(isnan(x)), here(isnan(y)));
    close = logical_or(here(close), here(both));
  }
  return close;
}

bool allclose(const Operand& x, const Operand& y, const Operand& rtol, const Operand& atol,
              bool equal_nan) {
  return all({isclose(x, y, rtol, atol, equal_nan), x.where()}).item<bool>(x.where());
}

bool array_equal(const Operand& x, const Operand& y, bool equal_nan) {
  const NodeRef a = frontend::node_of("array_equal", x), b = frontend::node_of("array_equal", y);
  if (a->shape != b->shape) return false;
  const AtLocation here(x);
  Array same = equal(x, y);
  if (equal_nan) {
    const Array both = logical_and(here(isnan(x)), here(isnan(y)));
    same = logical_or(here(same), here(both));
  }
  return all(here(same)).item<bool>(x.where());
}

bool array_equiv(const Operand& x, const Operand& y) {
  const NodeRef a = frontend::node_of("array_equiv", x), b = frontend::node_of("array_equiv", y);
  try {
    static_cast<void>(ir::broadcast_shapes(a->shape, b->shape));
  } catch (const ShapeError&) {
    return false;
  }
  return all({equal(x, y), x.where()}).item<bool>(x.where());
}

namespace {

/// True where x is that infinity; false for dtypes without infinities.
Array is_infinity(const char* op, const Operand& x, double infinity) {
  const NodeRef node = frontend::node_of(op, x);
  const AtLocation here(x);
  if (is_complex(node->dtype)) {
    throw DTypeError(
        frontend::at(fmt::format("{}({}): complex numbers have no sign; take the real part", op,
                                 frontend::describe(*node)),
                     x.where()));
  }
  if (!is_floating(node->dtype)) return zeros_like(x, DType::boolean);
  return equal(x, here(Scalar(infinity)));
}

}  // namespace

Array isposinf(const Operand& x) {
  return is_infinity("isposinf", x, std::numeric_limits<double>::infinity());
}
Array isneginf(const Operand& x) {
  return is_infinity("isneginf", x, -std::numeric_limits<double>::infinity());
}
Array fix(const Operand& x) { return trunc(x); }
Array deg2rad(const Operand& x) { return radians(x); }
Array rad2deg(const Operand& x) { return degrees(x); }

Array abs(const Operand& x) { return absolute(x); }
Array acos(const Operand& x) { return arccos(x); }
Array acosh(const Operand& x) { return arccosh(x); }
Array asin(const Operand& x) { return arcsin(x); }
Array asinh(const Operand& x) { return arcsinh(x); }
Array atan(const Operand& x) { return arctan(x); }
Array atan2(const Operand& x, const Operand& y) { return arctan2(x, y); }
Array atanh(const Operand& x) { return arctanh(x); }
Array bitwise_invert(const Operand& x) { return invert(x); }
Array bitwise_left_shift(const Operand& x, const Operand& y) { return left_shift(x, y); }
Array bitwise_right_shift(const Operand& x, const Operand& y) { return right_shift(x, y); }
Array pow(const Operand& x, const Operand& y) { return power(x, y); }

Array operator+(const Operand& a, const Operand& b) { return add(a, b); }
Array operator-(const Operand& a, const Operand& b) { return subtract(a, b); }
Array operator*(const Operand& a, const Operand& b) { return multiply(a, b); }
Array operator/(const Operand& a, const Operand& b) { return divide(a, b); }
Array operator%(const Operand& a, const Operand& b) { return remainder(a, b); }
Array operator&(const Operand& a, const Operand& b) { return bitwise_and(a, b); }
Array operator|(const Operand& a, const Operand& b) { return bitwise_or(a, b); }
Array operator^(const Operand& a, const Operand& b) { return bitwise_xor(a, b); }
Array operator<<(const Operand& a, const Operand& b) { return left_shift(a, b); }
Array operator>>(const Operand& a, const Operand& b) { return right_shift(a, b); }
Array operator==(const Operand& a, const Operand& b) { return equal(a, b); }
Array operator!=(const Operand& a, const Operand& b) { return not_equal(a, b); }
Array operator<(const Operand& a, const Operand& b) { return less(a, b); }
Array operator<=(const Operand& a, const Operand& b) { return less_equal(a, b); }
Array operator>(const Operand& a, const Operand& b) { return greater(a, b); }
Array operator>=(const Operand& a, const Operand& b) { return greater_equal(a, b); }
Array operator-(const Operand& a) { return negative(a); }
Array operator+(const Operand& a) { return positive(a); }
Array operator~(const Operand& a) { return invert(a); }

}  // namespace heddle
