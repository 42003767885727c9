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
                "The products of matrices and vectors; leading axes broadcast: numpy.matvec. "
                "Raises ShapeError.",
                [](const Arguments& a) { return matvec(a.operand(0), a.operand(1)); });
  functions.def("vecmat(x1: Array, x2: Array, /, out: Array | None = None) -> Array",
                "The products of vectors and matrices; leading axes broadcast: numpy.vecmat. "
                "Raises ShapeError.",
                [](const Arguments& a) { return vecmat(a.operand(0), a.operand(1)); });
  functions.def(
      "vecdot(x1: Array, x2: Array, /, out: Array | None = None, *, axis: int = -1) -> Array",
      "The dot products of vectors along an axis, with x1 conjugated; other axes broadcast: "
      "numpy.vecdot. Raises ShapeError if the extents differ.",
      [](const Arguments& a) { return vecdot(a.operand(0), a.operand(1), a.integer(3)); });
  functions.def("vdot(a: Array, b: Array, /) -> Array",
                "The dot product of the flattened operands, with a conjugated: numpy.vdot. Raises "
                "ShapeError if the sizes differ.",
                [](const Arguments& a) { return vdot(a.operand(0), a.operand(1)); });
  functions.def("inner(a: Operand, b: Operand, /) -> Array",
                "Sums of products over the last axes of both operands: numpy.inner. Raises "
                "ShapeError if these extents differ.",
                [](const Arguments& a) { return inner(a.operand(0), a.operand(1)); });
  functions.def(
      "cross(a: Array, b: Array, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int "
      "| None = None) -> Array",
      "The cross products of vectors of 3 or 2 elements: numpy.cross. The vectors are along axisa "
      "and axisb, those of the result along axisc; `axis` sets all three. Raises ShapeError for "
      "other extents.",
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
      raise(PyExc_ValueError, fmt::format("einsum: the label {} must be in [0, 52)", number));
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
    const ArrayObject* const only = as_array(products.operands[0]);
    if (only != nullptr && result.ndim() > 0) {
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
      "Sums of products over pairs of axes, or over the last axes of a and the first axes of b if "
      "`axes` is an integer: numpy.tensordot. Raises ShapeError if the extents differ.\n\n"
      "Example: hd.tensordot(x, y, axes=((1,), (0,)))",
      [](const Arguments& a) { return contracted(a); });
  functions.def("kron(a: Array, b: Array) -> Array",
                "The Kronecker product, b multiplied by each element of a: numpy.kron.",
                [](const Arguments& a) { return kron(a.operand(0), a.operand(1)); });
  functions.def(
      "einsum(*operands: Any, out: Array | None = None, optimize: Any = False, dtype: DTypeLike | "
      "None = None, order: str = 'K', casting: str = 'safe') -> Array",
      "Sums of products given by subscripts: numpy.einsum. The subscripts are a string before the "
      "operands, or a list of integers and Ellipsis after each operand and, for the output, after "
      "the last one. Sums over two operands are matrix products. More operands are multiplied in "
      "pairs, those with the smallest results first, for every `optimize`. Operands are cast to "
      "`dtype` if it is given, and the result to that of `out`, by the casting rule. `order` has "
      "no effect.\n\n"
      "Raises ValueError for invalid subscripts, ShapeError if extents differ.\n\n"
      "Example: hd.einsum('bij,bjk->bik', x, y)",
      [](const Arguments& a) { return summed_products(a); });
}

}  // namespace

void bind_linear_algebra(Functions& functions) {
  functions.def(
      "matmul(x1: Array, x2: Array, /, out: Array | None = None, *, precision: str | None = None) "
      "-> Array",
      "The matrix product x1 @ x2: numpy.matmul. Leading axes broadcast; a 1-d array is a row on "
      "the left and a column on the right. `precision` applies to float32 and complex64: 'ieee' is "
      "full precision, 'tf32' and 'bf16' let a GPU round the elements first; the default is the "
      "setting of set_matmul_precision.\n\n"
      "Raises ShapeError if inner extents differ or an operand is 0-d, ValueError for another "
      "precision.",
      [](const Arguments& a) {
        return matmul(a.operand(0), a.operand(1), {.precision = a.precision(3)});
      });
  functions.def_with_method(
      "dot(a: Operand, b: Operand, out: Array | None = None) -> Array",
      "The dot product of vectors, the product of matrices, or sums of products over the last axis "
      "of a and the second to last axis of b: numpy.dot. Raises ShapeError, ValueError "
      "for an out of another dtype.",
      [](const Arguments& a) {
        Array product = dot(a.operand(0), a.operand(1));
        if (!a.is_none(2) && a.array(2).dtype() != product.dtype()) {
          raise(PyExc_ValueError, fmt::format("dot: out must have the dtype of the result, {}",
                                              numpy_name_of(product.dtype())));
        }
        return product;
      });
  functions.def(
      "outer(a: Array, b: Array, out: Array | None = None) -> Array",
      "The matrix of the products of all pairs of elements of the flattened operands: numpy.outer.",
      [](const Arguments& a) { return outer(a.operand(0), a.operand(1)); });
  bind_vector_products(functions);
  bind_sums_of_products(functions);
}

}  // namespace heddle::python
