#include <fmt/format.h>

#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"
#include "heddle/grids.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;

namespace {

/// The dtype in which NumPy computes values between two ends.
DType inexact_dtype(const Operand& start, const Operand& stop) {
  const DType common = result_type({start, stop});
  return is_floating(common) || is_complex(common) ? common : DType::f64;
}

/// Values evenly spaced along a new first axis.
class Line {
 public:
  Line(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint, DType dtype)
      : here_(start), count_(count), endpoint_(endpoint), dtype_(dtype) {
    if (count < 0) {
      throw ValueError(at(fmt::format("linspace: the number {} is negative", count), here_.where));
    }
    first_ = astype(start, dtype);
    last_ = astype(stop, dtype);
    distance_ = subtract(here_(last_), here_(first_));
    Shape shape(static_cast<std::size_t>(distance_.ndim()) + 1, 1);
    shape[0] = count;
    index_ = reshape(here_(arange(0, count, 1, DType::i64, here_.where)), shape);
  }

  Array values() const {
    const Array index = astype(here_(index_), dtype_);
    const std::int64_t intervals = endpoint_ ? count_ - 1 : count_;
    Array values = times(index, distance_);
    if (intervals > 0) {
      // If the step underflows, multiply by the distance last.
      const Array divisor = full({}, here_(Scalar(intervals)), dtype_);
      const Array step = divide(here_(distance_), here_(divisor));
      const Array share = divide(here_(index), here_(divisor));
      values = where(here_(equal(here_(step), here_(Scalar(0)))), here_(times(share, distance_)),
                     here_(times(index, step)));
    }
    values = add(here_(values), here_(first_));
    return endpoint_ && count_ > 1 ? with_last(values, last_) : values;
  }

  Array with_first(const Array& values, const Array& first) const {
    return replaced(values, 0, first);
  }
  Array with_last(const Array& values, const Array& last) const {
    return replaced(values, count_ - 1, last);
  }
  const AtLocation& here() const { return here_; }

 private:
  Array times(const Array& a, const Array& b) const { return multiply(here_(a), here_(b)); }
  Array replaced(const Array& values, std::int64_t place, const Array& by) const {
    return where(here_(equal(here_(index_), here_(Scalar(place)))), here_(by), here_(values));
  }

  AtLocation here_;
  std::int64_t count_;
  bool endpoint_;
  DType dtype_;
  Array first_, last_, distance_, index_;
};

/// Moves the first axis to `axis` and casts the values.
Array finished(const char* op, const Array& values, DType dtype, std::int64_t axis,
               const AtLocation& here) {
  const std::int64_t place = frontend::axis_of(op, axis, values.ndim(), here.where);
  if (is_integer(dtype) && is_complex(values.dtype())) {
    throw DTypeError(
        at(fmt::format("{}: complex values cannot be cast to {}", op, numpy_name_of(dtype)),
           here.where));
  }
  const bool floors = is_integer(dtype);
  const Array whole = floors ? floor(here(values)) : values;
  return astype(here(place == 0 ? whole : moveaxis(here(whole), {0}, {place})), dtype);
}

/// base ** values, where values have an additional first axis.
Array powers(const Operand& base, const Array& values, const AtLocation& here) {
  if (base.array() == nullptr || base.array()->ndim() == 0) return power(base, here(values));
  return power(here(expand_dims(base, {0})), here(values));
}

/// Adds leading axes of extent 1 until the operand has the base's rank.
Array in_rank_of(const Operand& base, const Operand& x, const AtLocation& here) {
  Array result = asarray(x);
  const int rank = base.array() == nullptr ? 0 : base.array()->ndim();
  while (result.ndim() < rank) result = expand_dims(here(result), {0});
  return result;
}

bool is_zero(const Operand& end) {
  return end.array() == nullptr && frontend::value_of(end.scalar()) == 0 &&
         (end.scalar().kind != Scalar::Kind::complex || end.scalar().imaginary == 0);
}

}  // namespace

Array linspace(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint,
               std::optional<DType> dtype, std::int64_t axis) {
  const DType inside = inexact_dtype(start, stop);
  const Line line(start, stop, count, endpoint, inside);
  return finished("linspace", line.values(), dtype.value_or(inside), axis, line.here());
}

Array logspace(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint,
               const Operand& base, std::optional<DType> dtype, std::int64_t axis) {
  const AtLocation here(start);
  const Array first = in_rank_of(base, start, here), last = in_rank_of(base, stop, here);
  const Line line(here(first), here(last), count, endpoint, inexact_dtype(start, stop));
  const Array values = powers(base, line.values(), here);
  const std::int64_t place = frontend::axis_of("logspace", axis, values.ndim(), here.where);
  const Array moved = place == 0 ? values : moveaxis(here(values), {0}, {place});
  return dtype ? astype(here(moved), *dtype) : moved;
}

Array geomspace(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint,
                std::optional<DType> dtype, std::int64_t axis) {
  const AtLocation here(start);
  if (is_zero(start) || is_zero(stop)) {
    throw ValueError(at("geomspace: a geometric sequence cannot include 0", here.where));
  }
  const DType inside = promote_types(inexact_dtype(start, stop), dtype.value_or(DType::f64));
  const Array first = astype(start, inside), last = astype(stop, inside);
  // All values have the sign (for complex numbers, the direction) of the first value.
  const Array direction =
      is_complex(inside) ? divide(here(first), here(absolute(here(first)))) : sign(here(first));
  const Array near = divide(here(first), here(direction)),
              far = divide(here(last), here(direction));
  const Array low = log10(here(near)), high = log10(here(far));
  const Line line(here(low), here(high), count, endpoint, inside);
  Array values = powers(here(Scalar(10.0)), line.values(), here);
  if (count > 0) values = line.with_first(values, near);
  if (count > 1 && endpoint) values = line.with_last(values, far);
  values = multiply(here(values), here(direction));
  const std::int64_t place = frontend::axis_of("geomspace", axis, values.ndim(), here.where);
  if (place != 0) values = moveaxis(here(values), {0}, {place});
  return astype(here(values), dtype.value_or(inside));
}

}  // namespace heddle
