#pragma once

#include <optional>
#include <utility>

#include "heddle/array.h"

namespace heddle {

// Reductions over `axes` (all by default); keepdims leaves them with extent 1. IndexError for an
// axis out of range, ValueError for one given twice. The parameters after keepdims are NumPy's
// keyword arguments:
//   dtype    what is computed and returned; the operand is cast before
//   initial  what the reduction starts from; DTypeError for an integer that the dtype does not hold
//   mask     NumPy's `where`: a bool array that broadcasts to x and says which elements count.
//            DTypeError for another dtype, ShapeError where it does not broadcast

/// numpy.sum, numpy.prod: bool and small integers accumulate in int64 or uint64, float16 and
/// bfloat16 in float32.
Array sum(const Operand& x, const Axes& axes = {}, bool keepdims = false,
          std::optional<DType> dtype = {}, std::optional<Scalar> initial = {},
          const Array& mask = {});
Array prod(const Operand& x, const Axes& axes = {}, bool keepdims = false,
           std::optional<DType> dtype = {}, std::optional<Scalar> initial = {},
           const Array& mask = {});
/// numpy.min, numpy.max: NaN wins. ValueError over no elements without an initial value, and for a
/// mask without one.
Array min(const Operand& x, const Axes& axes = {}, bool keepdims = false,
          std::optional<Scalar> initial = {}, const Array& mask = {});
Array max(const Operand& x, const Axes& axes = {}, bool keepdims = false,
          std::optional<Scalar> initial = {}, const Array& mask = {});
/// numpy.amin, numpy.amax: other names of min and max.
Array amin(const Operand& x, const Axes& axes = {}, bool keepdims = false,
           std::optional<Scalar> initial = {}, const Array& mask = {});
Array amax(const Operand& x, const Axes& axes = {}, bool keepdims = false,
           std::optional<Scalar> initial = {}, const Array& mask = {});
/// numpy.ptp: max - min. DTypeError for bool.
Array ptp(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// numpy.mean: integers in float64. NaN over no elements.
Array mean(const Operand& x, const Axes& axes = {}, bool keepdims = false,
           std::optional<DType> dtype = {}, const Array& mask = {});
/// numpy.var and numpy.std, in two passes; `correction` is NumPy's (ddof): divide by n -
/// correction. `mean` is the mean where it is known, with keepdims.
Array var(const Operand& x, const Axes& axes = {}, double correction = 0, bool keepdims = false,
          std::optional<DType> dtype = {}, const Array& mask = {}, const Array& mean = {});
Array std(const Operand& x, const Axes& axes = {}, double correction = 0, bool keepdims = false,
          std::optional<DType> dtype = {}, const Array& mask = {}, const Array& mean = {});
/// numpy.any, numpy.all: of any dtype.
Array any(const Operand& x, const Axes& axes = {}, bool keepdims = false, const Array& mask = {});
Array all(const Operand& x, const Axes& axes = {}, bool keepdims = false, const Array& mask = {});
/// numpy.count_nonzero, as int64.
Array count_nonzero(const Operand& x, const Axes& axes = {}, bool keepdims = false);
/// numpy.argmin, numpy.argmax: int64, the first of equals, of the flattened array when no axis is
/// given. ValueError over no elements or for several axes.
Array argmin(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Array argmax(const Operand& x, const Axes& axis = {}, bool keepdims = false);

/// numpy.nansum, numpy.nanprod: NaN counts as 0, as 1.
Array nansum(const Operand& x, const Axes& axes = {}, bool keepdims = false,
             std::optional<DType> dtype = {}, std::optional<Scalar> initial = {},
             const Array& mask = {});
Array nanprod(const Operand& x, const Axes& axes = {}, bool keepdims = false,
              std::optional<DType> dtype = {}, std::optional<Scalar> initial = {},
              const Array& mask = {});
/// numpy.nanmin, numpy.nanmax: of what is not NaN, NaN where nothing is. ValueError as for min.
Array nanmin(const Operand& x, const Axes& axes = {}, bool keepdims = false,
             std::optional<Scalar> initial = {}, const Array& mask = {});
Array nanmax(const Operand& x, const Axes& axes = {}, bool keepdims = false,
             std::optional<Scalar> initial = {}, const Array& mask = {});
/// numpy.nanargmin, numpy.nanargmax; -1 where all are NaN, for which NumPy throws.
Array nanargmin(const Operand& x, const Axes& axis = {}, bool keepdims = false);
Array nanargmax(const Operand& x, const Axes& axis = {}, bool keepdims = false);
/// numpy.nanmean, numpy.nanvar, numpy.nanstd: over what is not NaN; NaN where nothing is, and for
/// the last two where there are no more than `correction` of them. DTypeError for an integer dtype
/// of floating or complex numbers.
Array nanmean(const Operand& x, const Axes& axes = {}, bool keepdims = false,
              std::optional<DType> dtype = {}, const Array& mask = {});
Array nanvar(const Operand& x, const Axes& axes = {}, double correction = 0, bool keepdims = false,
             std::optional<DType> dtype = {}, const Array& mask = {}, const Array& mean = {});
Array nanstd(const Operand& x, const Axes& axes = {}, double correction = 0, bool keepdims = false,
             std::optional<DType> dtype = {}, const Array& mask = {}, const Array& mean = {});

/// log(sum(exp(x))) without overflow, as scipy.special.logsumexp: integers in float64, -inf over no
/// elements.
Array logsumexp(const Operand& x, const Axes& axes = {}, bool keepdims = false);

}  // namespace heddle
