#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "heddle/creation.h"

#include "frontend/promote.h"
#include "frontend/python/bindings.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

/// result_type(*arrays_and_dtypes): dtypes stand for arrays of them.
DType result_type(const Arguments& a) {
  std::vector<Array> arrays;
  std::vector<Operand> operands;
  const nb::tuple given = nb::borrow<nb::tuple>(a[0]);
  arrays.reserve(given.size());
  for (nb::handle each : given) {
    if (const ArrayObject* array = as_array(each)) {
      arrays.push_back(array->read(a.where()));
      operands.emplace_back(arrays.back(), a.where());
    } else if (const auto scalar = as_scalar(each)) {
      operands.emplace_back(*scalar, a.where());
    } else {
      arrays.push_back(zeros({}, to_dtype(each), a.where()));
      operands.emplace_back(arrays.back(), a.where());
    }
  }
  if (operands.empty()) raise(PyExc_ValueError, "result_type: at least one argument is needed");
  std::vector<const Operand*> pointers;
  for (const Operand& operand : operands) pointers.push_back(&operand);
  return frontend::common_dtype(pointers);
}

/// numpy.can_cast(from, to, "safe"): no value of `from` is lost.
bool can_cast_safely(DType from, DType to) {
  if (from == to || is_boolean(from)) return true;
  return promote_types(from, to) == to;
}

bool is_kind(DType dtype, std::string_view kind) {
  if (kind == "bool") return is_boolean(dtype);
  if (kind == "signed integer") return is_signed_integer(dtype);
  if (kind == "unsigned integer") return is_unsigned_integer(dtype);
  if (kind == "integral") return is_integer(dtype);
  if (kind == "real floating") return is_floating(dtype);
  if (kind == "complex floating") return is_complex(dtype);
  if (kind == "numeric") return !is_boolean(dtype);
  raise(PyExc_ValueError, fmt::format("isdtype: there is no kind '{}'; kinds are 'bool', 'signed "
                                      "integer', 'unsigned integer', 'integral', 'real floating', "
                                      "'complex floating' and 'numeric'",
                                      kind));
}

bool is_dtype(DType dtype, nb::handle kind) {
  if (PyTuple_Check(kind.ptr())) {
    for (nb::handle each : nb::borrow<nb::tuple>(kind)) {
      if (is_dtype(dtype, each)) return true;
    }
    return false;
  }
  if (nb::isinstance<nb::str>(kind)) return is_kind(dtype, nb::borrow<nb::str>(kind).c_str());
  return dtype == to_dtype(kind);
}

/// The dtype that finfo and iinfo are asked about: an Array's, or one.
DType subject(nb::handle value) {
  if (const ArrayObject* array = as_array(value)) return array->read().dtype();
  return to_dtype(value);
}

/// What numpy.finfo says; `digits` are those of the significand behind the first.
struct FloatInfo {
  int bits, digits, min_exponent, max_exponent;
};
FloatInfo float_info(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {16, 10, -14, 15};
    case DType::bf16:
      return {16, 7, -126, 127};
    case DType::f32:
    case DType::c64:
      return {32, 23, -126, 127};
    case DType::f64:
    case DType::c128:
      return {64, 52, -1022, 1023};
    default:
      raise(PyExc_ValueError,
            fmt::format("finfo: {} is not a floating dtype; use iinfo", numpy_name_of(dtype)));
  }
}

nb::object finfo(DType dtype) {
  const FloatInfo info = float_info(dtype);
  const double greatest = std::ldexp(2 - std::ldexp(1.0, -info.digits), info.max_exponent);
  const DType real = dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype;
  const nb::object type = nb::module_::import_("types").attr("SimpleNamespace");
  return type(nb::arg("bits") = info.bits, nb::arg("eps") = std::ldexp(1.0, -info.digits),
              nb::arg("max") = greatest, nb::arg("min") = -greatest,
              nb::arg("smallest_normal") = std::ldexp(1.0, info.min_exponent),
              nb::arg("tiny") = std::ldexp(1.0, info.min_exponent),
              nb::arg("dtype") = to_python(real));
}

nb::object iinfo(DType dtype) {
  if (!is_integer(dtype)) {
    raise(PyExc_ValueError,
          fmt::format("iinfo: {} is not an integer dtype; use finfo", numpy_name_of(dtype)));
  }
  const int bits = 8 * static_cast<int>(size_of(dtype));
  const bool is_signed = is_signed_integer(dtype);
  const std::uint64_t greatest = ~std::uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  const nb::object type = nb::module_::import_("types").attr("SimpleNamespace");
  return type(nb::arg("bits") = bits, nb::arg("max") = nb::int_(greatest),
              nb::arg("min") = nb::int_(is_signed ? -static_cast<std::int64_t>(greatest) - 1 : 0),
              nb::arg("dtype") = to_python(dtype));
}

}  // namespace

void bind_promotion(Functions& functions) {
  functions.def("result_type(*arrays_and_dtypes: Operand | DTypeLike) -> DType",
                "The dtype that operands have together: numpy.result_type. Python numbers are "
                "weak.\n\nExample: hd.result_type(hd.int8, hd.float32, 1.0)",
                [](const Arguments& a) { return to_python(result_type(a)); });
  functions.def(
      "promote_types(type1: DTypeLike, type2: DTypeLike, /) -> DType",
      "The dtype that two dtypes have together: numpy.promote_types.",
      [](const Arguments& a) { return to_python(promote_types(*a.dtype(0), *a.dtype(1))); });
  functions.def("can_cast(from_: Array | DTypeLike, to: DTypeLike, /) -> bool",
                "Whether the dtype holds every value of the other: numpy.can_cast.",
                [](const Arguments& a) { return can_cast_safely(subject(a[0]), *a.dtype(1)); });
  functions.def("isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool",
                "Whether a dtype is another, or of a kind, or one of several: numpy.isdtype.",
                [](const Arguments& a) { return is_dtype(*a.dtype(0), a[1]); });
  functions.def("finfo(type: Array | DTypeLike, /) -> Any",
                "bits, eps, max, min, smallest_normal and dtype of a floating dtype: numpy.finfo. "
                "Raises ValueError for others.",
                [](const Arguments& a) { return finfo(subject(a[0])); });
  functions.def("iinfo(type: Array | DTypeLike, /) -> Any",
                "bits, max, min and dtype of an integer dtype: numpy.iinfo. Raises ValueError for "
                "others.",
                [](const Arguments& a) { return iinfo(subject(a[0])); });
}

}  // namespace heddle::python
