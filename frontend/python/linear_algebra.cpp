#include "heddle/linear_algebra.h"

#include <fmt/format.h>

#include "frontend/python/bindings.h"
#include "frontend/python/casting.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"

namespace heddle::python {

namespace {

void bind_vector_products(Functions& functions) {
  functions.def("matvec(x1: Array, x2: Array, /, out: Array | None = None) -> Array",
                "Matrices times vectors, leading axes broadcast: numpy.matvec. Raises ShapeError.",
                [](const Arguments& a) { return matvec(a.operand(0), a.operand(1)); });
  functions.def("vecmat(x1: Array, x2: Array, /, out: Array | None = None) -> Array",
                "Vectors times matrices, leading axes broadcast: numpy.vecmat. Raises ShapeError.",
                [](const Arguments& a) { return vecmat(a.operand(0), a.operand(1)); });
  functions.def(
      "vecdot(x1: Array, x2: Array, /, out: Array | None = None, *, axis: int = -1) -> Array",
      "Products of vectors along an axis, other axes broadcast: numpy.vecdot. Raises "
      "ShapeError when the extents differ.",
      [](const Arguments& a) { return vecdot(a.operand(0), a.operand(1), a.integer(3)); });
  functions.def("vdot(a: Array, b: Array, /) -> Array",
                "The product of the flattened operands: numpy.vdot. Raises ShapeError.",
                [](const Arguments& a) { return vdot(a.operand(0), a.operand(1)); });
  functions.def("inner(a: Operand, b: Operand, /) -> Array",
                "Sums of products over both last axes: numpy.inner. Raises ShapeError.",
                [](const Arguments& a) { return inner(a.operand(0), a.operand(1)); });
  functions.def(
      "cross(a: Array, b: Array, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int "
      "| None = None) -> Array",
      "The cross product of vectors of 3 elements, or 2: numpy.cross. `axis` is all three of the "
      "others. Raises ShapeError for other extents.",
      [](const Arguments& a) {
        const auto axis = [&](std::size_t i) { return a.integer(a.is_none(5) ? i : 5); };
        return cross(a.operand(0), a.operand(1), axis(2), axis(3), axis(4));
      });
}

/// tensordot's axes: a number of axes, or a pair of lists.
Array contracted(const Arguments& a) {
  if (is_integer(a[2])) {
    return tensordot(a.operand(0), a.operand(1), a.integer(2));
  }
  const nb::object both = nb::borrow(a[2]);
  if (nb::len(both) != 2) a.mistyped(2, "an integer or two tuples of axes");
  const auto axes = [](const nb::object& given) {
    std::vector<std::int64_t> result;
    if (is_integer(given)) return std::vector{to_integer(given)};
    for (nb::handle each : given) result.push_back(to_integer(each));
    return result;
  };
  return tensordot(a.operand(0), a.operand(1), axes(both[0]), axes(both[1]));
}

/// Converts one of einsum's label lists to letters. As in NumPy, capitals come first.
std::string letters_of(nb::handle labels) {
  std::string result;
  for (nb::handle label : nb::borrow(labels)) {
    if (label.ptr() == Py_Ellipsis) {
      result += "...";
      continue;
    }
    const std::int64_t number = to_integer(label);
    if (number < 0 || number >= 52)
      raise(PyExc_ValueError, fmt::format("einsum: the label {} is not in [0, 52)", number));
    const auto letter = static_cast<char>(number % 26);
    result += static_cast<char>((number < 26 ? 'A' : 'a') + letter);
  }
  return result;
}

/// The arguments of einsum: subscripts and operands.
struct Products {
  std::string subscripts;
  std::vector<nb::object> operands;
};

Products products_of(const Arguments& a) {
  const nb::tuple given = nb::borrow<nb::tuple>(a[0]);
  if (given.size() == 0) raise(PyExc_ValueError, "einsum needs subscripts and operands");
  Products result;
  if (nb::isinstance<nb::str>(given[0])) {
    result.subscripts = utf8_of(given[0]);
    for (std::size_t i = 1; i < given.size(); ++i) result.operands.push_back(given[i]);
    return result;
  }
  for (std::size_t i = 0; i + 1 < given.size(); i += 2) {
    if (i > 0) result.subscripts += ',';
    result.subscripts += letters_of(given[i + 1]);
    result.operands.push_back(given[i]);
  }
  if (given.size() % 2 == 1) result.subscripts += "->" + letters_of(given[given.size() - 1]);
  return result;
}

/// A diagonal or a transpose of the only operand is a view of it, as in NumPy.
nb::object summed_products(const Arguments& a) {
  static_cast<void>(a.order(4));
  const Casting rule = to_casting(a.name(), a[5]);
  const std::optional<DType> dtype = a.dtype(3);
  const Products products = products_of(a);
  std::vector<Array> operands;
  for (const nb::object& each : products.operands) {
    const ArrayObject* array = as_array(each);
    const Array value =
        array != nullptr ? array->read(a.where()) : from_python(each, std::nullopt, a.where());
    operands.push_back(dtype ? cast_by_rule(a.name(), value, *dtype, rule, a.where()) : value);
  }
  const Array result = einsum(products.subscripts, operands, a.where());
  if (!a.is_none(1))
    return wrap(cast_by_rule(a.name(), result, a.array(1).dtype(), rule, a.where()));
  if (products.operands.size() == 1 && !dtype) {
    if (const ArrayObject* const only = as_array(products.operands[0])) {
      ArrayObject view = only->view_of(result, a.where());
      if (view.shared_base() == only->shared_base()) return nb::cast(std::move(view));
    }
  }
  return wrap(result);
}

void bind_sums_of_products(Functions& functions) {
  functions.def(
      "tensordot(a: Array, b: Array, axes: int | tuple[Sequence[int], Sequence[int]] = 2) "
      "-> Array",
      "Sums of products over pairs of axes, or over the last axes of a with the first of b: "
      "numpy.tensordot. Raises ShapeError when their extents differ.\n\nExample: "
      "hd.tensordot(x, y, axes=((1,), (0,)))",
      [](const Arguments& a) { return contracted(a); });
  functions.def("kron(a: Array, b: Array) -> Array",
                "The array b times each element of a: numpy.kron.",
                [](const Arguments& a) { return kron(a.operand(0), a.operand(1)); });
  functions.def(
      "einsum(*operands: Any, out: Array | None = None, optimize: Any = False, dtype: DTypeLike | "
      "None = None, order: str = 'K', casting: str = 'safe') -> Array",
      "Sums of products as the subscripts in front of the operands say, or lists of integers, or "
      "of "
      "Ellipsis, behind each operand and behind all of them: numpy.einsum. Sums over two operands "
      "are matrix products; several are multiplied pair by pair, smallest results first, whatever "
      "`optimize` says. Operands are cast to `dtype`, if one is given, and the result to that of "
      "out, by the casting rule; the order changes nothing.\n\nRaises ValueError for subscripts "
      "that do not fit, ShapeError when "
      "extents differ.\n\nExample: hd.einsum(\"bij,bjk->bik\", x, y)",
      [](const Arguments& a) { return summed_products(a); });
}

}  // namespace

void bind_linear_algebra(Functions& functions) {
  functions.def(
      "matmul(x1: Array, x2: Array, /, out: Array | None = None, *, precision: str | None = None) "
      "-> Array",
      "The matrix product x1 @ x2: numpy.matmul. Leading axes broadcast; a vector counts "
      "as a row on the left and a column on the right. `precision` is how exactly float32 and "
      "complex64 are multiplied: 'ieee', or 'tf32' or 'bf16', which let a GPU round the elements; "
      "by default what set_matmul_precision says.\n\nRaises ShapeError when inner "
      "extents differ or an operand is 0-d, ValueError for another precision.",
      [](const Arguments& a) {
        return matmul(a.operand(0), a.operand(1), {.precision = a.precision(3)});
      });
  functions.def_with_method("dot(a: Operand, b: Operand, out: Array | None = None) -> Array",
                            "The product of vectors, or of matrices: numpy.dot. Raises ShapeError.",
                            [](const Arguments& a) { return dot(a.operand(0), a.operand(1)); });
  functions.def("outer(a: Array, b: Array, out: Array | None = None) -> Array",
                "The products of all pairs of the flattened operands: numpy.outer.",
                [](const Arguments& a) { return outer(a.operand(0), a.operand(1)); });
  bind_vector_products(functions);
  bind_sums_of_products(functions);
}

}  // namespace heddle::python
