#include "random_graph.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "ir/calls/calls.h"
#include "test_calls.h"

using namespace heddle;
using namespace heddle::ir;

namespace {

class Generator {
 public:
  Generator(std::uint64_t seed, bool test_calls) : random_(seed), test_calls_(test_calls) {}

  Graph run(int length) {
    add_parameters();
    while (static_cast<int>(graph_.size()) < length) add_node();
    graph_.outputs = {newest(0)};
    for (std::size_t more = below(4); more > 0; --more) graph_.outputs.push_back(pick());
    if (coin()) graph_.facts.push_back({intern_symbol("n"), 2, 4});
    if (coin()) graph_.facts.push_back({intern_symbol("m"), 1, 1});
    return std::move(graph_);
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool coin() { return below(2) == 0; }
  ValueId newest(std::size_t age) {
    return ValueId{static_cast<std::uint32_t>(graph_.size() - 1 - age)};
  }
  /// Often one of the newest values, so that graphs grow deep as well as wide.
  ValueId pick() {
    return newest(below(coin() ? std::min<std::size_t>(4, graph_.size()) : graph_.size()));
  }

  DType any_dtype(DTypeSet set) {
    while (true) {
      const auto dtype = static_cast<DType>(below(dtype_count));
      if ((set & set_of(dtype)) != 0) return dtype;
    }
  }

  Op any_op(OpKind kind) {
    while (true) {
      const Op op = static_cast<Op>(below(op_count));
      if (kind_of(op) == kind) return op;
    }
  }

  Dim any_extent() {
    static const ir::Dims extents = {0,
                                     1,
                                     1,
                                     2,
                                     3,
                                     7,
                                     Dim::symbol("n"),
                                     Dim::symbol("m"),
                                     Dim::symbol("n") * 2,
                                     Dim::symbol("n") - 1};
    return extents[below(extents.size())];
  }

  Shape any_shape() {
    Shape shape(below(4));
    for (Dim& extent : shape) extent = any_extent();
    return shape;
  }

  void add_parameters() {
    const std::size_t count = 1 + below(4);
    for (std::size_t i = 0; i < count; ++i) {
      if (below(4) == 0) {
        graph_.scalar_parameter(any_dtype(all_dtypes));
      } else {
        graph_.parameter(any_dtype(all_dtypes), any_shape());
      }
    }
  }

  void add_node() {
    if (coin()) {
      add_elementwise();
      return;
    }
    switch (below(test_calls_ ? 17 : 15)) {
      case 0:
        graph_.constant(any_dtype(all_dtypes), random_());
        break;
      case 1:
        add_iota();
        break;
      case 2:
        add_reshape();
        break;
      case 3:
        add_transpose();
        break;
      case 4:
        add_broadcast();
        break;
      case 5:
        add_slice();
        break;
      case 6:
        add_concatenate();
        break;
      case 7:
        add_slice_update();
        break;
      case 8:
        add_reduction();
        break;
      case 9:
        add_gather();
        break;
      case 10:
        add_scatter();
        break;
      case 11:
        add_scan();
        break;
      case 12:
        add_sort();
        break;
      case 13:
        add_search();
        break;
      case 14:
        add_matmul();
        break;
      case 15:
        add_extremes();
        break;
      default:
        add_repeat();
        break;
    }
  }

  ValueId cast(ValueId value, DType dtype) {
    if (graph_.dtype(value) == dtype) return value;
    Attributes attributes;
    attributes.dtype = dtype;
    return graph_.add(Op::cast, {value}, attributes);
  }

  /// Some value that broadcasts with `shape`, or a constant.
  ValueId pick_beside(const Shape& shape) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const ValueId value = pick();
      const Shape& other = graph_.shape(value);
      const bool fits = other.size() <= shape.size() &&
                        std::equal(other.rbegin(), other.rend(), shape.rbegin(),
                                   [](Dim a, Dim b) { return a == b || a == Dim(1); });
      if (fits) return value;
    }
    return graph_.constant(any_dtype(all_dtypes), random_());
  }

