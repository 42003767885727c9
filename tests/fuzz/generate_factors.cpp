#include <limits>
#include <numeric>
#include <vector>

#include "ir/calls/calls.h"
#include "tests/fuzz/generator.h"

// Factors of small matrices. Where they are not unique, only what they multiply to goes into the
// pool.

namespace heddle::test {

namespace {

constexpr std::int64_t most_order = 24, most_items = 12, most_values = 1 << 12;

std::size_t row_axis(const Shape& shape) { return shape.size() - 2; }

Shape batch_of(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

}  // namespace

ValueId Generator::call(const ir::CallOp& op, const std::vector<ValueId>& operands,
                        std::initializer_list<ir::NamedAttribute> attributes) {
  return recorder_.add(Op::call, operands, ir::call_attributes(op, attributes)).value();
}

ValueId Generator::product(ValueId a, ValueId b) {
  return recorder_.add(Op::call, {a, b}, ir::matmul_attributes(Precision::ieee)).value();
}

ValueId Generator::conjugate_transpose(ValueId matrices) {
  const ValueId other = transposed(matrices);
  if (!is_complex(recorder_.dtype(matrices))) return other;
  return recorder_.add(Op::conjugate, {other}).value();
}

ValueId Generator::reshaped(ValueId value, const Shape& shape) {
  Attributes attributes;
  attributes.shape = shape;
  return recorder_.add(Op::reshape, {value}, attributes).value();
}

ValueId Generator::broadcast(ValueId value, const Shape& shape) {
  if (recorder_.shape(value) == shape) return value;
  Attributes attributes;
  attributes.shape = shape;
  return recorder_.add(Op::broadcast_to, {value}, attributes).value();
}

/// The row number or column number of each element of a matrix.
ValueId Generator::index(Dim rows, Dim columns, std::int64_t axis) {
  Attributes attributes;
  attributes.dtype = DType::i32;
  attributes.shape = {rows, columns};
  attributes.axes = {axis};
  return recorder_.add(Op::iota, {}, attributes).value();
}

/// Elements [first, first + count) of an axis, or from the last of them to the first.
ValueId Generator::part(ValueId value, std::size_t axis, Dim first, Dim count, bool backwards) {
  Attributes attributes;
  attributes.shape = recorder_.shape(value);
  if (attributes.shape[axis] == count && !backwards) return value;
  attributes.starts.assign(attributes.shape.size(), Dim(0));
  attributes.steps.assign(attributes.shape.size(), Dim(1));
  attributes.starts[axis] = backwards ? first + count - 1 : first;
  attributes.steps[axis] = backwards ? -1 : 1;
  attributes.shape[axis] = count;
  return recorder_.add(Op::slice, {value}, attributes).value();
}

/// A part of constant extent of every axis that is longer than it may be.
ValueId Generator::small_part(ValueId value, bool square) {
  const std::size_t rank = recorder_.shape(value).size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const Shape shape = recorder_.shape(value);
    if (!shape[axis].is_constant()) continue;
    const std::int64_t extent = shape[axis].constant();
    std::int64_t most = axis >= rank - 2 ? most_order : axis == 0 ? 4 : 3;
    const Dim other = axis >= rank - 2 ? shape[2 * rank - 3 - axis] : Dim(extent);
    if (square && other.is_constant()) most = std::min(most, other.constant());
    const std::int64_t count = std::min(extent, most);
    const auto first =
        static_cast<std::int64_t>(recorder_.below(static_cast<std::size_t>(extent - count + 1)));
    value = part(value, axis, first, count, count > 0 && recorder_.chance(0.1));
  }
  return value;
}

/// Stacks of small matrices of moderate elements; `wild`: of which some may not be finite.
std::optional<ValueId> Generator::small_matrices(bool square, bool wild) {
  static const std::vector<DType> kinds = {DType::f32, DType::f64, DType::c64, DType::c128};
  ValueId picked = pick();
  for (int attempt = 0; recorder_.shape(picked).size() < 2 && attempt < 3; ++attempt)
    picked = pick();
  if (recorder_.shape(picked).size() < 2) return std::nullopt;
  const ValueId small = small_part(picked, square);
  const Shape shape = recorder_.shape(small);
  const Dim rows = shape[row_axis(shape)], columns = shape.back();
  const std::int64_t larger = std::max(recorder_.extent(rows), recorder_.extent(columns));
  const std::int64_t items = recorder_.elements(batch_of(shape));
  const bool known = rows.is_constant() && columns.is_constant();
  if (items > most_items || items * larger * larger > most_values || (!known && !square))
    return std::nullopt;

  const DType dtype = recorder_.any_of(kinds);
  ValueId made = random_of(dtype, small, shape);
  if (wild && recorder_.chance(0.1)) made = spoiled(made);
  if (square && rows != columns) made = product(made, conjugate_transpose(made));
  return recorder_.chance(0.3) ? transposed(made) : made;
}

/// Large elements become NaN or infinite.
ValueId Generator::spoiled(ValueId matrices) {
  const DType dtype = recorder_.dtype(matrices), real = real_dtype(dtype);
  using Limits = std::numeric_limits<double>;
  const double bad = recorder_.chance(0.5) ? Limits::quiet_NaN() : Limits::infinity();
  const ValueId size = recorder_.add(Op::absolute, {matrices}).value();
  const ValueId large = recorder_.add(Op::greater, {size, recorder_.constant(real, 1.75)}).value();
  return recorder_.add(Op::select, {large, recorder_.constant(dtype, bad), matrices}).value();
}

/// Matrices with one large element in each row and column, but for those beyond a square: pivots
/// are clear.
ValueId Generator::with_clear_pivots(ValueId matrices) {
  const Shape shape = recorder_.shape(matrices);
  const DType dtype = recorder_.dtype(matrices);
  const Dim columns = shape[row_axis(shape)], rows = shape.back();
  const std::int64_t m = recorder_.extent(rows);
  ValueId place = index(columns, rows, 0);
  if (rows.is_constant() && m > 1) {
    auto stride = static_cast<std::int64_t>(1 + recorder_.below(static_cast<std::size_t>(m)));
    while (std::gcd(stride, m) != 1) ++stride;
    const auto number = [&](std::int64_t value) {
      return recorder_.constant(DType::i32, static_cast<double>(value));
    };
    place = recorder_.add(Op::multiply, {place, number(stride)}).value();
    place = recorder_.add(Op::remainder, {place, number(m)}).value();
  }
  const ValueId large = recorder_.add(Op::equal, {place, index(columns, rows, 1)}).value();
  const ValueId weight = recorder_.constant(dtype, static_cast<double>(3 * m + 3));
  const ValueId none = recorder_.constant(dtype, 0);
  const ValueId added = recorder_.add(Op::select, {large, weight, none}).value();
  return recorder_.add(Op::add, {matrices, added}).value();
}

void Generator::add_lu() {
  const std::optional<ValueId> matrices = small_matrices(recorder_.chance(0.3), false);
  if (!matrices) return;
  const ValueId factors = call(ir::calls::lu(), {with_clear_pivots(*matrices)});
  settle(factors);
  if (recorder_.chance(0.3)) settle(recorder_.result(factors, 2));
  ValueId pivots = recorder_.result(factors, 1);
  if (recorder_.chance(0.5)) settle(pivots);
  const Shape shape = recorder_.shape(*matrices);
  const Dim columns = shape[row_axis(shape)], rows = shape.back();
  if (recorder_.shape(pivots).back() != rows) {
    // Rows beyond the last pivot stay in their places.
    Attributes rest;
    rest.dtype = DType::i32;
    rest.shape = batch_of(shape);
    rest.shape.push_back(rows - columns);
    rest.axes = {static_cast<std::int64_t>(rest.shape.size()) - 1};
    const ValueId count =
        recorder_.constant(DType::i32, static_cast<double>(columns.constant() + 1));
    const ValueId own =
        recorder_.add(Op::add, {recorder_.add(Op::iota, {}, rest).value(), count}).value();
    Attributes joined;
    joined.axes = rest.axes;
    pivots = recorder_.add(Op::concatenate, {pivots, own}, joined).value();
  }
  settle(call(ir::calls::permutation_of_pivots(), {pivots}));
}

void Generator::add_determinant() {
  const std::optional<ValueId> matrices = small_matrices(true, false);
  if (!matrices) return;
  const ValueId sign = call(ir::calls::slogdet(), {with_clear_pivots(*matrices)});
  settle(sign);
  settle(recorder_.result(sign, 1));
}

/// R^T Q^T, which is the operand, and now and then Q^T conj(Q), which is 1.
void Generator::add_qr() {
  const std::optional<ValueId> matrices = small_matrices(recorder_.chance(0.3), false);
  if (!matrices) return;
  const ValueId factors = call(ir::calls::geqrf(), {*matrices});
  const ValueId tau = recorder_.result(factors, 1);
  const Shape shape = recorder_.shape(factors);
  const std::size_t axis = row_axis(shape);
  const Dim n = shape[axis], m = shape.back(), k = recorder_.shape(tau).back();

  ValueId reflectors = part(factors, axis, 0, k);
  if (k != m && recorder_.chance(0.5)) {
    Shape rest = shape;
    rest[axis] = m - k;
    const ValueId ignored = broadcast(recorder_.constant(recorder_.dtype(factors), 3), rest);
    Attributes joined;
    joined.axes = {static_cast<std::int64_t>(axis)};
    reflectors = recorder_.add(Op::concatenate, {reflectors, ignored}, joined).value();
  }
  const ValueId q = call(ir::calls::householder_product(), {reflectors, tau});
  const ValueId lower = recorder_.add(Op::greater_equal, {index(n, k, 0), index(n, k, 1)}).value();
  const ValueId none = recorder_.constant(recorder_.dtype(factors), 0);
  const ValueId r = recorder_.add(Op::select, {lower, part(factors, axis + 1, 0, k), none}).value();
  settle(product(r, part(q, axis, 0, k)));
  if (recorder_.chance(0.3)) settle(product(q, conjugate_transpose(q)));
}

/// Each row of the matrices times an element of the vectors.
ValueId Generator::scaled_rows(ValueId vectors, ValueId matrices) {
  Shape column = recorder_.shape(vectors);
  column.emplace_back(1);
  const ValueId factors = reshaped(recorder_.cast(vectors, recorder_.dtype(matrices)), column);
  return recorder_.add(Op::multiply, {factors, matrices}).value();
}

/// U S V^H, which is the operand, the singular values, and now and then U^H U.
void Generator::add_svd() {
  const std::optional<ValueId> matrices = small_matrices(recorder_.chance(0.3), true);
  if (!matrices) return;
  const ValueId u = call(ir::calls::svd(), {*matrices}, {{"full_matrices", recorder_.chance(0.5)}});
  const ValueId s = recorder_.result(u, 1), vh = recorder_.result(u, 2);
  const std::size_t axis = row_axis(recorder_.shape(u));
  const Dim k = recorder_.shape(s).back();
  settle(product(part(u, axis + 1, 0, k), scaled_rows(s, part(vh, axis, 0, k))));
  if (recorder_.chance(0.5)) settle(s);
  if (recorder_.chance(0.2)) settle(product(conjugate_transpose(u), u));
  if (recorder_.chance(0.3)) settle(recorder_.result(u, 3));
}

/// V W V^H, which is the operand, and now and then the eigenvalues.
void Generator::add_eigh() {
  const std::optional<ValueId> matrices = small_matrices(true, true);
  if (!matrices) return;
  const ValueId values = call(ir::calls::eigh(), {*matrices}, {{"upper", recorder_.chance(0.5)}});
  const ValueId rows = recorder_.result(values, 1);
  settle(product(conjugate_transpose(rows), scaled_rows(values, rows)));
  if (recorder_.chance(0.5)) settle(values);
  if (recorder_.chance(0.3)) settle(recorder_.result(values, 2));
}

/// Of eigenvalues what does not depend on their order.
void Generator::settle_values(ValueId values) {
  const double kind = std::uniform_real_distribution()(recorder_.random());
  if (kind >= 0.5) values = recorder_.add(Op::absolute, {values}).value();
  const std::size_t rank = recorder_.shape(values).size();
  const bool empty = recorder_.extent(recorder_.shape(values).back()) == 0;
  Attributes last;
  last.axes = {static_cast<std::int64_t>(rank) - 1};
  settle(recorder_.add(kind >= 0.8 && !empty ? Op::max : Op::sum, {values}, last));
}

void Generator::add_eigenvalues() {
  const std::optional<ValueId> matrices = small_matrices(true, true);
  if (!matrices) return;
  const ValueId values = call(ir::calls::eigvals(), {*matrices});
  settle_values(values);
  if (recorder_.chance(0.3)) settle(recorder_.result(values, 1));
}

/// The matrix + A V - V W, which is the matrix. All of these are transposed.
void Generator::add_eigenvectors() {
  const std::optional<ValueId> matrices = small_matrices(true, true);
  if (!matrices) return;
  // How neighbouring rows are paired needs a row.
  const bool packed = !is_complex(recorder_.dtype(*matrices));
  if (packed && !recorder_.shape(*matrices).back().is_constant()) return;
  const ValueId values = call(ir::calls::eig(), {*matrices});
  const ValueId rows = recorder_.result(values, 1);
  if (recorder_.chance(0.3)) settle(recorder_.result(values, 2));
  const ValueId off =
      recorder_.add(Op::subtract, {product(rows, *matrices), scaled_by(values, rows)}).value();
  settle(recorder_.add(Op::add, {*matrices, off}));
  if (recorder_.chance(0.5)) settle_values(values);
}

/// Eigenvectors times their values. Of a real matrix, a row may be the real or the imaginary part
/// of the vector of a pair of conjugate values, and its neighbour the other part.
ValueId Generator::scaled_by(ValueId values, ValueId rows) {
  if (is_complex(recorder_.dtype(rows))) return scaled_rows(values, rows);
  const std::size_t axis = row_axis(recorder_.shape(rows));
  const Dim n = recorder_.shape(rows)[axis];
  if (n == Dim(0)) return rows;
  const DType dtype = recorder_.dtype(rows);
  const ValueId real = recorder_.add(Op::real, {values}).value();
  const ValueId imaginary = recorder_.add(Op::imag, {values}).value();
  Attributes joined;
  joined.axes = {static_cast<std::int64_t>(axis)};
  const auto rotated = [&](Dim first) {
    const ValueId from = part(rows, axis, first, n - first), to = part(rows, axis, 0, first);
    return recorder_.add(Op::concatenate, {from, to}, joined).value();
  };
  Shape column = recorder_.shape(values);
  column.emplace_back(1);
  const ValueId first =
      recorder_.add(Op::greater, {reshaped(imaginary, column), recorder_.constant(dtype, 0)})
          .value();
  const ValueId beside =
      recorder_.add(Op::select, {first, rotated(Dim(1)), rotated(n - 1)}).value();
  return recorder_.add(Op::subtract, {scaled_rows(real, rows), scaled_rows(imaginary, beside)})
      .value();
}

}  // namespace heddle::test
