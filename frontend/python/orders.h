#pragma once

#include <nanobind/nanobind.h>

#include "heddle/array.h"

#include "frontend/python/array_object.h"

namespace heddle::python {

namespace nb = nanobind;

/// numpy.ravel with NumPy's `order`. "C": the last axis varies fastest. "F": the first axis varies
/// fastest. "A": "F" if the strides are Fortran-ordered, else "C". "K": memory order. A view if the
/// elements are contiguous in that order, else a copy.
ArrayObject raveled(const ArrayObject& x, char order, const SourceLocation& where);
/// numpy.reshape with an `order` other than "K": a view if possible and copy is not True.
/// ValueError for "K", and if copy is False and a copy is needed.
ArrayObject reshaped(const ArrayObject& x, const Shape& shape, char order, nb::handle copy,
                     const SourceLocation& where);
/// True if the memory is contiguous with the first (or the last) axis varying fastest.
bool is_fortran_ordered(const ArrayObject& x);
bool is_c_ordered(const ArrayObject& x);

}  // namespace heddle::python
