#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "heddle/array.h"

namespace heddle {

/// numpy.select: each element from the first choice whose condition is true there, else from
/// `fallback`. The dtypes of choices and fallback promote; everything broadcasts. ValueError unless
/// there are as many conditions as choices and at least one, DTypeError for conditions that are not
/// bool.
Array select(Arrays conditions, Arrays choices, const Operand& fallback = 0);
/// numpy.choose: choices[index] elementwise; everything broadcasts. `mode` says how an index out of
/// range is treated: "wrap" or "clip"; "raise" clips too, where NumPy raises. ValueError without
/// choices or for another mode, DTypeError for indices that are not integers.
Array choose(const Operand& index, Arrays choices, std::string_view mode = "raise");
/// A value of piecewise: a number, or a function of x.
class Piece {
 public:
  using Function = std::function<Array(const Array&)>;
  // NOLINTBEGIN: pieces convert
  template <class T>
    requires std::is_arithmetic_v<T>
  Piece(T value) : value_(Scalar(value)) {}
  Piece(Scalar value) : value_(value) {}
  template <class F>
    requires std::is_invocable_r_v<Array, F, const Array&>
  Piece(F function) : value_(Function(std::move(function))) {}
  // NOLINTEND
  const std::variant<Scalar, Function>& value() const { return value_; }

 private:
  std::variant<Scalar, Function> value_;
};
/// numpy.piecewise: each element gets the piece of the last condition that is true there. If no
/// condition is true, it gets the extra last piece, if there is one, else 0. Functions are called
/// with all of x, not only the selected elements, and must be elementwise. The result has x's
/// dtype. ValueError unless there are as many pieces as conditions, or one more; ShapeError if a
/// condition does not have x's shape, or a function does not keep it.
Array piecewise(const Operand& x, Arrays conditions, std::span<const Piece> pieces);
/// numpy.copyto: writes the source, broadcast to the destination's shape, where the mask is true;
/// without a mask, everywhere. DTypeError unless the kind of the source's dtype fits the
/// destination's (NumPy's "same_kind"), ShapeError if source or mask do not broadcast.
void copyto(Array& destination, const Operand& source, const Array& mask = {});
/// numpy.putmask: where the mask is true, element i of the flattened x becomes element i of the
/// values, repeated as needed. ShapeError for a mask of another shape.
void putmask(Array& x, const Array& mask, const Operand& values);
/// numpy.place: the n-th element of the flattened x at which the mask is true becomes element n of
/// the values, repeated as needed. ShapeError for a mask of another size; DTypeError for an array
/// of values whose kind does not fit x's dtype; ValueError for no values, which NumPy accepts if
/// the mask is false everywhere.
void place(Array& x, const Array& mask, const Operand& values);

}  // namespace heddle
