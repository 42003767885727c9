#pragma once

#include <nanobind/nanobind.h>

#include "heddle/array.h"

#include "frontend/python/array_object.h"

namespace heddle::python {

namespace nb = nanobind;

/// numpy.ravel in NumPy's `order`: "C"; "F", the first axis runs fastest; "A", "F" for an array
/// whose strides are in that order, else "C"; "K", as the elements lie in memory. A view where they
/// lie so without gaps, else a copy.
ArrayObject raveled(const ArrayObject& x, char order, const SourceLocation& where);
/// numpy.reshape, which reads and writes in an `order` other than "K": a view where one is
/// possible, with copy=True never. ValueError for "K", and with copy=False where it is none.
ArrayObject reshaped(const ArrayObject& x, const Shape& shape, char order, nb::handle copy,
                     const SourceLocation& where);
/// Whether the elements lie in memory without gaps, the first axis running fastest, or the last.
bool is_fortran_ordered(const ArrayObject& x);
bool is_c_ordered(const ArrayObject& x);

}  // namespace heddle::python
