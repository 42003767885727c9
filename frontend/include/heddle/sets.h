#pragma once

#include <cstdint>
#include <optional>

#include "heddle/array.h"

namespace heddle {

// Set functions on the elements of flattened arrays, or on the slices along an axis if one is
// given. The size of the result depends on the data. So, except for isin, these functions evaluate
// their operands, wait for the device once, and throw TraceError inside jit. Results are sorted.
// Dtypes of two operands promote.

/// The distinct elements of x, with their indices and counts.
struct UniqueAll {
  Array values;  ///< sorted; with an axis: x's shape except along it, slices in lexicographic order
  Array indices;  ///< int64, index of the first occurrence in the flattened x, or along the axis
  Array inverse_indices;  ///< int64, x's shape: values(inverse_indices) is x; with an axis, 1-d
  Array counts;           ///< int64, number of occurrences in x
};
struct UniqueCounts {
  Array values, counts;
};
struct UniqueInverse {
  Array values, inverse_indices;
};
/// numpy.unique_all, unique_counts, unique_inverse and unique_values. With `equal_nan`, the default
/// of numpy.unique, all NaNs are one element; otherwise each NaN is a separate element. Slices with
/// a NaN are always separate. IndexError for an axis out of range.
UniqueAll unique_all(const Operand& x, bool equal_nan = false,
                     std::optional<std::int64_t> axis = {});
UniqueCounts unique_counts(const Operand& x, bool equal_nan = false,
                           std::optional<std::int64_t> axis = {});
UniqueInverse unique_inverse(const Operand& x, bool equal_nan = false,
                             std::optional<std::int64_t> axis = {});
Array unique_values(const Operand& x, bool equal_nan = false,
                    std::optional<std::int64_t> axis = {});
/// numpy.unique of the flattened array, or of the slices along an axis.
Array unique(const Operand& x, bool equal_nan = true, std::optional<std::int64_t> axis = {});

/// numpy.isin: true where an element of x is among the test elements; `invert` negates the result.
/// A NaN is never among them. Nothing is evaluated.
Array isin(const Operand& x, const Operand& test_elements, bool invert = false);

/// numpy.intersect1d, union1d, setdiff1d and setxor1d: elements of both, of any, of only the first,
/// of exactly one. With `assume_unique`, setdiff1d neither sorts nor removes duplicates: elements
/// stay in a's order.
Array intersect1d(const Operand& a, const Operand& b);
Array union1d(const Operand& a, const Operand& b);
Array setdiff1d(const Operand& a, const Operand& b, bool assume_unique = false);
Array setxor1d(const Operand& a, const Operand& b);

/// Result of numpy.intersect1d with return_indices. Indices are int64: the first occurrence of each
/// value in the flattened operands.
struct Intersection {
  Array values, indices_a, indices_b;
};
Intersection intersect1d_indices(const Operand& a, const Operand& b);

}  // namespace heddle
