#pragma once

#include "ir/types/dim.h"

namespace heddle::ir {

/// value == quotient * divisor + remainder
struct DimDivision {
  Dim quotient, remainder;
};

/// The division of polynomials: n*n + 5*n + 5 is (n+1) * (n+4) + 1. No term of the remainder is a
/// multiple of the divisor's first term, that of the highest degree. The value of the remainder may
/// have any sign and size. Throws InternalError for a divisor of 0.
DimDivision divide_polynomials(Dim value, Dim divisor);

}  // namespace heddle::ir
