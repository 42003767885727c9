#include <algorithm>
#include <numeric>

#include "ir/calls/calls.h"
#include "tests/fuzz/generator.h"

namespace heddle::test {

void Generator::add_reshape() {
  const ValueId value = pick();
  Attributes attributes;
  // Neighbouring axes are merged, axes are split by a divisor, and single ones put in.
  for (const Dim extent : recorder_.shape(value)) {
    const bool mergeable = !attributes.shape.empty() && recorder_.chance(0.4);
    if (mergeable) {
      attributes.shape.back() *= extent;
    } else {
      attributes.shape.push_back(extent);
    }
  }
  for (std::size_t axis = 0; axis < attributes.shape.size(); ++axis) {
    const Dim extent = attributes.shape[axis];
    if (!extent.is_constant() || !recorder_.chance(0.5)) continue;
    const std::vector<std::int64_t> divisors = {2, 3, 4, 5, 8, 16};
    const std::int64_t divisor = recorder_.any_of(divisors);
    if (extent.constant() == 0 || extent.constant() % divisor != 0) continue;
    attributes.shape[axis] = extent.constant() / divisor;
    attributes.shape.insert(attributes.shape.begin() + static_cast<std::ptrdiff_t>(axis), divisor);
    ++axis;
  }
  if (recorder_.chance(0.3)) {
    const std::size_t place = recorder_.below(attributes.shape.size() + 1);
    attributes.shape.insert(attributes.shape.begin() + static_cast<std::ptrdiff_t>(place), 1);
  }
  settle(recorder_.add(Op::reshape, {value}, attributes));
}

void Generator::add_transpose() {
  const ValueId value = pick();
  Attributes attributes;
  attributes.axes.resize(recorder_.shape(value).size());
  std::iota(attributes.axes.begin(), attributes.axes.end(), 0);
  std::ranges::shuffle(attributes.axes, recorder_.random());
  if (attributes.axes.size() > 1) settle(recorder_.add(Op::transpose, {value}, attributes));
}

void Generator::add_broadcast() {
  const ValueId value = pick();
  Attributes attributes;
  attributes.shape = recorder_.shape(value);
  for (Dim& extent : attributes.shape) {
    if (extent == Dim(1)) extent = recorder_.any_of(extents_);
  }
  if (recorder_.chance(0.5)) {
    attributes.shape.insert(attributes.shape.begin(), recorder_.any_of(extents_));
  }
  settle(recorder_.add(Op::broadcast_to, {value}, attributes));
}

/// A region inside `shape`: any step along constant axes, and what can be said of symbolic ones.
Attributes Generator::any_region(const Shape& shape) {
  Attributes attributes;
  for (const Dim extent : shape) {
    const bool whole = recorder_.chance(0.4);
    if (whole || !extent.is_constant() || extent.constant() == 0) {
      const bool backwards = recorder_.chance(0.3);
      const bool shorter = !whole && recorder_.extent(extent) >= 2;
      const Dim size = shorter ? extent - 1 : extent;
      attributes.starts.push_back(backwards ? size - 1 : Dim(shorter ? 1 : 0));
      attributes.steps.emplace_back(backwards ? -1 : 1);
      attributes.shape.push_back(size);
      continue;
    }
    const std::int64_t size = extent.constant();
    const auto start = static_cast<std::int64_t>(recorder_.below(static_cast<std::size_t>(size)));
    const auto step = static_cast<std::int64_t>(1 + recorder_.below(3));
    const bool backwards = recorder_.chance(0.4);
    const std::int64_t most = (backwards ? start : size - 1 - start) / step + 1;
    const auto least = recorder_.chance(0.03) ? 0 : std::max<std::int64_t>(1, most / 2);
    attributes.starts.emplace_back(start);
    attributes.steps.emplace_back(backwards ? -step : step);
    attributes.shape.emplace_back(least + static_cast<std::int64_t>(recorder_.below(
                                              static_cast<std::size_t>(most - least + 1))));
  }
  return attributes;
}

void Generator::add_slice() {
  const ValueId value = pick();
  if (recorder_.shape(value).empty()) return;
  settle(recorder_.add(Op::slice, {value}, any_region(recorder_.shape(value))));
}

void Generator::add_concatenate() {
  const ValueId value = pick();
  const DType dtype = recorder_.dtype(value);
  const Shape shape = recorder_.shape(value);
  if (shape.empty()) return;
  Attributes attributes;
  const std::size_t axis = recorder_.below(shape.size());
  attributes.axes = {static_cast<std::int64_t>(axis)};
  std::vector<ValueId> parts = {value};
  const std::size_t count = 1 + recorder_.below(4);
  for (std::size_t attempt = 0; parts.size() < count && attempt < 8; ++attempt) {
    const ValueId other = pick();
    Shape same = recorder_.shape(other);
    if (same.size() == shape.size()) same[axis] = shape[axis];
    if (same == shape) {
      parts.push_back(recorder_.cast(other, dtype));
    } else if (recorder_.chance(0.3)) {
      same = shape;
      same[axis] = recorder_.any_of(extents_);
      if (recorder_.elements(same) <= Recorder::most_elements) {
        parts.push_back(recorder_.parameter(dtype, same));
      }
    }
  }
  std::ranges::shuffle(parts, recorder_.random());
  settle(recorder_.add(Op::concatenate, parts, attributes));
}

void Generator::add_slice_update() {
  ValueId base = pick();
  // Now and then of a parameter that nobody else reads, whose memory may then be written.
  if (recorder_.chance(0.3))
    base = recorder_.parameter(recorder_.dtype(base), recorder_.shape(base));
  const Attributes attributes = any_region(recorder_.shape(base));
  const ValueId value = beside(recorder_.dtype(base), attributes.shape, true);
  settle(recorder_.add(Op::slice_update, {base, value}, attributes));
}

/// Indices along some axes of `shape`, which `attributes` names: most of them inside, and negative
/// ones among them.
std::vector<ValueId> Generator::any_indices(Shape shape, Attributes& attributes) {
  std::vector<ValueId> indices;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis + 1 < shape.size() && recorder_.chance(0.6)) continue;
    if (!indices.empty() && recorder_.chance(0.5)) continue;
    const DType dtype = recorder_.any_dtype(ir::signed_integers);
    ValueId index = beside(dtype, shape, true);
    const std::int64_t extent = recorder_.extent(shape[axis]);
    if (extent > 0 && extent < 128 && recorder_.chance(0.9)) {
      const ValueId count = recorder_.constant(dtype, static_cast<double>(extent));
      index =
          recorder_.add(recorder_.chance(0.5) ? Op::remainder : Op::fmod, {index, count}).value();
    }
    attributes.axes.push_back(static_cast<std::int64_t>(axis));
    indices.push_back(index);
  }
  return indices;
}

