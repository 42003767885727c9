#pragma once

#include <span>
#include <utility>

#include "heddle/array.h"

namespace heddle {

// Sorting along `axis`; {} (NumPy's None) sorts the flattened array. The order is NumPy's: NaN
// after all numbers, +0 and -0 equal. Sorts are always stable. Descending sorts also keep equal
// elements in order, and put NaN first. IndexError for an axis out of range and for a 0-d array;
// ValueError for several axes.

/// numpy.sort: a sorted copy with x's dtype.
Array sort(const Operand& x, const Axes& axis = -1, bool descending = false);
/// numpy.argsort: int64, for each element of the sorted array its index along the axis in x.
Array argsort(const Operand& x, const Axes& axis = -1, bool descending = false);
/// numpy.lexsort: int64, the indices that sort by the last key, then by the key before it, and so
/// on. ShapeError unless all keys have one shape, ValueError for no keys.
Array lexsort(Arrays keys, const Axes& axis = -1, SourceLocation where = SourceLocation::current());
/// numpy.partition and argpartition: puts element `kth` (may be negative) where sorting would put
/// it, with no greater element before it and no smaller one after it. The whole axis is sorted.
/// ValueError if kth is out of range.
Array partition(const Operand& x, std::int64_t kth, const Axes& axis = -1);
Array argpartition(const Operand& x, std::int64_t kth, const Axes& axis = -1);

/// Result of topk: values of x's dtype, and their int64 indices.
struct TopK {
  Array values, indices;
};
/// The k largest (or smallest) elements along the axis, in order; among equal elements, the first
/// ones. NaN counts as larger than all numbers. ValueError if k is negative or greater than the
/// extent.
TopK topk(const Operand& x, std::int64_t k, const Axes& axis = -1, bool largest = true);

}  // namespace heddle
