#include "heddle/creation.h"
#include "heddle/dtype_info.h"

#include "frontend/python/bindings.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

/// result_type(*arrays_and_dtypes): a dtype stands for an array of that dtype.
DType result(const Arguments& a) {
  std::vector<Array> arrays;
  std::vector<Operand> operands;
  const nb::tuple given = nb::borrow<nb::tuple>(a[0]);
  arrays.reserve(given.size());
  for (nb::handle each : given) {
    if (const ArrayObject* array = as_array(each)) {
      arrays.push_back(array->read(a.where()));
      operands.emplace_back(arrays.back(), a.where());
    } else if (is_numpy_scalar(each) || is_numpy_array(each)) {
      arrays.push_back(zeros({}, to_dtype(each.attr("dtype")), a.where()));
      operands.emplace_back(arrays.back(), a.where());
    } else if (const auto scalar = as_scalar(each)) {
      operands.emplace_back(*scalar, a.where());
    } else {
      arrays.push_back(zeros({}, to_dtype(each), a.where()));
      operands.emplace_back(arrays.back(), a.where());
    }
  }
  return result_type(operands);
}

bool is_one_of(DType dtype, nb::handle kind) {
  if (PyTuple_Check(kind.ptr())) {
    for (nb::handle each : nb::borrow<nb::tuple>(kind)) {
      if (is_one_of(dtype, each)) return true;
    }
    return false;
  }
  if (nb::isinstance<nb::str>(kind)) return isdtype(dtype, nb::borrow<nb::str>(kind).c_str());
  return dtype == to_dtype(kind);
}

/// The dtype of an Array, or a dtype itself.
DType subject(nb::handle value) {
  if (const ArrayObject* array = as_array(value)) return array->read().dtype();
  return to_dtype(value);
}

/// A namespace object of named values, like NumPy's finfo and iinfo.
template <class... Fact>
nb::object facts(const Fact&... fact) {
  return nb::module_::import_("types").attr("SimpleNamespace")(fact...);
}

nb::object float_facts(DType dtype) {
  const FloatInfo info = finfo(dtype);
  return facts(nb::arg("bits") = info.bits, nb::arg("eps") = info.eps, nb::arg("max") = info.max,
               nb::arg("min") = info.min, nb::arg("smallest_normal") = info.smallest_normal,
               nb::arg("tiny") = info.smallest_normal,
               nb::arg("smallest_subnormal") = info.smallest_subnormal,
               nb::arg("dtype") = to_python(info.dtype));
}

nb::object integer_facts(DType dtype) {
  const IntegerInfo info = iinfo(dtype);
  return facts(nb::arg("bits") = info.bits, nb::arg("max") = nb::int_(info.max),
               nb::arg("min") = nb::int_(info.min), nb::arg("dtype") = to_python(info.dtype));
}

}  // namespace

void bind_promotion(Functions& functions) {
  functions.def("result_type(*arrays_and_dtypes: Operand | DTypeLike) -> DType",
                "The common dtype of operands and dtypes: numpy.result_type. Python numbers are "
                "weak. Raises ValueError without arguments.\n\n"
                "Example: hd.result_type(hd.int8, hd.float32, 1.0)",
                [](const Arguments& a) { return to_python(result(a)); });
  functions.def("promote_types(type1: DTypeLike, type2: DTypeLike, /) -> DType",
                "The common dtype of two dtypes: numpy.promote_types.", [](const Arguments& a) {
                  return to_python(promote_types(*a.dtype(0), *a.dtype(1)));
                });
  functions.def(
      "can_cast(from_: Array | DTypeLike, to: DTypeLike, casting: str = \"safe\") -> "
      "bool",
      "True if the casting rule allows the cast: numpy.can_cast. The rules are 'no', 'equiv', "
      "'safe', 'same_kind' and 'unsafe'.",
      [](const Arguments& a) {
        return can_cast(subject(a[0]), *a.dtype(1), to_casting("can_cast", a[2]));
      });
  functions.def("isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool",
                "True if the dtype equals `kind` or belongs to that kind, or to one of several: "
                "numpy.isdtype. Raises ValueError for an unknown kind.",
                [](const Arguments& a) { return is_one_of(*a.dtype(0), a[1]); });
  functions.def("finfo(dtype: Array | DTypeLike) -> Any",
                "Limits of a floating dtype: bits, eps, max, min, smallest_normal, "
                "smallest_subnormal and dtype: numpy.finfo. Raises ValueError for other dtypes.",
                [](const Arguments& a) { return float_facts(subject(a[0])); });
  functions.def("iinfo(int_type: Array | DTypeLike) -> Any",
                "Limits of an integer dtype: bits, max, min and dtype: numpy.iinfo. Raises "
                "ValueError for other dtypes.",
                [](const Arguments& a) { return integer_facts(subject(a[0])); });
}

}  // namespace heddle::python
