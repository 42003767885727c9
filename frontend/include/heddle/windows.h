#pragma once

#include <cstdint>

#include "heddle/array.h"

namespace heddle {

/// numpy.i0: the modified Bessel function of the first kind and order 0, within 24 ulp. Integers in
/// float64; float16 and bfloat16 are computed in float32. DTypeError for complex numbers.
Array i0(const Operand& x);

// Windows of `count` points, 1-d, in float64: symmetric, and 1 in the middle of an odd count. One
// point is 1, and a count below 1 gives none.

/// numpy.bartlett: a triangle from 0 to 0.
Array bartlett(std::int64_t count, SourceLocation where = SourceLocation::current());
/// numpy.blackman: 0.42, 0.5 and 0.08 of the first three cosines.
Array blackman(std::int64_t count, SourceLocation where = SourceLocation::current());
/// numpy.hamming: a cosine from 0.08.
Array hamming(std::int64_t count, SourceLocation where = SourceLocation::current());
/// numpy.hanning: a cosine from 0.
Array hanning(std::int64_t count, SourceLocation where = SourceLocation::current());
/// numpy.kaiser: by i0, the wider the smaller beta is.
Array kaiser(std::int64_t count, const Operand& beta);

}  // namespace heddle
