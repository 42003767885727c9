#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/calls/calls.h"
#include "tests/fuzz/control_maker.h"
#include "tests/fuzz/region_maker.h"

// The ops that stand in the bodies of loops and in branches.

namespace heddle::test {

using ir::Attributes;
using ir::Dim;
using ir::Op;
using ir::Shape;
using ir::ValueId;

void RegionMaker::add_something() {
  using Maker = void (RegionMaker::*)();
  static const std::vector<std::pair<std::size_t, Maker>> makers = {
      {5, &RegionMaker::add_unary},     {9, &RegionMaker::add_binary},
      {3, &RegionMaker::add_counted},   {3, &RegionMaker::add_choice},
      {8, &RegionMaker::add_slice},     {3, &RegionMaker::add_update},
      {3, &RegionMaker::add_view},      {1, &RegionMaker::add_concatenate},
      {4, &RegionMaker::add_reduction}, {1, &RegionMaker::add_scan},
      {1, &RegionMaker::add_gather},    {1, &RegionMaker::add_sort},
      {1, &RegionMaker::add_product},   {5, &RegionMaker::add_control}};
  std::size_t total = 0;
  for (const auto& [weight, maker] : makers) total += weight;
  std::size_t place = draws_.below(total);
  for (const auto& [weight, maker] : makers) {
    if (place < weight) return (this->*maker)();
    place -= weight;
  }
}

/// A value of the same dtype, to combine with one.
std::optional<ValueId> RegionMaker::beside(ValueId value) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    if (const auto other = converted(pick(), dtype(value))) return other;
  }
  return constant(dtype(value), 1);
}

void RegionMaker::add_unary() {
  static const std::vector<Op> of_integers = {Op::negative, Op::invert, Op::absolute, Op::square};
  static const std::vector<Op> of_floats = {Op::tanh, Op::sin, Op::cos, Op::absolute, Op::negative};
  static const std::vector<Op> of_complexes = {Op::conjugate, Op::negative, Op::absolute};
  const ValueId a = pick();
  const DType kind = dtype(a);
  if (is_boolean(kind)) return keep(add(Op::logical_not, {a}));
  if (is_integer(kind)) return keep(add(draws_.any_of(of_integers), {a}));
  keep(add(draws_.any_of(is_complex(kind) ? of_complexes : of_floats), {a}));
}

void RegionMaker::add_binary() {
  const ValueId a = pick();
  if (const auto b = beside(a)) keep(combined(a, *b));
}

/// A value with the counter in it.
void RegionMaker::add_counted() {
  if (!counter_) return;
  const ValueId a = pick();
  if (const auto number = converted(counter_->value, dtype(a))) keep(combined(a, *number));
}

/// One of two values, as the counter or an integer says.
void RegionMaker::add_choice() {
  static const std::vector<Op> comparisons = {Op::less, Op::equal, Op::greater_equal,
                                              Op::not_equal};
  const ValueId left = counter_ && draws_.chance(0.5) ? counter_->value : pick();
  if (is_inexact(dtype(left))) return;
  const ValueId right = constant(dtype(left), static_cast<double>(draws_.below(4)));
  const std::optional<ValueId> truth = add(draws_.any_of(comparisons), {left, right});
  if (!truth) return;
  const ValueId a = pick();
  if (const auto b = beside(a)) keep(add(Op::select, {*truth, a, *b}));
}

/// A part that moves with the counter, without its axis now and then.
void RegionMaker::add_slice() {
  const ValueId a = pick();
  const std::optional<Attributes> moving = moving_part(shape(a));
  const std::optional<ValueId> slice = add(Op::slice, {a}, moving ? *moving : part(shape(a)));
  if (!slice || draws_.chance(0.4)) return keep(slice);
  Attributes attributes;
  for (const Dim extent : shape(*slice)) {
    if (extent != Dim(1)) attributes.shape.push_back(extent);
  }
  keep(add(Op::reshape, {*slice}, attributes));
}

void RegionMaker::add_update() { keep(updated(pick())); }

