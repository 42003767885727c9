#include "tests/fuzz/scope.h"

#include <algorithm>
#include <numeric>

namespace heddle::test {

using ir::Attributes;
using ir::Dim;
using ir::Op;
using ir::Shape;
using ir::ValueId;

std::optional<ValueId> Scope::scaled(ValueId value, double factor) {
  return add(Op::multiply, {value, constant(dtype(value), factor)});
}

std::optional<ValueId> Scope::converted(ValueId value, DType to) {
  const DType from = dtype(value);
  if (from == to) return value;
  if (is_inexact(from) && !is_inexact(to)) return std::nullopt;
  if (is_complex(from) && !is_complex(to)) {
    const std::optional<ValueId> real = add(Op::real, {value});
    return real ? converted(*real, to) : std::nullopt;
  }
  Attributes attributes;
  attributes.dtype = to;
  const bool bounds = is_integer(from) && is_inexact(to);
  if (bounds) attributes.dtype = DType::f32;
  const std::optional<ValueId> cast = add(Op::cast, {value}, attributes);
  if (!cast || !bounds) return cast;
  const std::optional<ValueId> bounded = add(Op::tanh, {*cast});
  return bounded ? converted(*bounded, to) : std::nullopt;
}

std::optional<ValueId> Scope::reshaped(ValueId value, const Shape& to) {
  const Shape from = shape(value);  // adding nodes may move the graph's own
  if (from == to) return value;
  const bool fits =
      from.size() <= to.size() && std::equal(from.rbegin(), from.rend(), to.rbegin(),
                                             [](Dim a, Dim b) { return a == b || a == Dim(1); });
  if (!fits) {
    Attributes all;
    all.axes.resize(from.size());
    std::iota(all.axes.begin(), all.axes.end(), 0);
    const std::optional<ValueId> largest = add(Op::max, {value}, all);
    if (!largest) return std::nullopt;  // of no element
    value = *largest;
  }
  Attributes attributes;
  attributes.shape = to;
  return to.empty() && shape(value).empty() ? value : add(Op::broadcast_to, {value}, attributes);
}

std::optional<ValueId> Scope::fitted(ValueId value, const ir::Type& to) {
  const std::optional<ValueId> number = converted(value, to.dtype);
  return number ? reshaped(*number, to.shape) : std::nullopt;
}

}  // namespace heddle::test