void Generator::add_gather() {
  const ValueId value = pick();
  Attributes attributes;
  std::vector<ValueId> operands = any_indices(recorder_.shape(value), attributes);
  if (operands.empty()) return;
  operands.insert(operands.begin(), value);
  settle(recorder_.add(Op::gather, operands, attributes));
}

void Generator::add_scatter() {
  static const std::vector<Op> ops = ops_of_kind(OpKind::scatter);
  const OpInfo& info = ir::info(recorder_.any_of(ops));
  const ValueId value = recorder_.cast(pick(), recorder_.any_dtype(info.dtypes));
  Attributes attributes;
  attributes.shape = recorder_.shape(value);
  std::vector<ValueId> operands = any_indices(recorder_.shape(value), attributes);
  if (operands.empty()) return;
  operands.insert(operands.begin(), value);
  for (const std::int64_t axis : attributes.axes) {
    if (recorder_.chance(0.5))
      attributes.shape[static_cast<std::size_t>(axis)] = recorder_.any_of(extents_);
  }
  settle(recorder_.add(info.op, operands, attributes));
}

void Generator::add_reduction() {
  static const std::vector<Op> ops = ops_of_kind(OpKind::reduction);
  const OpInfo& info = ir::info(recorder_.any_of(ops));
  ValueId value = pick();
  if ((info.dtypes & ir::set_of(recorder_.dtype(value))) == 0) {
    value = recorder_.cast(value, recorder_.any_dtype(info.dtypes));
  }
  const std::size_t rank = recorder_.shape(value).size();
  const bool is_index = info.op == Op::argmin || info.op == Op::argmax;
  if (rank == 0) return;
  Attributes attributes;
  if (!is_index && recorder_.chance(0.2)) return add_segments(info.op, value);
  attributes.keepdims = recorder_.chance(0.5);
  if (is_index && recorder_.chance(0.7)) {
    attributes.axes = {static_cast<std::int64_t>(recorder_.below(rank))};
  } else {
    const bool all = is_index || recorder_.chance(0.2);
    for (std::size_t i = 0; i < rank; ++i) {
      if (all || recorder_.chance(0.5)) attributes.axes.push_back(static_cast<std::int64_t>(i));
    }
    if (attributes.axes.empty()) attributes.axes = {static_cast<std::int64_t>(rank) - 1};
  }
  settle(recorder_.add(info.op, {value}, attributes));
}

