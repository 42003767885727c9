#pragma once

#include "heddle/array.h"

namespace heddle {

// Reductions over `axes` (all by default); keepdims leaves them with extent 1. IndexError for an
// axis out of range, ValueError for one given twice.

/// numpy.sum, numpy.prod: bool and small integers accumulate in int64 or uint64, float16 and
/// bfloat16 in float32.
Array sum(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Array prod(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// numpy.min, numpy.max: NaN wins. ValueError over no elements.
Array min(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Array max(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// numpy.mean: integers in float64.
Array mean(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// numpy.var and numpy.std, in two passes; `correction` is NumPy's (ddof): divide by n -
/// correction.
Array var(const Operand& x, const Axes& axes = {}, double correction = 0, bool keepdims = false);
Array std(const Operand& x, const Axes& axes = {}, double correction = 0, bool keepdims = false);
/// numpy.any, numpy.all: of any dtype.
Array any(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Array all(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// numpy.count_nonzero, as int64.
Array count_nonzero(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// numpy.argmin, numpy.argmax: int64, the first of equals, of the flattened array when no axis is
/// given. ValueError over no elements or for several axes.
Array argmin(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Array argmax(const Operand& x, const Axes& axis = {}, bool keepdims = false);

}  // namespace heddle
