#pragma once

// Quotients of numbers of any size. Apart from scalar.h, because few files need them.

// clang-format off
#include "ir/types/scalar.h"
#include "ir/scalar/complex_quotient.h"
// clang-format on