/// A reduction of segments of an axis, some of them empty or beyond its end.
void Generator::add_segments(Op op, ValueId value) {
  Attributes along;
  along.axes = {static_cast<std::int64_t>(recorder_.below(recorder_.shape(value).size()))};
  Attributes places;
  places.dtype = recorder_.chance(0.5) ? DType::i32 : DType::i64;
  places.shape = {recorder_.any_of(extents_)};
  places.axes = {0};
  const ValueId place = recorder_.add(Op::iota, {}, places).value();
  const auto number = [&](std::size_t below) {
    return recorder_.constant(places.dtype, static_cast<double>(recorder_.below(below)));
  };
  const ValueId begins = recorder_.add(Op::multiply, {place, number(4)}).value();
  const ValueId ends = recorder_.chance(0.5)
                           ? recorder_.add(Op::add, {begins, number(6)}).value()
                           : recorder_.add(Op::multiply, {place, number(6)}).value();
  settle(recorder_.add(op, {value, begins, ends}, along));
}

void Generator::add_scan() {
  static const std::vector<Op> ops = ops_of_kind(OpKind::scan);
  const OpInfo& info = ir::info(recorder_.any_of(ops));
  ValueId value = pick();
  const std::size_t rank = recorder_.shape(value).size();
  if (rank == 0) return;
  if ((info.dtypes & ir::set_of(recorder_.dtype(value))) == 0) {
    value = recorder_.cast(value, recorder_.any_dtype(info.dtypes));
  }
  Attributes attributes;
  attributes.axes = {static_cast<std::int64_t>(recorder_.below(rank))};
  std::vector<ValueId> operands = {value};
  if (recorder_.chance(0.3)) {
    Attributes whole;
    whole.shape = recorder_.shape(value);
    const ValueId begins = beside(DType::boolean, whole.shape, true);
    operands.push_back(recorder_.add(Op::broadcast_to, {begins}, whole).value());
  }
  settle(recorder_.add(info.op, operands, attributes));
}

