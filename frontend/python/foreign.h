#pragma once

#include <optional>

#include <nanobind/nanobind.h>

#include "heddle/array.h"

namespace heddle::python {

namespace nb = nanobind;

/// True for a NumPy array. Does not import NumPy.
bool is_numpy_array(nb::handle value);
/// True for a NumPy scalar such as numpy.float32(2). Includes numpy.float64 and complex128, which
/// Python treats as its own float and complex.
bool is_numpy_scalar(nb::handle value);

/// True if the value's own operators compute results with Arrays: it has labels, units, chunks or a
/// mask, and says so by __array_ufunc__. Examples: pandas.Series, xarray.DataArray,
/// dask.array.Array, numpy.ma.MaskedArray. False for Arrays, NumPy's own arrays and scalars, and
/// Python's numbers.
bool defines_operators(nb::handle value);

/// Converts a NumPy scalar to a 0-d value of its dtype, which is not weak; and a NumPy array or
/// nested lists and tuples as heddle.asarray does. nullopt for anything else. HEDDLE_HOST_ARRAYS
/// says how NumPy arrays are treated if Arrays are on a GPU. Raises TypeError for an unsupported
/// dtype, and if HEDDLE_HOST_ARRAYS is "forbid".
std::optional<Array> foreign_operand(nb::handle value, const SourceLocation& where);
/// The same without lists and tuples.
std::optional<Array> numpy_operand(nb::handle value, const SourceLocation& where);
/// An Array that shares the memory of an array with __cuda_array_interface__ or __dlpack__, of
/// another library than NumPy. nullopt for anything else.
std::optional<nb::object> exchanged_operand(nb::handle value, const SourceLocation& where);
/// True if a jitted function takes the value as a program argument, through numpy_operand(): an
/// array, or a float or complex scalar. Integers and bools stay static, like Python's, since they
/// may be an axis or a size.
bool is_numpy_argument(nb::handle value);

}  // namespace heddle::python
