#pragma once

#include <cstdint>
#include <optional>

#include "heddle/array.h"

namespace heddle {

// Sets of the elements of flattened arrays, or, where an axis is given, of the slices along it. How
// many elements a result has depends on the data: but for isin, these evaluate their operands and
// wait for the device once, and throw TraceError inside jit. Results are sorted. Dtypes of two
// operands promote.

/// What is known of the distinct elements of x.
struct UniqueAll {
  Array values;   ///< sorted; of an axis, in x's shape but along it, slices in lexicographic order
  Array indices;  ///< int64, where each is first in the flattened x, or along the axis
  Array inverse_indices;  ///< int64, in x's shape: values(inverse_indices) is x; of an axis, 1-d
  Array counts;           ///< int64, how often each is in x
};
struct UniqueCounts {
  Array values, counts;
};
struct UniqueInverse {
  Array values, inverse_indices;
};
/// numpy.unique_all and its kin. `equal_nan`, which numpy.unique has on by default, counts all NaNs
/// as one; else each is an element of its own, as are slices with a NaN in any case. IndexError for
/// an axis out of range.
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

/// numpy.isin: whether each element of x is among the test elements; turned around by `invert`.
/// NaN never is. Nothing is evaluated.
Array isin(const Operand& x, const Operand& test_elements, bool invert = false);

/// numpy.intersect1d, union1d, setdiff1d and setxor1d: of both, any, only the first, exactly one.
/// With `assume_unique` setdiff1d neither sorts nor drops repetitions: elements stay in a's order.
Array intersect1d(const Operand& a, const Operand& b);
Array union1d(const Operand& a, const Operand& b);
Array setdiff1d(const Operand& a, const Operand& b, bool assume_unique = false);
Array setxor1d(const Operand& a, const Operand& b);

/// What numpy.intersect1d gives with return_indices: int64, where each value is first in the
/// flattened operands.
struct Intersection {
  Array values, indices_a, indices_b;
};
Intersection intersect1d_indices(const Operand& a, const Operand& b);

}  // namespace heddle
