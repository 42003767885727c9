#pragma once

#include <cstdint>
#include <optional>

#include <nanobind/nanobind.h>

#include "frontend/python/array_object.h"
#include "ir/base/inline_vector.h"

namespace heddle::python {

namespace nb = nanobind;

// One element of a computed array in host memory is read and written at once, as in NumPy. If the
// array has a pending update in place, that update is computed first, because its result is stored
// in any case.

/// Subscripts of which each is an integer.
using ElementIndex = ir::InlineVector<std::int64_t, 6>;

/// The integer that a subscript is outside of traces: a Python integer, or a scalar of integers
/// whose value is known, which NumPy takes for an integer, too. nullopt for all others, and for
/// integers beyond int64.
std::optional<std::int64_t> known_integer(nb::handle value);

/// The subscripts, if they are known integers, as many as the array has axes.
std::optional<ElementIndex> element_index(const ArrayObject& array, nb::handle key);

/// A scalar with the element; nullopt if it is not there to be read, or the index is out of bounds.
std::optional<Array> read_element(const ArrayObject& array, const ElementIndex& index);

/// Writes a number, or an array of one number that is known. Returns false, and does nothing, if
/// the value is not known, the element cannot be overwritten, or the index is out of bounds. Throws
/// DTypeError for an integer that does not fit.
bool write_element(const ArrayObject& array, const ElementIndex& index, nb::handle value,
                   const SourceLocation& where);

}  // namespace heddle::python