void Generator::add_matmul() {
  const ValueId picked = pick();
  if (recorder_.shape(picked).size() < 2) return;
  const ir::DTypeSet allowed = ir::calls::matmul().dtypes;
  const DType own = recorder_.dtype(picked);
  const bool keeps = (allowed & ir::set_of(own)) != 0;
  const ValueId a = recorder_.cast(picked, keeps ? own : recorder_.any_dtype(allowed));
  Shape shape = recorder_.shape(a);
  constexpr std::int64_t most_products = 1 << 20;
  const Dim columns = recorder_.any_of(extents_);
  if (recorder_.elements(shape) * recorder_.extent(columns) > most_products) return;
  ValueId b{};
  if (recorder_.chance(0.5)) {
    // a times its own transpose
    if (recorder_.elements(shape) * recorder_.extent(*(shape.end() - 2)) > most_products) return;
    b = transposed(a);
  } else {
    // a batch of matrices, or one for all
    *(shape.end() - 2) = shape.back();
    shape.back() = columns;
    if (recorder_.chance(0.5)) shape.erase(shape.begin(), shape.end() - 2);
    if (shape.size() > 2 && recorder_.chance(0.3)) shape.front() = 1;
    if (recorder_.elements(shape) > Recorder::most_elements) return;
    b = recorder_.parameter(recorder_.dtype(a), shape);
  }
  settle(recorder_.add(Op::call, {a, b}, ir::matmul_attributes(Precision::ieee)));
}

ValueId Generator::transposed(ValueId matrices) {
  Attributes attributes;
  attributes.axes.resize(recorder_.shape(matrices).size());
  std::iota(attributes.axes.begin(), attributes.axes.end(), 0);
  std::swap(attributes.axes.back(), *(attributes.axes.end() - 2));
  return recorder_.add(Op::transpose, {matrices}, attributes).value();
}

/// The real parts of a value, limited to [-2, 2]; NaNs are a number there too.
ValueId Generator::within_two(ValueId value, DType dtype) {
  const ValueId real = recorder_.cast(value, dtype);
  const ValueId low = recorder_.constant(dtype, -2), high = recorder_.constant(dtype, 2);
  return recorder_.add(Op::fmin, {recorder_.add(Op::fmax, {real, low}).value(), high}).value();
}

ValueId Generator::identity(DType dtype, Dim order) {
  Attributes attributes;
  attributes.dtype = DType::i32;
  attributes.shape = {order, order};
  attributes.axes = {0};
  const ValueId row = recorder_.add(Op::iota, {}, attributes).value();
  attributes.axes = {1};
  const ValueId column = recorder_.add(Op::iota, {}, attributes).value();
  const ValueId equal = recorder_.add(Op::equal, {row, column}).value();
  if (recorder_.chance(0.5)) return recorder_.cast(equal, dtype);
  const ValueId one = recorder_.constant(dtype, 1), zero = recorder_.constant(dtype, 0);
  return recorder_.add(Op::select, {equal, one, zero}).value();
}

/// y y^H + 4, which is positive definite whatever y is; of small matrices only.
std::optional<ValueId> Generator::definite_matrices() {
  const ValueId picked = pick();
  const Shape shape = recorder_.shape(picked);
  if (shape.size() < 2) return std::nullopt;
  const Dim order = *(shape.end() - 2);
  constexpr std::int64_t most_rows = 40, most_columns = 300, most_values = 1 << 13;
  const bool small = recorder_.extent(order) <= most_rows &&
                     recorder_.extent(shape.back()) <= most_columns &&
                     recorder_.elements(shape) <= most_values;
  Shape matrices = shape;
  matrices.back() = order;
  if (!small || recorder_.elements(matrices) > most_values) return std::nullopt;

  static const std::vector<DType> kinds = {DType::f32, DType::f32, DType::f32, DType::f64,
                                           DType::f64, DType::c64, DType::c128};
  const DType dtype = recorder_.any_of(kinds);
  const ValueId y = random_of(dtype, picked, shape);
  ValueId other = transposed(y);
  if (is_complex(dtype)) other = recorder_.add(Op::conjugate, {other}).value();
  const ValueId product =
      recorder_.add(Op::call, {y, other}, ir::matmul_attributes(Precision::ieee)).value();
  const ValueId four = recorder_.constant(dtype, 4);
  const ValueId diagonal = recorder_.add(Op::multiply, {identity(dtype, order), four}).value();
  const ValueId matrix = recorder_.add(Op::add, {product, diagonal}).value();
  if (recorder_.chance(0.3)) pool_.push_back(matrix);
  return recorder_.chance(0.3) ? transposed(matrix) : matrix;
}

