#include "heddle/selection.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/manipulation.h"

#include "frontend/array/promote.h"
#include "frontend/python/bindings.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

std::string describe_source(const Operand& source) {
  return source.array() == nullptr ? frontend::text_of(source.scalar())
                                   : std::string(numpy_name_of(source.array()->dtype()));
}

/// True if numpy.copyto allows the cast by the named rule; "same_kind" is checked by copyto itself.
/// For a Python number, "equiv" requires its default dtype and the other rules only its kind; with
/// "no", a bool is not an integer.
bool allows(const std::string& casting, const Operand& source, DType dtype) {
  const bool strict = casting == "no" || casting == "equiv";
  if (const Array* array = source.array(); array != nullptr) {
    if (strict) return array->dtype() == dtype;
    return casting != "safe" || can_cast(array->dtype(), dtype);
  }
  if (casting == "equiv") return frontend::default_dtype(source.scalar()) == dtype;
  const bool is_bool = source.scalar().kind == Scalar::Kind::boolean;
  return casting != "no" || !is_bool || is_boolean(dtype);
}

/// A number or an array, cast to a dtype without checks.
Array forced(const Operand& source, DType dtype) {
  if (source.array() != nullptr) return astype(source, dtype);
  const bool complex = source.scalar().kind == Scalar::Kind::complex;
  if (!complex) return full({}, source, dtype);
  return astype({full({}, source, DType::c128), source.where()}, dtype);
}

void copy_to(const Arguments& a) {
  const std::string casting = a.text(2);
  constexpr std::string_view rules[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  if (std::find(std::begin(rules), std::end(rules), casting) == std::end(rules)) {
    raise(PyExc_ValueError,
          fmt::format(
              "copyto: casting must be 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', not '{}'",
              casting));
  }
  Array value = a.array(0);
  const DType dtype = value.dtype();
  const Operand source = a.operand(1);
  if (!allows(casting, source, dtype)) {
    throw DTypeError(
        frontend::at(fmt::format("copyto: casting='{}' does not allow a cast from {} to {}",
                                 casting, describe_source(source), numpy_name_of(dtype)),
                     a.where()));
  }
  // Any number is a mask; an array must be of bools.
  const Array mask =
      as_scalar(a[3]) ? full({}, {PyObject_IsTrue(a[3].ptr()) != 0, a.where()}) : a.mask(3);
  if (casting == "unsafe") {
    copyto(value, {forced(source, dtype), a.where()}, mask);
  } else {
    copyto(value, source, mask);
  }
  a.target(0).write(value, a.where());
}

/// A sequence of masks, stacked masks, or a single mask. A single mask is 0-d, or 1-d or a list of
/// bools for an x with axes.
std::vector<Array> conditions_of(const Arguments& a) {
  const bool has_axes = asarray(a.operand(0)).ndim() > 0;
  if (as_array(a[1]) != nullptr || PyBool_Check(a[1].ptr())) {
    const Array masks = asarray(a.operand(1));
    if (masks.ndim() == 0 || (masks.ndim() == 1 && has_axes)) return {masks};
    return unstack({masks, a.where()}, 0);
  }
  if (!PyList_Check(a[1].ptr()) && !PyTuple_Check(a[1].ptr())) return a.arrays(1);
  std::vector<Array> result;
  for (nb::handle each : nb::borrow(a[1])) {
    if (PyBool_Check(each.ptr()) && has_axes) return {from_python(a[1], std::nullopt, a.where())};
    const ArrayObject* array = as_array(each);
    result.push_back(array != nullptr ? array->read(a.where())
                                      : from_python(each, std::nullopt, a.where()));
  }
  return result;
}

/// A number, or a function of x and the further arguments.
Piece to_piece(nb::handle value, const Arguments& a) {
  if (const auto scalar = as_scalar(value)) return {*scalar};
  if (PyCallable_Check(value.ptr()) == 0) {
    raise(PyExc_TypeError,
          "piecewise: funclist must contain numbers and functions, not " + describe_foreign(value));
  }
  return {Piece::Function([&a, value](const Array& x) -> Array {
    const nb::object result =
        nb::borrow(value)(wrap(x), *nb::borrow<nb::tuple>(a[3]), **nb::borrow<nb::dict>(a[4]));
    if (const ArrayObject* array = as_array(result)) return array->read(a.where());
    if (const auto scalar = as_scalar(result)) return full({}, {*scalar, a.where()});
    raise(PyExc_TypeError,
          "piecewise: a function must return an Array, not " + describe_foreign(result));
  })};
}

Array piecewise_of(const Arguments& a) {
  std::vector<Piece> pieces;
  const nb::object functions = as_array(a[2]) == nullptr && !is_numpy_array(a[2])
                                   ? nb::borrow(a[2])
                                   : nb::borrow(a[2]).attr("tolist")();
  for (nb::handle each : functions) pieces.push_back(to_piece(each, a));
  return piecewise(a.operand(0), conditions_of(a), pieces);
}

/// Applies a function that writes values into an array through a mask.
nb::object written(const Arguments& a, void (*write)(Array&, const Array&, const Operand&)) {
  Array value = a.target(0).read(a.where());
  write(value, a.array(1), a.operand(2));
  a.target(0).write(value, a.where());
  return nb::none();
}

}  // namespace

