#include <limits>
#include <vector>

#include "ir/calls/calls.h"
#include "tests/fuzz/generator.h"

// softmax(q k^T) v in 16-bit formats, written as programs write it: with scales, masks and biases,
// and the softmax in the same format or in float32.

namespace heddle::test {

namespace {

constexpr std::int64_t most_scores = 1 << 13, most_keys = 300;

Shape with_batch(const Shape& batch, Dim rows, Dim columns) {
  Shape shape = batch;
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

}  // namespace

/// Elements within 2 of a dtype.
ValueId Generator::moderate(DType dtype, const Shape& shape) {
  return broadcast(random_of(dtype, beside(real_dtype(dtype), shape, true), shape), shape);
}

/// Scores of keys beyond a diagonal, or outside a band, are -inf or a large negative number.
ValueId Generator::masked(ValueId scores) {
  const Shape shape = recorder_.shape(scores);
  const DType dtype = recorder_.dtype(scores);
  const Dim rows = shape[shape.size() - 2], keys = shape.back();
  const auto offset = recorder_.constant(DType::i32, static_cast<double>(recorder_.below(40)) - 4);
  const ValueId row = index(rows, keys, 0), key = index(rows, keys, 1);
  const ValueId last = recorder_.add(Op::add, {row, offset}).value();
  ValueId seen = recorder_.add(Op::greater_equal, {last, key}).value();
  if (recorder_.chance(0.3)) {
    const ValueId width = recorder_.constant(DType::i32, static_cast<double>(recorder_.below(60)));
    const ValueId first = recorder_.add(Op::subtract, {row, width}).value();
    const ValueId after = recorder_.add(Op::greater_equal, {key, first}).value();
    seen = recorder_.add(Op::logical_and, {seen, after}).value();
  }
  const double left_out =
      recorder_.chance(0.5) ? -std::numeric_limits<double>::infinity() : -10000.0;
  return recorder_.add(Op::select, {seen, scores, recorder_.constant(dtype, left_out)}).value();
}

ValueId Generator::softmax(ValueId scores) {
  const DType dtype = recorder_.dtype(scores);
  if (recorder_.chance(0.4)) scores = recorder_.cast(scores, DType::f32);
  Attributes last;
  last.axes = {static_cast<std::int64_t>(recorder_.shape(scores).size()) - 1};
  last.keepdims = true;
  const ValueId greatest = recorder_.add(Op::max, {scores}, last).value();
  const ValueId shifted = recorder_.add(Op::subtract, {scores, greatest}).value();
  const ValueId weights = recorder_.add(Op::exp, {shifted}).value();
  const ValueId sum = recorder_.add(Op::sum, {weights}, last).value();
  return recorder_.cast(recorder_.add(Op::divide, {weights, sum}).value(), dtype);
}

void Generator::add_attention() {
  static const std::vector<std::int64_t> query_counts = {32, 33, 64, 100, 130};
  static const std::vector<std::int64_t> column_counts = {8, 16, 24, 32};
  const DType dtype = recorder_.chance(0.5) ? DType::f16 : DType::bf16;
  const Dim rows = recorder_.any_of(query_counts), keys = recorder_.any_of(extents_);
  const Dim depth = recorder_.any_of(column_counts), width = recorder_.any_of(column_counts);
  Shape batch;
  if (recorder_.chance(0.4)) batch.emplace_back(1 + recorder_.below(3));
  const std::int64_t count = recorder_.extent(keys);
  if (count == 0 || count > most_keys ||
      recorder_.elements(with_batch(batch, rows, keys)) > most_scores)
    return;

  const auto number = [&](double value) { return recorder_.constant(dtype, value); };
  ValueId queries = moderate(dtype, with_batch(batch, rows, depth));
  const bool early = recorder_.chance(0.4);
  if (early) queries = recorder_.add(Op::multiply, {queries, number(0.25)}).value();
  ValueId scores = product(
      queries, recorder_.chance(0.7) ? transposed(moderate(dtype, with_batch(batch, keys, depth)))
                                     : moderate(dtype, with_batch(batch, depth, keys)));
  if (!early) scores = recorder_.add(Op::divide, {scores, number(4)}).value();
  if (recorder_.chance(0.4)) {
    const ValueId bias = moderate(dtype, with_batch({}, rows, keys));
    scores = recorder_.add(Op::add, {scores, bias}).value();
  }
  if (recorder_.chance(0.4)) scores = masked(scores);
  settle(product(softmax(scores), moderate(dtype, with_batch(batch, keys, width))));
}

}  // namespace heddle::test
