#pragma once

#include <optional>
#include <utility>

#include "heddle/array.h"

namespace heddle {

// One function for each line of the op table, with NumPy's name and meaning. Dtypes promote as in
// NumPy 2, shapes broadcast. DTypeError and ShapeError name the op, shapes, dtypes and the caller's
// line.
#define HEDDLE_DECLARE_1(name) Array name(const Operand& x);
#define HEDDLE_DECLARE_2(name) Array name(const Operand& x, const Operand& y);
#define HEDDLE_DECLARE_3(name) Array name(const Operand& x, const Operand& y, const Operand& z);
#define HEDDLE_DECLARE_4(name) \
  Array name(const Operand& x, const Operand& y, const Operand& z, const Operand& u);
#define HEDDLE_DECLARE_5(name)                                                       \
  Array name(const Operand& x, const Operand& y, const Operand& z, const Operand& u, \
             const Operand& v);
#define HD_OP(name, arity, ...) HEDDLE_DECLARE_##arity(name)
#include "heddle/ops.def"
#undef HD_OP
#undef HEDDLE_DECLARE_1
#undef HEDDLE_DECLARE_2
#undef HEDDLE_DECLARE_3
#undef HEDDLE_DECLARE_4
#undef HEDDLE_DECLARE_5

/// numpy.where(condition, x, y). A condition of another dtype than bool is compared with 0.
Array where(const Operand& condition, const Operand& x, const Operand& y);
/// numpy.clip. NaN in x is kept.
Array clip(const Operand& x, const Operand& low, const Operand& high);
/// numpy.round to `decimals` decimal digits, half to even.
Array round(const Operand& x, int decimals = 0);
/// numpy.around: an alias of round.
Array around(const Operand& x, int decimals = 0);
/// numpy.positive: +x. DTypeError for bool.
Array positive(const Operand& x);
/// numpy.conjugate.
Array conj(const Operand& x);
/// numpy.angle: the argument of complex numbers, in (-pi, pi]; 0 or pi for real numbers.
Array angle(const Operand& x, bool degrees = false);
/// numpy.iscomplex and numpy.isreal: true where the imaginary part is not 0, and where it is 0.
Array iscomplex(const Operand& x);
Array isreal(const Operand& x);
/// numpy.float_power: x to the power y, in float64 or complex128.
Array float_power(const Operand& x, const Operand& y);
/// numpy.true_divide and numpy.mod: aliases of divide and remainder.
Array true_divide(const Operand& x, const Operand& y);
Array mod(const Operand& x, const Operand& y);
/// numpy.divmod: {floor_divide(x, y), remainder(x, y)}
std::pair<Array, Array> divmod(const Operand& x, const Operand& y);
/// numpy.modf: {fractional part, integral part}, both with the sign of x.
std::pair<Array, Array> modf(const Operand& x);
/// numpy.frexp: {mantissa in [0.5, 1), int32 exponent}
std::pair<Array, Array> frexp(const Operand& x);
/// numpy.nan_to_num; for complex x, of the real and the imaginary part separately.
Array nan_to_num(const Operand& x, const Operand& nan = 0.0,
                 const std::optional<Operand>& posinf = std::nullopt,
                 const std::optional<Operand>& neginf = std::nullopt);
/// numpy.isclose: |x - y| <= atol + rtol * |y|, elementwise; equal infinities are close.
Array isclose(const Operand& x, const Operand& y, const Operand& rtol = 1e-5,
              const Operand& atol = 1e-8, bool equal_nan = false);
/// numpy.allclose: all(isclose(...)). Evaluates and waits.
bool allclose(const Operand& x, const Operand& y, const Operand& rtol = 1e-5,
              const Operand& atol = 1e-8, bool equal_nan = false);
/// numpy.array_equal: same shape and elements; with equal_nan, NaNs are equal. Evaluates and waits.
bool array_equal(const Operand& x, const Operand& y, bool equal_nan = false);
/// numpy.array_equiv: equal after broadcasting; false if shapes do not broadcast. Evaluates and
/// waits.
bool array_equiv(const Operand& x, const Operand& y);
/// numpy.isposinf and numpy.isneginf.
Array isposinf(const Operand& x);
Array isneginf(const Operand& x);
/// numpy.fix: trunc.
Array fix(const Operand& x);
/// numpy.deg2rad and numpy.rad2deg: convert degrees to radians, and radians to degrees.
Array deg2rad(const Operand& x);
Array rad2deg(const Operand& x);

// Names of the array API standard.
Array abs(const Operand& x);
Array acos(const Operand& x);
Array acosh(const Operand& x);
Array asin(const Operand& x);
Array asinh(const Operand& x);
Array atan(const Operand& x);
Array atan2(const Operand& x, const Operand& y);
Array atanh(const Operand& x);
Array bitwise_invert(const Operand& x);
Array bitwise_left_shift(const Operand& x, const Operand& y);
Array bitwise_right_shift(const Operand& x, const Operand& y);
Array pow(const Operand& x, const Operand& y);

}  // namespace heddle
