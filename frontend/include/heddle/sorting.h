#pragma once

#include <span>
#include <utility>

#include "heddle/array.h"

namespace heddle {

// Sorting along `axis`, of the flattened array when it is {} (NumPy's None). The order is NumPy's:
// NaN behind all numbers, zeros of either sign equal. Sorts are always stable; descending ones keep
// equal elements in order too, and have NaN first. IndexError for an axis out of range, or of a 0-d
// array; ValueError for several axes.

/// numpy.sort: a sorted copy, of x's dtype.
Array sort(const Operand& x, const Axes& axis = -1, bool descending = false);
/// numpy.argsort: int64, where along the axis each element of the sorted array is.
Array argsort(const Operand& x, const Axes& axis = -1, bool descending = false);
/// numpy.lexsort: int64, the order by the last of the keys, among equals by the one before it, and
/// so on. Keys have one shape: ShapeError otherwise, ValueError for none.
Array lexsort(Arrays keys, const Axes& axis = -1, SourceLocation where = SourceLocation::current());
/// numpy.partition and argpartition: element `kth`, which may be negative, is where sorting would
/// put it, none before is greater, none after less. All of the axis is sorted. ValueError for a kth
/// out of range.
Array partition(const Operand& x, std::int64_t kth, const Axes& axis = -1);
Array argpartition(const Operand& x, std::int64_t kth, const Axes& axis = -1);

/// What topk finds: values of x's dtype, and in int64 where they are.
struct TopK {
  Array values, indices;
};
/// The k largest elements along the axis, NaN above all, or the k smallest, NaN below none: in
/// order, of equal ones those that come first. ValueError for a k that is negative or beyond the
/// axis.
TopK topk(const Operand& x, std::int64_t k, const Axes& axis = -1, bool largest = true);

}  // namespace heddle
