#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "heddle/array.h"

namespace heddle {

/// numpy.select: each element from the first choice whose condition holds there, else `fallback`.
/// Choices and fallback promote, all broadcast. ValueError unless there are as many conditions as
/// choices and at least one, DTypeError for conditions that are not bool.
Array select(Arrays conditions, Arrays choices, const Operand& fallback = 0);
/// numpy.choose: choices[index] elementwise, all broadcast. `mode` says what indices beyond them
/// do: "wrap" around, or "clip" to the last and the first. For "raise" they clip, too: NumPy throws
/// where a value is out of range. ValueError without choices or for another mode, DTypeError for
/// indices that are no integers.
Array choose(const Operand& index, Arrays choices, std::string_view mode = "raise");
/// What piecewise puts where a condition holds: a number, or a function of x.
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
/// numpy.piecewise: each element by the piece of the last condition that holds there; by one piece
/// more, if there is one, where none does, else 0. Functions get all of x, not only the elements
/// that they are for, and must be elementwise. The result has x's dtype. ValueError unless there
/// are as many pieces as conditions, or one more; ShapeError for conditions of another shape than
/// x's, and for functions that do not keep it.
Array piecewise(const Operand& x, Arrays conditions, std::span<const Piece> pieces);
/// numpy.copyto: writes the source, broadcast to the destination's shape, where the mask holds,
/// everywhere without one. DTypeError unless the source's dtype is of a kind that the destination's
/// holds, ShapeError where source or mask do not broadcast.
void copyto(Array& destination, const Operand& source, const Array& mask = {});
/// numpy.putmask: element i of the flattened array becomes element i of the values, which repeat,
/// where the mask holds. ShapeError for a mask of another shape.
void putmask(Array& x, const Array& mask, const Operand& values);
/// numpy.place: the n-th element of the flattened array where the mask, of as many elements, holds,
/// becomes element n of the values, which repeat. ShapeError for a mask of another size; DTypeError
/// for an array of values that x's dtype does not hold; ValueError for no values, which NumPy takes
/// where the mask holds nowhere.
void place(Array& x, const Array& mask, const Operand& values);

}  // namespace heddle
