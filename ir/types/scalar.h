#pragma once

// Includes every scalar function, for C++ code of Heddle. The files of ir/scalar/ include nothing,
// since generated kernels contain them as text. Their order here is the order of dependencies.
#define HD_LIBRARY

// clang-format off
#include "ir/scalar/core.h"
#include "ir/scalar/half.h"
#include "ir/scalar/wide_half.h"
#include "ir/scalar/bfloat16.h"
#include "ir/scalar/cast.h"
#include "ir/scalar/arithmetic.h"
#include "ir/scalar/position.h"
#include "ir/scalar/floating.h"
#include "ir/scalar/division.h"
#include "ir/scalar/bitwise.h"
#include "ir/scalar/comparison.h"
#include "ir/scalar/vector_math.h"
#include "ir/scalar/double_math.h"
#include "ir/scalar/exponential.h"
#include "ir/scalar/double_trigonometric.h"
#include "ir/scalar/trigonometric.h"
#include "ir/scalar/half_math.h"
#include "ir/scalar/half_trigonometric.h"
#include "ir/scalar/random.h"
#include "ir/scalar/reduce.h"
#include "ir/scalar/reduce_tree.h"
#include "ir/scalar/scan.h"
#include "ir/scalar/complex.h"
#include "ir/scalar/complex_exponential.h"
#include "ir/scalar/complex_trigonometric.h"
#include "ir/scalar/order.h"
#include "ir/scalar/quick.h"
// clang-format on
