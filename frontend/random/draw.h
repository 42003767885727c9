#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

#include "heddle/array.h"

#include "frontend/graph/generator_state.h"
#include "frontend/graph/record.h"

namespace heddle::frontend {

/// One call of a sampling method: its key, shape and dtype. The shape is `size`, or the common
/// shape of the parameters if no size is given.
class Draw {
 public:
  /// DTypeError for a dtype that is not floating, ShapeError if a parameter does not broadcast to
  /// the size.
  Draw(const std::shared_ptr<GeneratorState>& state, std::string_view op, const Shape& size,
       DType dtype, std::initializer_list<const Operand*> parameters, SourceLocation where);

  const SourceLocation& where() const { return where_; }
  /// The dtype of the computation.
  DType wide() const { return dtype_ == DType::f64 ? DType::f64 : DType::f32; }

  /// Throws ValueError for a scalar that is not `valid`; arrays are not checked.
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

  // Each of these functions samples new numbers, one for each element.

  Array bits() const { return sample(ir::Op::philox, {}); }
  /// Records a sampling op of the op table. Its operands are a key, a counter, and parameters,
  /// which are converted to f64. DTypeError for complex parameters.
  Array sample(ir::Op op, std::initializer_list<const Operand*> parameters) const;
  /// Uniform in [0, 1), with as many bits as the significand of wide().
  Array unit() const;
  /// Uniform in (0, 1): the midpoints of equal intervals, in wide() or in f64.
  Array open_unit() const { return open_unit_of(bits(), wide()); }
  Array open_double() const { return open_unit_of(bits(), DType::f64); }
  Array normal() const;
  /// Gamma distribution with scale 1, in f64.
  Array gamma(const Operand& shape) const { return sample(ir::Op::philox_gamma, {&shape}); }
  /// Logarithm of a gamma variable. It does not underflow for shapes near 0.
  Array log_gamma(const Operand& shape) const;
  Array chisquare(const Operand& degrees) const;
  Array noncentral_chisquare(const Operand& degrees, const Operand& noncentrality) const;

  /// A parameter in f64.
  Array in_double(const Operand& parameter) const;
  /// The array, broadcast to the shape of the call.
  Array sized(const Array& array) const;
  Array result(const Array& wide) const { return wide.astype(dtype_, where_); }
  /// Integral floats converted to i64; NaN becomes -1.
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