void RegionMaker::add_view() {
  const ValueId a = pick();
  Attributes attributes;
  if (shape(a).size() > 1 && draws_.chance(0.5)) {
    attributes.axes.resize(shape(a).size());
    std::iota(attributes.axes.begin(), attributes.axes.end(), 0);
    std::ranges::shuffle(attributes.axes, draws_.random());
    return keep(add(Op::transpose, {a}, attributes));
  }
  if (draws_.chance(0.5)) {
    attributes.shape = {ir::element_count(shape(a))};
    return keep(add(Op::reshape, {a}, attributes));
  }
  attributes.shape = shape(a);
  attributes.shape.insert(attributes.shape.begin(), 1 + static_cast<std::int64_t>(draws_.below(3)));
  keep(add(Op::broadcast_to, {a}, attributes));
}

void RegionMaker::add_concatenate() {
  const ValueId a = pick();
  if (shape(a).empty()) return;
  Attributes attributes;
  attributes.axes = {static_cast<std::int64_t>(draws_.below(shape(a).size()))};
  keep(add(Op::concatenate, {a, value_of(graph_.type(a))}, attributes));
}

void RegionMaker::add_reduction() {
  static const std::vector<Op> of_booleans = {Op::any, Op::all};
  static const std::vector<Op> of_integers = {Op::sum, Op::max, Op::min, Op::prod, Op::argmax};
  static const std::vector<Op> of_floats = {Op::sum, Op::sum, Op::max, Op::min};
  const ValueId a = pick();
  const Shape from = shape(a);  // adding nodes may move the graph's own
  if (from.empty()) return;
  Attributes attributes;
  attributes.keepdims = draws_.chance(0.4);
  const auto axis = static_cast<std::int64_t>(draws_.below(from.size()));
  attributes.axes = {axis};
  const DType kind = dtype(a);
  const Op op = is_complex(kind)   ? Op::sum
                : is_boolean(kind) ? draws_.any_of(of_booleans)
                                   : draws_.any_of(is_integer(kind) ? of_integers : of_floats);
  const std::optional<ValueId> made = add(op, {a}, attributes);
  if (!made || op != Op::sum || !is_inexact(kind)) return keep(made);
  const std::int64_t count = draws_.extent(from[static_cast<std::size_t>(axis)]);
  keep(scaled(*made, 1.0 / static_cast<double>(std::max<std::int64_t>(count, 1))));
}

void RegionMaker::add_scan() {
  const ValueId a = pick();
  if (shape(a).empty()) return;
  Attributes attributes;
  const std::size_t axis = draws_.below(shape(a).size());
  attributes.axes = {static_cast<std::int64_t>(axis)};
  if (is_inexact(dtype(a))) {
    const auto count = static_cast<double>(draws_.extent(shape(a)[axis]));
    return keep(add(Op::cumsum, {scaled(a, 1 / std::max(count, 1.0)).value()}, attributes));
  }
  keep(add(is_boolean(dtype(a)) ? Op::cummax : Op::cumsum, {a}, attributes));
}

/// Elements at an integer, which may be the counter.
void RegionMaker::add_gather() {
  const ValueId a = pick();
  const ValueId index = counter_ && draws_.chance(0.5) ? counter_->value : pick();
  if (shape(a).empty() || !is_integer(dtype(index))) return;
  Attributes attributes;
  attributes.axes = {static_cast<std::int64_t>(draws_.below(shape(a).size()))};
  keep(add(Op::gather, {a, index}, attributes));
}

void RegionMaker::add_sort() {
  const ValueId a = pick();
  if (shape(a).empty()) return;
  const auto axis = static_cast<std::int64_t>(draws_.below(shape(a).size()));
  keep(add(Op::call, {a}, ir::call_attributes(ir::calls::sort(), {{"axis", axis}})));
}

/// A product of a matrix and its transpose, divided by the depth.
void RegionMaker::add_product() {
  const ValueId a = pick();
  if (shape(a).size() != 2) return;
  Attributes swap;
  swap.axes = {1, 0};
  const std::optional<ValueId> transposed = add(Op::transpose, {a}, swap);
  if (!transposed) return;
  const std::optional<ValueId> product =
      add(Op::call, {a, *transposed}, ir::matmul_attributes(Precision::ieee));
  if (!product || !is_inexact(dtype(a))) return keep(product);
  const auto depth = static_cast<double>(draws_.extent(shape(a)[1]));
  keep(scaled(*product, 0.1 / std::max(depth, 1.0)));
}

void RegionMaker::add_control() {
  constexpr int most_nested = 2;
  if (depth_ >= most_nested) return;
  for (const ValueId value : ControlMaker(draws_, *this, depth_).make()) keep(value);
}

}  // namespace heddle::test
