#include <algorithm>
#include <vector>

#include "ir/calls/calls.h"
#include "tests/fuzz/generator.h"

namespace heddle::test {

using ir::Dim;
using ir::Op;
using ir::Shape;
using ir::ValueId;

/// Singular values of y, or those or the eigenvalues of y y^H. Vectors are not unique.
void Generator::add_spectrum() {
  const ValueId picked = pick();
  const Shape shape = recorder_.shape(picked);
  if (shape.size() < 2) return;
  const Dim rows = *(shape.end() - 2), columns = shape.back();
  constexpr std::int64_t most_rows = 40, most_columns = 80, most_values = 1 << 12;
  Shape squares = shape;
  squares.back() = rows;
  if (recorder_.extent(rows) > most_rows || recorder_.extent(columns) > most_columns ||
      recorder_.elements(shape) > most_values || recorder_.elements(squares) > most_values)
    return;

  static const std::vector<DType> kinds = {DType::f32, DType::f64, DType::c64, DType::c128};
  const DType dtype = recorder_.any_of(kinds), part = real_dtype(dtype);
  ValueId y = within_two(picked, part);
  if (is_complex(dtype)) {
    const ValueId imaginary = within_two(beside(part, shape, true), part);
    y = recorder_.add(Op::make_complex, {y, imaginary}).value();
  }
  ir::Attributes attributes = ir::call_attributes(ir::calls::svdvals());
  const bool known = rows.is_constant() && columns.is_constant();
  if (!known || recorder_.chance(0.5)) {
    ValueId other = transposed(y);
    if (is_complex(dtype)) other = recorder_.add(Op::conjugate, {other}).value();
    y = recorder_.add(Op::call, {y, other}, ir::matmul_attributes(Precision::ieee)).value();
    if (recorder_.chance(0.85)) {
      attributes = ir::call_attributes(ir::calls::eigvalsh(), {{"upper", recorder_.chance(0.5)}});
    }
  }
  const ValueId values = recorder_.add(Op::call, {y}, attributes).value();
  settle(values);
  if (recorder_.chance(0.3)) settle(recorder_.result(values, 1));
}

/// Transforms of any length, of whose result the work that follows may be part of the same kernel.
void Generator::add_transform() {
  const ValueId picked = pick();
  const Shape shape = recorder_.shape(picked);
  constexpr std::int64_t longest = 2000;
  if (shape.empty() || !shape.back().is_constant()) return;
  const std::int64_t length = shape.back().constant();
  if (length < 1 || length > longest) return;
  static const std::vector<DType> parts = {DType::f32, DType::f64};
  const DType part = recorder_.any_of(parts);
  const ValueId real = within_two(picked, part);
  if (recorder_.chance(0.3)) {
    settle(recorder_.add(Op::call, {real}, ir::call_attributes(ir::calls::rfft())));
    return;
  }
  const ValueId imaginary = within_two(beside(part, shape, true), part);
  const ValueId x = recorder_.add(Op::make_complex, {real, imaginary}).value();
  if (recorder_.chance(0.3)) {
    const std::int64_t samples = std::max<std::int64_t>(2 * length - 1 - recorder_.below(2), 1);
    settle(recorder_.add(Op::call, {x},
                         ir::call_attributes(ir::calls::irfft(), {{"length", samples}})));
    return;
  }
  settle(recorder_.add(
      Op::call, {x}, ir::call_attributes(ir::calls::fft(), {{"inverse", recorder_.chance(0.5)}})));
}

}  // namespace heddle::test
