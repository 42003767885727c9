#include "heddle/elementwise.h"

#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"
#include "heddle/take.h"

#include "frontend/array/promote.h"
#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/ufunc.h"
#include "ir/types/op.h"

namespace heddle::python {
namespace {

using ir::Op;
using ir::TypeRule;

const char* dtype_rule(const ir::OpInfo& info) {
  switch (info.rule) {
    case TypeRule::floating:
      return "Integers and bool are converted to a floating dtype first: 8 bits to float16, 16 "
             "bits to float32, others to float64.";
    case TypeRule::divide:
      return "Integers and bool are converted to float64 first.";
    case TypeRule::real_part:
      return "For complex numbers the result is real.";
    case TypeRule::complex_of:
      return "The result is complex64 for floating dtypes up to float32, else complex128.";
    case TypeRule::comparison:
    case TypeRule::predicate:
    case TypeRule::logical:
      return "The result is bool.";
    case TypeRule::exponent:
      return "The result is int32.";
    case TypeRule::bit_count:
      return "The result is uint8.";
    case TypeRule::draw:
      return "x1 and x2 are integers: a key and a counter. The other operands and the result are "
             "float64. The result is NaN where operands are out of the distribution's range.";
    case TypeRule::sample_single:
      return "x1 and x2 are integers: a key and a counter. The result is float32.";
    case TypeRule::load_exponent:
      return "x1 is floating, or is converted to a floating dtype first; x2 is an integer.";
    default:
      return "The result has the operands' common dtype (heddle.result_type).";
  }
}

/// "x", or "x1, x2 ...", each with the annotation appended.
std::string parameters(int arity, std::string_view annotation) {
  if (arity == 1) return fmt::format("x{}", annotation);
  std::string text;
  for (int k = 1; k <= arity; ++k)
    text += fmt::format("{}x{}{}", k == 1 ? "" : ", ", k, annotation);
  return text;
}

std::string documentation(const ir::OpInfo& info) {
  const std::string arguments = parameters(info.arity, "");
  std::string text = fmt::format("{}({}), elementwise: {}.\n\n", info.name, arguments, info.numpy);
  if (info.arity > 1) {
    text +=
        "The operands broadcast against each other; Python numbers take the arrays' dtype "
        "within their kind. ";
  } else {
    text += "The result has the shape of x. ";
  }
  text += dtype_rule(info);
  if (info.ulp > 0) text += fmt::format(" The error is at most {} ulp.", info.ulp);
  text +=
      "\n\n"
      "Raises DTypeError for unsupported dtypes";
  if (info.arity > 1) text += ", ShapeError for shapes that do not broadcast";
  text += fmt::format(".\n\nExample: y = hd.{}({})", info.name, arguments);
  return text;
}

/// numpy.floor and similar functions return integers unchanged.
Ufunc ufunc_of(const ir::OpInfo& info) {
  const bool keeps_integers = info.has(ir::identity_on_integers);
  return {info.arity, 1, info.rule,
          info.dtypes | (keeps_integers ? ir::booleans | ir::integers : ir::DTypeSet{0}),
          ufunc_identity(info.name)};
}

#define HEDDLE_CALL_1(name) heddle::name(a.operand(0))
#define HEDDLE_CALL_2(name) heddle::name(a.operand(0), a.operand(1))
#define HEDDLE_CALL_3(name) heddle::name(a.operand(0), a.operand(1), a.operand(2))
#define HEDDLE_CALL_4(name) heddle::name(a.operand(0), a.operand(1), a.operand(2), a.operand(3))
#define HEDDLE_CALL_5(name) \
  heddle::name(a.operand(0), a.operand(1), a.operand(2), a.operand(3), a.operand(4))

void bind_table(Functions& functions) {
  // The op `select` is numpy.where; numpy.select is another function. Real and imaginary parts are
  // views, and sinc is not a ufunc in NumPy.
#define HD_OP(name, arity, ...)                                                                 \
  if (Op::name != Op::select && Op::name != Op::real && Op::name != Op::imag &&                 \
      Op::name != Op::sinc) {                                                                   \
    functions.def_ufunc(#name, ufunc_of(ir::info(Op::name)), documentation(ir::info(Op::name)), \
                        [](const Arguments& a) { return HEDDLE_CALL_##arity(name); });          \
  }
#include "heddle/ops.def"
#undef HD_OP
}

nb::object part_of(const Arguments& a, bool imaginary) {
  if (as_array(a[0]) != nullptr) return nb::cast(a.object(0).part(imaginary, a.where()));
  return wrap(imaginary ? imag(a.operand(0)) : real(a.operand(0)));
}

void bind_parts(Functions& functions) {
  const char* const views =
      "\n\n"
      "For complex numbers the result is a view that writes through.";
  functions.def("real(val: Operand) -> Array", documentation(ir::info(Op::real)) + views,
                [](const Arguments& a) { return part_of(a, false); });
  functions.def("sinc(x: Operand) -> Array", documentation(ir::info(Op::sinc)),
                [](const Arguments& a) { return sinc(a.operand(0)); });
  functions.def("fix(x: Operand, out: Array | None = None) -> Array",
                "x rounded toward 0, like trunc: numpy.fix.",
                [](const Arguments& a) { return fix(a.operand(0)); });
  functions.def("imag(val: Operand) -> Array", documentation(ir::info(Op::imag)) + views,
                [](const Arguments& a) { return part_of(a, true); });
}

/// NumPy's ufuncs that are composed of several ops of the table.
void bind_composed_ufuncs(Functions& functions) {
  const auto ufunc = [](int inputs, int outputs, TypeRule rule, ir::DTypeSet dtypes) {
    return Ufunc{inputs, outputs, rule, dtypes, Py_None};
  };
  functions.def_ufunc("positive", ufunc(1, 1, TypeRule::arithmetic, ir::numbers),
                      "+x: numpy.positive. Raises DTypeError for bool.",
                      [](const Arguments& a) { return positive(a.operand(0)); });
  functions.def_ufunc("float_power",
                      ufunc(2, 1, TypeRule::arithmetic, ir::doubles | ir::set_of(DType::c128)),
                      "x1 raised to the power x2, in float64 or complex128: numpy.float_power.",
                      [](const Arguments& a) { return float_power(a.operand(0), a.operand(1)); });
  functions.def_ufunc("divmod", ufunc(2, 2, TypeRule::arithmetic, ir::reals),
                      "The tuple (x1 // x2, x1 % x2): numpy.divmod.", [](const Arguments& a) {
                        return heddle::divmod(a.operand(0), a.operand(1));
                      });
  functions.def_ufunc(
      "modf", ufunc(1, 2, TypeRule::arithmetic, ir::floats),
      "The tuple (fractional part, integral part), both with the sign of x: numpy.modf.",
      [](const Arguments& a) { return heddle::modf(a.operand(0)); });
  functions.def_ufunc("frexp", ufunc(1, 2, TypeRule::arithmetic, ir::floats),
                      "The tuple (mantissa, exponent) with x = mantissa * 2**exponent; the "
                      "mantissa is in [0.5, 1), the exponent is int32: numpy.frexp.",
                      [](const Arguments& a) { return heddle::frexp(a.operand(0)); });
}

nb::object chosen(const Arguments& a) {
  if (a.is_none(1) != a.is_none(2)) {
    raise(PyExc_ValueError, "where: pass both x and y, or neither");
  }
  if (a.is_none(1)) return to_result(nonzero(a.operand(0)));
  return wrap(where(a.operand(0), a.operand(1), a.operand(2)));
}

/// DTypeError for a complex number, which cannot replace a part of another one.
void check_real(const Arguments& a, std::size_t i) {
  if (a.is_none(i)) return;
  const Operand value = a.operand(i);
  const bool is_complex_value = value.array() == nullptr
                                    ? value.scalar().kind == Scalar::Kind::complex
                                    : is_complex(value.array()->dtype());
  if (is_complex_value)
    throw DTypeError(
        frontend::at(a.name() + ": the replacement for NaN or infinity must be real", a.where()));
}

using Bound = std::optional<Operand>;

Bound bound(const Arguments& a, std::size_t i) {
  return a.is_none(i) ? std::nullopt : Bound(a.operand(i));
}

/// The array API standard's names for functions of the table.
constexpr std::pair<const char*, const char*> aliases[] = {
    {"abs", "absolute"},
    {"acos", "arccos"},
    {"acosh", "arccosh"},
    {"asin", "arcsin"},
    {"asinh", "arcsinh"},
    {"atan", "arctan"},
    {"atan2", "arctan2"},
    {"atanh", "arctanh"},
    {"bitwise_invert", "invert"},
    {"bitwise_not", "invert"},
    {"bitwise_left_shift", "left_shift"},
    {"bitwise_right_shift", "right_shift"},
    {"conj", "conjugate"},
    {"pow", "power"},
    {"true_divide", "divide"},
    {"mod", "remainder"},
    {"deg2rad", "radians"},
    {"rad2deg", "degrees"},
};

}  // namespace

void bind_elementwise(Functions& functions) {
  bind_table(functions);
  bind_parts(functions);
  bind_composed_ufuncs(functions);
  for (const auto& [name, of] : aliases) functions.alias(name, of);
  functions.give_variables(true);
  functions.def(
      "where(condition: Operand, x: Operand | None = None, y: Operand | None = None, /) -> Array | "
      "tuple[Array, ...]",
      "The elements of x where the condition is true, else those of y: numpy.where.\n\n"
      "All three broadcast. A condition that is not bool is true where it is not 0. With the "
      "condition alone, nonzero(condition), which evaluates and waits. Raises ShapeError.\n\n"
      "Example: hd.where(x < 0, 0, x)",
      [](const Arguments& a) { return chosen(a); });
  functions.give_variables(false);
  functions.def_with_method(
      "clip(a: Operand, min|a_min: Operand | None = None, max|a_max: Operand | None = None, out: "
      "Array | None = None) -> Array",
      "The elements of a limited to [min, max], with NaN unchanged: numpy.clip. The bounds "
      "broadcast against a; a_min and a_max are other names for them.\n\n"
      "The dtype is the common dtype of a and the arrays among the bounds. Raises ShapeError.\n\n"
      "Example: hd.clip(x, 0, 1)",
      [](const Arguments& a) {
        const Bound low = bound(a, 1), high = bound(a, 2);
        if (!low && !high) return positive(a.operand(0));  // bools have no such function
        return frontend::clip({asarray(a.operand(0)), a.where()}, low ? &*low : nullptr,
                              high ? &*high : nullptr);
      });
  functions.def_with_method(
      "round(a: Operand, decimals: int = 0, out: Array | None = None) -> Array",
      "a rounded to `decimals` places, with halves to even, in a's shape and dtype: "
      "numpy.round.\n\n"
      "Example: hd.round(x, 2)",
      [](const Arguments& a) { return round(a.operand(0), static_cast<int>(a.integer(1))); });
  functions.alias("around", "round");
  functions.def("sinc(x: Operand) -> Array", documentation(ir::info(Op::sinc)),
                [](const Arguments& a) { return sinc(a.operand(0)); });
  functions.def("fix(x: Operand, out: Array | None = None) -> Array",
                "x rounded toward 0, in x's dtype: numpy.fix.",
                [](const Arguments& a) { return trunc(a.operand(0)); });
  functions.def("angle(z: Operand, deg: bool = False) -> Array",
                "The angle of each element in the complex plane, in (-pi, pi], or in degrees with "
                "deg=True: numpy.angle. For real numbers it is 0 or pi.",
                [](const Arguments& a) { return angle(a.operand(0), a.flag(1)); });
  functions.def("iscomplex(x: Operand) -> Array",
                "True where the imaginary part is not 0, elementwise: numpy.iscomplex.",
                [](const Arguments& a) { return iscomplex(a.operand(0)); });
  functions.def("isreal(x: Operand) -> Array",
                "True where the imaginary part is 0, elementwise: numpy.isreal.",
                [](const Arguments& a) { return isreal(a.operand(0)); });
  functions.def(
      "nan_to_num(x: Operand, copy: bool = True, nan: Operand = 0.0, posinf: Operand | None = "
      "None, "
      "neginf: Operand | None = None) -> Array",
      "x with NaN and infinities replaced: numpy.nan_to_num. The defaults are 0 for NaN, and the "
      "greatest and the least finite number of the dtype for the infinities. With copy=False, x "
      "itself is changed.",
      [](const Arguments& a) {
        for (const std::size_t i : {2, 3, 4}) check_real(a, i);
        const Array result = nan_to_num(a.operand(0), a.operand(2), bound(a, 3), bound(a, 4));
        if (a.flag(1)) return wrap(result);
        store(a.target(0), result, "nan_to_num", a.where());
        return nb::borrow(a[0]);
      });
  functions.def(
      "isclose(a: Operand, b: Operand, rtol: Operand = 1e-05, atol: Operand = 1e-08, equal_nan: "
      "bool "
      "= False) -> Array",
      "True where |a - b| <= atol + rtol * |b|, elementwise: numpy.isclose. With equal_nan, NaN "
      "equals NaN.",
      [](const Arguments& a) {
        return isclose(a.operand(0), a.operand(1), a.operand(2), a.operand(3), a.flag(4));
      });
  functions.def(
      "allclose(a: Operand, b: Operand, rtol: Operand = 1e-05, atol: Operand = 1e-08, equal_nan: "
      "bool = False) -> bool",
      "all(isclose(...)) as a Python bool: numpy.allclose. Evaluates and waits. Raises TraceError "
      "inside a trace.",
      [](const Arguments& a) {
        const Array close =
            isclose(a.operand(0), a.operand(1), a.operand(2), a.operand(3), a.flag(4));
        return truth(all({close, a.where()}), a.where());
      });
  functions.def(
      "array_equal(a1: Operand, a2: Operand, equal_nan: bool = False) -> bool",
      "True if the shapes and all elements are equal, as a Python bool: numpy.array_equal. With "
      "equal_nan, NaN equals NaN. Evaluates and waits. Raises TraceError inside a trace.",
      [](const Arguments& a) {
        const Array x = asarray(a.operand(0)), y = asarray(a.operand(1));
        if (x.shape() != y.shape()) return false;
        Array same = equal({x, a.where()}, {y, a.where()});
        if (a.flag(2)) {
          const Array number_x = isnan({x, a.where()}), number_y = isnan({y, a.where()});
          const Array both = logical_and({number_x, a.where()}, {number_y, a.where()});
          same = logical_or({same, a.where()}, {both, a.where()});
        }
        return truth(all({same, a.where()}), a.where());
      });
  functions.def(
      "array_equiv(a1: Operand, a2: Operand) -> bool",
      "True if the arrays broadcast against each other and all elements are equal, as a Python "
      "bool: numpy.array_equiv. Evaluates and waits. Raises TraceError inside a trace.",
      [](const Arguments& a) {
        const Array x = asarray(a.operand(0)), y = asarray(a.operand(1));
        try {
          static_cast<void>(broadcast_shapes(std::array{x.shape(), y.shape()}));
        } catch (const ShapeError&) {
          return false;
        }
        return truth(all({equal({x, a.where()}, {y, a.where()}), a.where()}), a.where());
      });
  functions.def("isposinf(x: Operand, out: Array | None = None) -> Array",
                "True where x is positive infinity, elementwise: numpy.isposinf.",
                [](const Arguments& a) { return isposinf(a.operand(0)); });
  functions.def("isneginf(x: Operand, out: Array | None = None) -> Array",
                "True where x is negative infinity, elementwise: numpy.isneginf.",
                [](const Arguments& a) { return isneginf(a.operand(0)); });
}

}  // namespace heddle::python
