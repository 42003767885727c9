#pragma once

#include <optional>

#include <nanobind/nanobind.h>

#include "heddle/array.h"

namespace heddle::python {

namespace nb = nanobind;

/// Whether it is an array of NumPy, which this asks only if somebody has imported NumPy.
bool is_numpy_array(nb::handle value);
/// Whether it is a scalar of NumPy: numpy.float32(2). numpy.float64 and complex128 are these too,
/// though Python takes them for its own floats and complex numbers.
bool is_numpy_scalar(nb::handle value);

/// A NumPy scalar as a 0-d value of its dtype, which is not weak; an array of NumPy, or nested
/// lists and tuples, as heddle.asarray makes an Array of them. nullopt for anything else.
/// HEDDLE_HOST_ARRAYS says what NumPy arrays do next to Arrays of a GPU. Raises TypeError for a
/// dtype that is not here, and where HEDDLE_HOST_ARRAYS is "forbid".
std::optional<Array> foreign_operand(nb::handle value, const SourceLocation& where);
/// The same without lists and tuples.
std::optional<Array> numpy_operand(nb::handle value, const SourceLocation& where);
/// Whether a jitted function takes it as an argument of its program, by numpy_operand(): an array,
/// or a scalar that is a float or complex. Integers and bools stay static, as Python's do: they may
/// be an axis or a size.
bool is_numpy_argument(nb::handle value);

}  // namespace heddle::python
