#pragma once

#include <vector>

#include "heddle/array.h"
#include "heddle/indexing.h"

#include "frontend/graph/node.h"

/// Elements that a mask selects, read and written where they are called for instead of recorded: on
/// the CPU, where the mask has to be computed anyway, programs over index arrays would take longer.
/// Elements that index arrays select are written so, too: a program passes over the whole array.
namespace heddle::frontend {

/// The elements of an array, whose leading axes are those of a mask, where the mask is true. Waits
/// for both. Null if it has to be recorded.
NodeRef elements_where(const NodeRef& array, const Array& mask, const SourceLocation& where);

/// The array with `values` where the mask is true. They are written to the array's own memory if
/// `alone` is true of it: then nobody else sees its elements. `alone` is asked once the operands
/// are computed. Null if the assignment has to be recorded; also if the values do not have the
/// shape and dtype of elements_where().
NodeRef with_elements_where(const Array& array, const Array& mask, const NodeRef& values,
                            bool (*alone)(const Node&), const SourceLocation& where);

/// The array with `values` where arrays of i64 that index the leading axes say; written last in C
/// order, if several are written to an element. `values` is a number, or has the shape of
/// taken_shape(), and the array's dtype. For memory and `alone`, see with_elements_where(). Throws
/// what region_of() throws. Null if the assignment has to be recorded.
NodeRef with_elements_at(const Array& array, const std::vector<IndexItem>& items,
                         const NodeRef& values, bool (*alone)(const Node&),
                         const SourceLocation& where);

}  // namespace heddle::frontend
