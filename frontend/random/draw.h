#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

#include "heddle/array.h"

#include "frontend/graph/generator_state.h"
#include "frontend/graph/record.h"

namespace heddle::frontend {

/// One call of a method of a random generator: how it draws, in which shape and dtype. The shape is
/// the size, or without one that of the parameters together.
class Draw {
 public:
  /// DTypeError for a dtype that is not floating, ShapeError for parameters that do not broadcast
  /// to the size.
  Draw(const std::shared_ptr<GeneratorState>& state, std::string_view op, const Shape& size,
       DType dtype, std::initializer_list<const Operand*> parameters, SourceLocation where);

  const SourceLocation& where() const { return where_; }
  /// The dtype that is computed in.
  DType wide() const { return dtype_ == DType::f64 ? DType::f64 : DType::f32; }

  /// Throws ValueError for a number outside of what `valid` says; arrays go unchecked.
  template <class Valid>
  void require(const Operand& parameter, const Valid& valid, std::string_view what) const {
    if (parameter.array() == nullptr && !valid(value_of(parameter.scalar())))
      refuse(parameter, what);
  }
  void require_scale(const Operand& scale) const {
    require(scale, [](double value) { return value >= 0; }, "the scale must not be negative");
  }
  void require_positive(const Operand& parameter, std::string_view what) const {
    require(parameter, [](double value) { return value > 0; }, what);
  }
  void require_not_negative(const Operand& parameter, std::string_view what) const {
    require(parameter, [](double value) { return value >= 0; }, what);
  }
  [[noreturn]] void refuse(const Operand& parameter, std::string_view what) const;

  // Each of these draws numbers of its own, one an element.

  Array bits() const { return sample(ir::Op::philox, {}); }
  /// Of an op of the table: of a key, a counter, and parameters, which are taken in f64. DTypeError
  /// for complex ones.
  Array sample(ir::Op op, std::initializer_list<const Operand*> parameters) const;
  /// In [0, 1), of as many bits as the significand has.
  Array unit() const;
  /// In (0, 1): the middles of equal intervals, in wide() or in f64.
  Array open_unit() const { return open_unit_of(bits(), wide()); }
  Array open_double() const { return open_unit_of(bits(), DType::f64); }
  Array normal() const;
  /// The gamma distribution of scale 1, in f64.
  Array gamma(const Operand& shape) const { return sample(ir::Op::philox_gamma, {&shape}); }
  /// Its logarithm, which has no least number where the shape is near 0.
  Array log_gamma(const Operand& shape) const;
  Array chisquare(const Operand& degrees) const;
  Array noncentral_chisquare(const Operand& degrees, const Operand& noncentrality) const;

  /// A parameter in f64.
  Array in_double(const Operand& parameter) const;
  /// Broadcast to the shape.
  Array sized(const Array& array) const;
  Array result(const Array& wide) const { return wide.astype(dtype_, where_); }
  /// Whole numbers in i64, -1 for NaN.
  Array whole(const Array& numbers) const;

 private:
  static Array open_unit_of(const Array& bits, DType kind);
  NodeRef key() const;
  NodeRef numbers() const;
  void add_shape(const Operand& parameter, bool grows);

  const std::shared_ptr<GeneratorState>& state_;
  std::string_view op_;
  DType dtype_;
  ir::Shape shape_;
  SourceLocation where_;
};

}  // namespace heddle::frontend
