#pragma once

#include <optional>
#include <utility>

#include "heddle/array.h"

namespace heddle {

// Reductions over `axes`, by default all; keepdims keeps them with extent 1. IndexError for an axis
// out of range, ValueError for a repeated axis. The parameters after keepdims are NumPy's keyword
// arguments:
//  dtype    dtype of the computation and the result; the operand is cast first
//  initial  start value of the reduction; DTypeError for an integer that the dtype does not hold
//  mask     NumPy's `where`: a bool array that broadcasts to x and says which elements count.
//           DTypeError for another dtype, ShapeError if it does not broadcast

/// numpy.sum, numpy.prod: bool and small integers accumulate in int64 or uint64, float16 and
/// bfloat16 in float32.
Array sum(const Operand& x, const Axes& axes = {}, bool keepdims = false,
          std::optional<DType> dtype = {}, std::optional<Scalar> initial = {},
          const Array& mask = {});
Array prod(const Operand& x, const Axes& axes = {}, bool keepdims = false,
           std::optional<DType> dtype = {}, std::optional<Scalar> initial = {},
           const Array& mask = {});
/// numpy.min, numpy.max. A NaN makes the result NaN. Without `initial`, ValueError over no elements
/// and for a mask.
Array min(const Operand& x, const Axes& axes = {}, bool keepdims = false,
          std::optional<Scalar> initial = {}, const Array& mask = {});
Array max(const Operand& x, const Axes& axes = {}, bool keepdims = false,
          std::optional<Scalar> initial = {}, const Array& mask = {});
/// numpy.amin, numpy.amax: aliases of min and max.
Array amin(const Operand& x, const Axes& axes = {}, bool keepdims = false,
           std::optional<Scalar> initial = {}, const Array& mask = {});
Array amax(const Operand& x, const Axes& axes = {}, bool keepdims = false,
           std::optional<Scalar> initial = {}, const Array& mask = {});
/// Reduces segments of one axis: element i along that axis of the result is sum, prod, min, max,
/// any or all, as `reduction` names it, of the elements begins[i] .. ends[i] - 1. Begins and ends
/// are 1-d integer arrays of one length; segments may overlap, have gaps, and be in any order.
/// Without elements, the result is what the reduction starts from: 0 for a sum, the least value for
/// max. Bounds are clipped to the axis. Follows jax.ops.segment_sum and numpy.ufunc.reduceat. A sum
/// has the dtype that heddle::sum gives. ValueError for another name, AxisError, ShapeError,
/// DTypeError.
Array reduce_segments(std::string_view reduction, const Operand& x, const Array& begins,
                      const Array& ends, std::int64_t axis = 0);
/// numpy.ptp: max - min. DTypeError for bool.
Array ptp(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// numpy.mean: integers are computed in float64. NaN over no elements.
Array mean(const Operand& x, const Axes& axes = {}, bool keepdims = false,
           std::optional<DType> dtype = {}, const Array& mask = {});
/// numpy.var and numpy.std, in two passes. They divide by n - correction; `correction` is NumPy's
/// (ddof). `mean` is a precomputed mean, with keepdims.
Array var(const Operand& x, const Axes& axes = {}, double correction = 0, bool keepdims = false,
          std::optional<DType> dtype = {}, const Array& mask = {}, const Array& mean = {});
Array std(const Operand& x, const Axes& axes = {}, double correction = 0, bool keepdims = false,
          std::optional<DType> dtype = {}, const Array& mask = {}, const Array& mean = {});
/// numpy.any, numpy.all; x may have any dtype.
Array any(const Operand& x, const Axes& axes = {}, bool keepdims = false, const Array& mask = {});
Array all(const Operand& x, const Axes& axes = {}, bool keepdims = false, const Array& mask = {});
/// numpy.count_nonzero, as int64.
Array count_nonzero(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// numpy.argmin, numpy.argmax: int64, the first index if several elements are equal; without an
/// axis, of the flattened array. ValueError over no elements or for several axes.
Array argmin(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Array argmax(const Operand& x, const Axes& axis = {}, bool keepdims = false);

/// numpy.nansum, numpy.nanprod: NaN counts as 0 (nansum) or 1 (nanprod).
Array nansum(const Operand& x, const Axes& axes = {}, bool keepdims = false,
             std::optional<DType> dtype = {}, std::optional<Scalar> initial = {},
             const Array& mask = {});
Array nanprod(const Operand& x, const Axes& axes = {}, bool keepdims = false,
              std::optional<DType> dtype = {}, std::optional<Scalar> initial = {},
              const Array& mask = {});
/// numpy.nanmin, numpy.nanmax: ignore NaNs; NaN if there is nothing else. ValueError as for min.
Array nanmin(const Operand& x, const Axes& axes = {}, bool keepdims = false,
             std::optional<Scalar> initial = {}, const Array& mask = {});
Array nanmax(const Operand& x, const Axes& axes = {}, bool keepdims = false,
             std::optional<Scalar> initial = {}, const Array& mask = {});
/// numpy.nanargmin, numpy.nanargmax; -1 if all elements are NaN, for which NumPy raises.
Array nanargmin(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Array nanargmax(const Operand& x, const Axes& axis = {}, bool keepdims = false);
/// numpy.nanmean, numpy.nanvar, numpy.nanstd: ignore NaNs. NaN if nothing else is left; the last
/// two also if no more than `correction` elements are left. DTypeError for an integer `dtype` with
/// floating-point or complex x.
Array nanmean(const Operand& x, const Axes& axes = {}, bool keepdims = false,
              std::optional<DType> dtype = {}, const Array& mask = {});
Array nanvar(const Operand& x, const Axes& axes = {}, double correction = 0, bool keepdims = false,
             std::optional<DType> dtype = {}, const Array& mask = {}, const Array& mean = {});
Array nanstd(const Operand& x, const Axes& axes = {}, double correction = 0, bool keepdims = false,
             std::optional<DType> dtype = {}, const Array& mask = {}, const Array& mean = {});

/// log(sum(exp(x))) without overflow, as scipy.special.logsumexp. Integers are computed in float64;
/// -inf over no elements.
Array logsumexp(const Operand& x, const Axes& axes = {}, bool keepdims = false);

}  // namespace heddle