void bind_selection(Functions& functions) {
  functions.def(
      "piecewise(x: Array, condlist: Array | Sequence[Array], funclist: Sequence[Any], *args: "
      "Any, **kw: Any) -> Array",
      "An array with the shape and dtype of x: numpy.piecewise. Each element comes from the "
      "function or number of the last condition that is true there. Where no condition is true it "
      "comes from one additional function or number, or is 0. Functions receive all of x, args and "
      "kw, and must be elementwise.\n\n"
      "Raises ValueError unless there are as many functions as conditions, or one more; ShapeError "
      "for conditions whose shape differs from x's.\n\n"
      "Example: hd.piecewise(x, [x < 0, x >= 0], [lambda x: -x, hd.sqrt])",
      [](const Arguments& a) { return piecewise_of(a); });
  functions.def(
      "select(condlist: Sequence[Array], choicelist: Sequence[Array], default: Operand = 0) -> "
      "Array",
      "Each element from the first choice whose condition is true there, else the default: "
      "numpy.select. All arrays broadcast.\n\n"
      "Raises ValueError unless there are as many conditions as choices, DTypeError for conditions "
      "that are not bool.",
      [](const Arguments& a) { return select(a.arrays(0), a.arrays(1), a.operand(2)); });
  functions.def(
      "choose(a: Array, choices: Sequence[Array], out: Array | None = None, mode: str = "
      "'raise') -> Array",
      "The elements choices[a[i]][i], with a as the index of the choice; all arrays broadcast: "
      "numpy.choose. Indices out of range wrap around with mode 'wrap', and are clipped with "
      "'clip' and also with 'raise', where NumPy raises. The result is cast to the dtype of `out`, "
      "with any loss.",
      [](const Arguments& a) {
        const Array chosen = choose(a.operand(0), a.arrays(1), a.text(3));
        return a.is_none(2) ? chosen : astype({chosen, a.where()}, a.array(2).dtype());
      });
  functions.def(
      "copyto(dst: Array, src: Operand, casting: str = 'same_kind', where: Array | bool = True) "
      "-> None",
      "Writes src, broadcast to dst, to dst where the mask `where` is true: numpy.copyto. Raises "
      "DTypeError if the casting rule ('no', 'equiv', 'safe', 'same_kind' or 'unsafe') does not "
      "allow the cast.",
      [](const Arguments& a) {
        copy_to(a);
        return nb::none();
      });
  functions.def("putmask(a: Array, /, mask: Array, values: Operand) -> None",
                "Writes element i of the values, repeated as needed, to element i of a where the "
                "mask is true: numpy.putmask.",
                [](const Arguments& a) { return written(a, putmask); });
  functions.def(
      "place(arr: Array, mask: Array, vals: Operand) -> None",
      "Writes the n-th of the values, repeated as needed, to the n-th element where the mask is "
      "true: numpy.place. Raises ShapeError for a mask of another size, DTypeError for values that "
      "cannot be cast to arr's dtype, ValueError for no values.",
      [](const Arguments& a) { return written(a, place); });
}

}  // namespace heddle::python