  void add_elementwise() {
    const Op op = any_op(OpKind::elementwise);
    const OpInfo& row = info(op);
    if (op == Op::cast) {
      cast(pick(), any_dtype(all_dtypes));
      return;
    }
    const DType dtype = any_dtype(row.dtypes);
    const ValueId first = pick();
    std::vector<ValueId> operands(static_cast<std::size_t>(row.arity), first);
    for (std::size_t i = 1; i < operands.size(); ++i)
      operands[i] = pick_beside(graph_.shape(first));
    bool same_dtype = true;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const DType kind = operand_dtype(row.rule, k, dtype);
      same_dtype &= kind == dtype;
      operands[k] = cast(operands[k], kind);
    }
    // Values that broadcast to the first are as welcome in front of it.
    if (same_dtype && coin()) {
      std::ranges::reverse(operands);
    }
    graph_.add(op, operands);
  }

  void add_iota() {
    Attributes attributes;
    attributes.dtype = any_dtype(reals);
    attributes.shape = any_shape();
    attributes.shape.push_back(any_extent());
    attributes.axes = {static_cast<std::int64_t>(below(attributes.shape.size()))};
    graph_.add(Op::iota, {}, attributes);
  }

  void add_reshape() {
    const ValueId value = pick();
    Attributes attributes;
    if (coin()) {
      attributes.shape = {element_count(graph_.shape(value))};
    } else {
      attributes.shape = graph_.shape(value);
      attributes.shape.insert(attributes.shape.begin() +
                                  static_cast<std::ptrdiff_t>(below(attributes.shape.size() + 1)),
                              1);
    }
    if (attributes.shape.size() <= 6) graph_.add(Op::reshape, {value}, attributes);
  }

  void add_transpose() {
    const ValueId value = pick();
    Attributes attributes;
    attributes.axes.resize(graph_.shape(value).size());
    std::iota(attributes.axes.begin(), attributes.axes.end(), 0);
    for (std::size_t i = attributes.axes.size(); i > 1; --i) {
      std::swap(attributes.axes[i - 1], attributes.axes[below(i)]);
    }
    graph_.add(Op::transpose, {value}, attributes);
  }

  void add_broadcast() {
    const ValueId value = pick();
    Attributes attributes;
    attributes.shape = graph_.shape(value);
    for (Dim& extent : attributes.shape) {
      if (extent == Dim(1)) extent = any_extent();
    }
    if (coin()) attributes.shape.insert(attributes.shape.begin(), any_extent());
    if (attributes.shape.size() <= 6) graph_.add(Op::broadcast_to, {value}, attributes);
  }

  /// A region inside `shape`: any step along constant axes, all or all backwards along others.
  Attributes any_region(const Shape& shape) {
    Attributes attributes;
    for (Dim extent : shape) {
      if (!extent.is_constant() || extent == Dim(0)) {
        const bool backwards = coin();
        attributes.starts.push_back(backwards ? extent - 1 : Dim(0));
        attributes.steps.push_back(backwards ? -1 : 1);
        attributes.shape.push_back(extent);
        continue;
      }
      const auto size = static_cast<std::size_t>(extent.constant());
      const auto start = static_cast<std::int64_t>(below(size));
      const auto step = static_cast<std::int64_t>(1 + below(3)) * (coin() ? 1 : -1);
      const std::int64_t room = step > 0 ? extent.constant() - 1 - start : start;
      const std::int64_t most = room / std::abs(step) + 1;
      attributes.starts.emplace_back(start);
      attributes.steps.push_back(step);
      attributes.shape.emplace_back(
          static_cast<std::int64_t>(below(static_cast<std::size_t>(most) + 1)));
    }
    return attributes;
  }

  void add_slice() {
    const ValueId value = pick();
    graph_.add(Op::slice, {value}, any_region(graph_.shape(value)));
  }

  void add_slice_update() {
    const ValueId base = pick();
    const Attributes attributes = any_region(graph_.shape(base));
    const ValueId value = cast(pick_beside(attributes.shape), graph_.dtype(base));
    graph_.add(Op::slice_update, {base, value}, attributes);
  }

  /// Integers to index `count` axes by, and the axes.
  /// The shape is a copy, as a graph's own moves when it grows.
  std::vector<ValueId> any_indices(Shape shape,  // NOLINT(performance-unnecessary-value-param)
                                   Attributes& attributes) {
    std::vector<ValueId> indices;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (!indices.empty() && coin()) continue;
      attributes.axes.push_back(static_cast<std::int64_t>(axis));
      indices.push_back(cast(pick_beside(shape), any_dtype(integers)));
    }
    return indices;
  }

  void add_gather() {
    const ValueId value = pick();
    if (graph_.shape(value).empty() || has_empty_axis(graph_.shape(value))) return;
    Attributes attributes;
    std::vector<ValueId> operands = any_indices(graph_.shape(value), attributes);
    operands.insert(operands.begin(), value);
    graph_.add(Op::gather, operands, attributes);
  }

  void add_scatter() {
    const Op op = any_op(OpKind::scatter);
    const ValueId value = cast(pick(), any_dtype(info(op).dtypes));
    if (graph_.shape(value).empty()) return;
    Attributes attributes;
    std::vector<ValueId> operands = any_indices(graph_.shape(value), attributes);
    operands.insert(operands.begin(), value);
    attributes.shape = graph_.shape(value);
    for (const std::int64_t axis : attributes.axes)
      attributes.shape[static_cast<std::size_t>(axis)] = any_extent();
    graph_.add(op, operands, attributes);
  }

  static bool has_empty_axis(const Shape& shape) {
    return std::ranges::any_of(shape, [](Dim extent) { return extent == Dim(0); });
  }

  void add_concatenate() {
    const ValueId value = pick();
    if (graph_.shape(value).empty()) return;
    Attributes attributes;
    attributes.axes = {static_cast<std::int64_t>(below(graph_.shape(value).size()))};
    graph_.add(Op::concatenate, std::vector<ValueId>(1 + below(3), value), attributes);
  }

  void add_reduction() {
    const Op op = any_op(OpKind::reduction);
    const ValueId value = cast(pick(), any_dtype(info(op).dtypes));
    const Shape& shape = graph_.shape(value);
    const bool is_index = op == Op::argmin || op == Op::argmax;
    Attributes attributes;
    attributes.keepdims = coin();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (is_index || coin()) attributes.axes.push_back(static_cast<std::int64_t>(i));
    }
    if (!has_empty_axis(shape)) graph_.add(op, {value}, attributes);
  }

  void add_scan() {
    const Op op = any_op(OpKind::scan);
    const ValueId value = cast(pick(), any_dtype(info(op).dtypes));
    if (graph_.shape(value).empty()) return;
    Attributes attributes;
    attributes.axes = {static_cast<std::int64_t>(below(graph_.shape(value).size()))};
    std::vector<ValueId> operands = {value};
    if (coin()) operands.push_back(cast(value, DType::boolean));
    graph_.add(op, operands, attributes);
  }

  void add_sort() {
    const ValueId value = pick();
    const std::size_t rank = graph_.shape(value).size();
    if (rank == 0) return;
    const auto axis = static_cast<std::int64_t>(below(rank));
    graph_.call(coin() ? calls::sort() : calls::argsort(), {value}, {{"axis", axis}});
  }

  void add_search() {
    const Op op = any_op(OpKind::search);
    const ValueId value = cast(pick(), any_dtype(info(op).dtypes & reals));
    Attributes attributes;
    attributes.dtype = graph_.dtype(value);
    attributes.shape = {any_extent()};
    attributes.axes = {0};
    graph_.add(op, {graph_.add(Op::iota, {}, attributes), value});
  }

  void add_matmul() {
    const ValueId value = cast(pick(), any_dtype(calls::matmul().dtypes));
    const auto rank = static_cast<std::int64_t>(graph_.shape(value).size());
    if (rank < 2) return;
    Attributes attributes;
    attributes.axes.resize(static_cast<std::size_t>(rank));
    std::iota(attributes.axes.begin(), attributes.axes.end(), 0);
    std::swap(attributes.axes.back(), *(attributes.axes.end() - 2));
    graph_.call(calls::matmul(), {value, graph_.add(Op::transpose, {value}, attributes)});
  }

  /// A call with several results, of which some are nodes.
  void add_extremes() {
    const ValueId value = cast(pick(), DType::i64);
    if (graph_.shape(value).empty()) return;
    const ValueId call =
        graph_.call(test::extremes(), {value},
                    {{"exact", coin()},
                     {"weight", static_cast<double>(below(5)) / 2},
                     {"mode", std::string(coin() ? "least" : "most")},
                     {"dtype", any_dtype(all_dtypes)},
                     {"counts", std::vector<std::int64_t>(below(3), std::int64_t{-7})},
                     {"extents", ir::Dims(below(3), any_extent())}});
    for (const std::size_t result : {1, 2}) {
      if (coin()) graph_.result(call, result);
    }
  }

  /// A call with a region, in which may be another.
  void add_repeat() {
    const ValueId value = cast(pick(), any_dtype(numbers));
    const auto times = static_cast<std::int64_t>(below(4));
    graph_.call(test::repeat(), {value}, {{"times", times}},
                {make_region(region_of(graph_.type(value), below(3)))});
  }

  Graph region_of(const Type& type, std::size_t depth) {
    Graph region;
    ValueId value = region.parameter(type.dtype, type.shape);
    for (std::size_t i = below(4); i > 0; --i)
      value = region.add(coin() ? Op::add : Op::multiply, {value, value});
    if (depth > 0) {
      value = region.call(test::repeat(), {value}, {}, {make_region(region_of(type, depth - 1))});
    }
    region.outputs = {value};
    return region;
  }

  std::mt19937_64 random_;
  bool test_calls_;
  Graph graph_;
};

}  // namespace

Graph random_graph(std::uint64_t seed, int length, bool test_calls) {
  return Generator(seed, test_calls).run(length);
}