/// Elements within 2 of a dtype, real parts from `picked`, which has the shape.
ValueId Generator::random_of(DType dtype, ValueId picked, const Shape& shape) {
  const DType part = real_dtype(dtype);
  const ValueId real = within_two(picked, part);
  if (!is_complex(dtype)) return real;
  const ValueId imaginary = within_two(beside(part, shape, true), part);
  return recorder_.add(Op::make_complex, {real, imaginary}).value();
}

void Generator::add_cholesky() {
  const std::optional<ValueId> matrix = definite_matrices();
  if (!matrix) return;
  const ir::Attributes attributes =
      ir::call_attributes(ir::calls::cholesky(), {{"upper", recorder_.chance(0.5)}});
  const ValueId factor = recorder_.add(Op::call, {*matrix}, attributes).value();
  settle(factor);
  if (recorder_.chance(0.5)) settle(recorder_.result(factor, 1));
}

void Generator::add_solve() {
  const std::optional<ValueId> matrix = definite_matrices();
  if (!matrix) return;
  const DType dtype = recorder_.dtype(*matrix);
  Shape sides = recorder_.shape(*matrix);
  const auto count = static_cast<std::int64_t>(recorder_.below(3)) + 1;
  const bool triangular = recorder_.chance(0.4);
  (triangular ? sides.back() : sides[sides.size() - 2]) = Dim(count);
  const ValueId b = moderate(dtype, sides);
  if (triangular) {
    // Of the lower triangle of a factor, whose elements beside the diagonal are not large.
    const ValueId factor =
        recorder_.add(Op::call, {*matrix}, ir::call_attributes(ir::calls::cholesky())).value();
    static const std::vector<std::string> transposes = {"none", "transpose", "conjugate"};
    const ir::Attributes attributes =
        ir::call_attributes(ir::calls::solve_triangular(),
                            {{"lower", true}, {"transpose", recorder_.any_of(transposes)}});
    return settle(recorder_.add(Op::call, {factor, b}, attributes).value());
  }
  const ir::Attributes attributes =
      ir::call_attributes(ir::calls::solve(), {{"transposed", recorder_.chance(0.5)}});
  const ValueId x = recorder_.add(Op::call, {*matrix, b}, attributes).value();
  settle(x);
  if (recorder_.chance(0.3)) settle(recorder_.result(x, 3));
}

void Generator::add_sort() {
  const ValueId value = pick();
  const std::size_t rank = recorder_.shape(value).size();
  if (rank == 0) return;
  // The places of floats that are off by a rounding say nothing.
  const bool sharp = !is_floating(recorder_.dtype(value)) || graph().op(value) == Op::parameter;
  const auto axis = static_cast<std::int64_t>(recorder_.below(rank));
  const ir::CallOp& op = sharp && recorder_.chance(0.5) ? ir::calls::argsort() : ir::calls::sort();
  settle(recorder_.add(Op::call, {value}, ir::call_attributes(op, {{"axis", axis}})));
}

void Generator::add_search() {
  const ValueId value = pick();
  const DType dtype = recorder_.dtype(value);
  const bool sharp =
      is_integer(dtype) || (is_floating(dtype) && graph().op(value) == Op::parameter);
  if (!sharp) return;
  const ValueId among = recorder_.parameter(dtype, {recorder_.any_of(extents_)});
  const ValueId sorted =
      recorder_.add(Op::call, {among}, ir::call_attributes(ir::calls::sort())).value();
  const Op op = recorder_.chance(0.5) ? Op::searchsorted_left : Op::searchsorted_right;
  settle(recorder_.add(op, {sorted, value}));
}

}  // namespace heddle::test
