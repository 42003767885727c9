#include "frontend/python/orders.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

using frontend::Access;

/// Returns false if there are symbolic extents; the layout is then unknown.
bool has_layout(const ArrayObject& x) {
  return ir::is_constant(Access::raw(x.base().value)->shape) &&
         ir::is_constant(Access::node(x.read(), SourceLocation())->shape);
}

/// True if the memory is contiguous, with the last of `axes` varying fastest.
bool is_dense(const ArrayObject& x, const std::vector<std::int64_t>& axes) {
  if (!has_layout(x)) return false;
  const Shape shape = x.read().shape();
  if (x.read().size() == 0) return true;
  const Strides strides = x.layout().strides;
  std::int64_t expected = 1;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const auto axis = static_cast<std::size_t>(axes[k]);
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

std::vector<std::int64_t> axes_of(const ArrayObject& x) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(x.read().ndim()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::vector<std::int64_t> reversed_axes(const ArrayObject& x) {
  std::vector<std::int64_t> axes = axes_of(x);
  std::reverse(axes.begin(), axes.end());
  return axes;
}

/// The axes from the largest stride to the smallest, sorted as numpy.nditer sorts them: by
/// insertion from the last axis on, where an axis of stride 0 compares with no other.
std::vector<std::int64_t> axes_in_memory(const ArrayObject& x) {
  std::vector<std::int64_t> axes = reversed_axes(x);
  if (has_layout(x)) {
    const Strides strides = x.layout().strides;
    const auto stride = [&](std::size_t i) {
      return std::abs(strides[static_cast<std::size_t>(axes[i])]);
    };
    for (std::size_t i = 1; i < axes.size(); ++i) {
      std::size_t place = i;
      for (std::size_t k = i; k-- > 0;) {
        if (stride(k) == 0 || stride(i) == 0) continue;
        if (stride(k) <= stride(i)) break;
        place = k;
      }
      std::rotate(axes.begin() + static_cast<std::ptrdiff_t>(place),
                  axes.begin() + static_cast<std::ptrdiff_t>(i),
                  axes.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

/// Resolves "A" to "F" or "C".
char resolved(const ArrayObject& x, char order) {
  if (order != 'A') return order;
  return is_fortran_ordered(x) && !is_c_ordered(x) ? 'F' : 'C';
}

/// A Fortran-order reshape: reverses the axes before and after a C-order reshape.
Array reshaped_fortran(const Operand& x, const Shape& shape) {
  const Array turned = transpose(x);
  const Array result = reshape({turned, x.where()}, Shape(shape.rbegin(), shape.rend()));
  return transpose({result, x.where()});
}

}  // namespace

bool is_fortran_ordered(const ArrayObject& x) { return is_dense(x, reversed_axes(x)); }
bool is_c_ordered(const ArrayObject& x) { return is_dense(x, axes_of(x)); }

ArrayObject raveled(const ArrayObject& x, char order, const SourceLocation& where) {
  const char letter = resolved(x, order);
  const std::vector<std::int64_t> axes = letter == 'C'   ? axes_of(x)
                                         : letter == 'F' ? reversed_axes(x)
                                                         : axes_in_memory(x);
  const Operand operand(x.read(where), where);
  const Array turned = letter == 'C' ? *operand.array() : permute_dims(operand, axes);
  const Array flat = ravel({turned, where});
  return is_dense(x, axes) ? x.view_of(flat, where) : ArrayObject(flat);
}

ArrayObject reshaped(const ArrayObject& x, const Shape& shape, char order, nb::handle copy,
                     const SourceLocation& where) {
  if (order == 'K') raise(PyExc_ValueError, "reshape: order must be 'C', 'F' or 'A'");
  const bool fortran = resolved(x, order) == 'F';
  const Operand operand(x.read(where), where);
  ArrayObject result =
      x.view_of(fortran ? reshaped_fortran(operand, shape) : reshape(operand, shape), where);
  if (copy.is_none()) return result;
  if (PyObject_IsTrue(copy.ptr()) == 1) return ArrayObject(result.read(where));
  if (&result.base() != &x.base())
    raise(PyExc_ValueError, "reshape: copy=False, but this shape needs a copy");
  return result;
}

}  // namespace heddle::python
