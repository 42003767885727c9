#include "tests/fuzz/generate.h"

#include <algorithm>
#include <numeric>

#include "tests/fuzz/recorder.h"

namespace heddle::test {
namespace {

using ir::Attributes;
using ir::Dim;
using ir::Op;
using ir::OpInfo;
using ir::OpKind;
using ir::Shape;
using ir::TypeRule;
using ir::ValueId;

std::vector<Op> ops_of(OpKind kind) {
  std::vector<Op> ops;
  for (int i = 0; i < ir::op_count; ++i) {
    const Op op = static_cast<Op>(i);
    if (ir::kind_of(op) == kind && op != Op::cast) ops.push_back(op);
  }
  return ops;
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : recorder_(seed) {}

  Case run() {
    recorder_.made().graph.name = "fuzz";
    choose_extents();
    // Symbols are bound by an input that they are an extent of.
    for (const ir::SymbolBinding& binding : recorder_.made().bindings) {
      settle(recorder_.parameter(any_kind(), {Dim::symbol(binding.symbol)}));
    }
    const std::size_t parameters = 1 + recorder_.below(3);
    for (std::size_t i = 0; i < parameters; ++i) {
      settle(recorder_.parameter(any_kind(), any_shape()));
    }
    const int length = 2 + static_cast<int>(recorder_.below(35));
    for (int attempts = 0; recorder_.operations() < length && attempts < 400; ++attempts) {
      add_something();
    }
    choose_outputs();
    choose_options();
    return std::move(recorder_.made());
  }

 private:
  const ir::Graph& graph() const { return recorder_.graph(); }
  DType any_kind() { return recorder_.any_dtype(ir::all_dtypes); }
  ValueId pick() {
    // Recent values are picked more often, or nothing would grow deep.
    const std::size_t back = std::min(recorder_.below(pool_.size()), recorder_.below(pool_.size()));
    return pool_[pool_.size() - 1 - back];
  }

  void choose_extents();
  Shape any_shape();
  /// Without an extent of 0 that it had, a shape may be of any size; [] is one instead.
  Shape bounded(const Shape& shape) const {
    return recorder_.elements(shape) > Recorder::most_elements ? Shape() : shape;
  }
  void settle(ValueId id);
  void settle(std::optional<ValueId> id) {
    if (id) settle(*id);
  }
  ValueId conformed(ValueId id, const OpInfo& info, int operand);
  ValueId beside(DType dtype, const Shape& shape, bool exactly_within);

  void add_something();
  void add_elementwise();
  void add_cast();
  void add_iota();
  void add_reshape();
  void add_transpose();
  void add_broadcast();
  Attributes any_region(const Shape& shape);
  void add_slice();
  void add_concatenate();
  void add_slice_update();
  std::vector<ValueId> any_indices(Shape shape, Attributes& attributes);
  void add_gather();
  void add_scatter();
  void add_reduction();
  void add_scan();
  void add_matmul();
  void add_sort();
  void add_search();
  void choose_outputs();
  void choose_options();

  Recorder recorder_;
  std::vector<Dim> extents_;
  std::vector<Shape> shapes_;
  std::vector<ValueId> pool_;
};

/// A few extents and shapes a graph, so that its values fit each other.
void Generator::choose_extents() {
  static const std::vector<std::int64_t> small = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 33};
  static const std::vector<std::int64_t> large = {64, 65, 100, 128, 129, 257, 1000};
  static const std::vector<std::int64_t> huge = {2048, 4099, 20000, 33333};
  const std::size_t count = 2 + recorder_.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    extents_.emplace_back(recorder_.any_of(recorder_.chance(0.7) ? small : large));
  }
  if (recorder_.chance(0.04)) extents_.emplace_back(0);
  if (recorder_.chance(0.08)) extents_.emplace_back(recorder_.any_of(huge));
  if (recorder_.chance(0.2)) {
    static const std::vector<std::int64_t> sizes = {0, 1, 2, 3, 7, 16, 33, 129};
    for (const char* name : {"n", "m"}) {
      const Dim symbol = Dim::symbol(name);
      recorder_.made().bindings.push_back({ir::intern_symbol(name), recorder_.any_of(sizes)});
      extents_.push_back(symbol);
      if (recorder_.chance(0.5)) break;
    }
  }
  for (int i = 0; i < 3; ++i) {
    Shape shape;
    const std::size_t rank = recorder_.chance(0.8) ? 1 + recorder_.below(3) : recorder_.below(7);
    while (shape.size() < rank) {
      shape.push_back(recorder_.any_of(extents_));
      constexpr std::int64_t usual = 6000;
      if (recorder_.elements(shape) > usual)
        shape.back() = shape.size() == 1 ? shape.back() : Dim(1);
    }
    shapes_.push_back(std::move(shape));
  }
}

Shape Generator::any_shape() {
  Shape shape = recorder_.any_of(shapes_);
  if (recorder_.chance(0.2) && !shape.empty()) shape[recorder_.below(shape.size())] = 1;
  if (recorder_.chance(0.1) && !shape.empty()) shape.erase(shape.begin());
  return bounded(shape);
}

/// Into the pool, but limited first where it has grown too large to say anything.
void Generator::settle(ValueId id) {
  const DType dtype = recorder_.dtype(id);
  if (is_inexact(dtype)) {
    const double limit = dtype == DType::f16 ? 300 : 1e5;
    const Recorder::Extremes have = recorder_.extremes(id);
    const bool tame = have.finite && have.low >= -limit && have.high <= limit;
    if (!tame && !recorder_.chance(0.05)) id = recorder_.clamped(id, {-limit / 8, limit / 8});
  }
  pool_.push_back(id);
}

/// Where the op's domain does not have a value, it is clamped to it.
ValueId Generator::conformed(ValueId id, const OpInfo& info, int operand) {
  const bool free = info.domain == ir::Domain::any ||
                    (operand == 0 && (info.domain == ir::Domain::shift ||
                                      info.domain == ir::Domain::small_exponent));
  if (free) return id;
  return recorder_.clamped(id, range_of(info.domain, operand, recorder_.dtype(id)));
}

/// A value of a dtype to combine with one of `shape`; `exactly_within`: it broadcasts to just that.
ValueId Generator::beside(DType dtype, const Shape& shape, bool exactly_within) {
  const auto fits = [&](const Shape& other) {
    if (exactly_within || recorder_.chance(0.8)) {
      return other.size() <= shape.size() &&
             std::equal(other.rbegin(), other.rend(), shape.rbegin(),
                        [](Dim a, Dim b) { return a == b || a == Dim(1); });
    }
    return true;
  };
  const double kind = std::uniform_real_distribution()(recorder_.random());
  if (kind < 0.7) {
    for (int attempt = 0; attempt < 6; ++attempt) {
      const ValueId value = pick();
      if (fits(recorder_.shape(value))) return recorder_.cast(value, dtype);
    }
  }
  if (kind < 0.85) {
    return recorder_.constant(dtype, static_cast<double>(recorder_.below(9)) - 2);
  }
  if (kind < 0.9) return recorder_.parameter(dtype, {}, true);
  Shape other = shape;
  while (!other.empty() && recorder_.chance(0.2)) other.erase(other.begin());
  for (Dim& extent : other) {
    if (recorder_.chance(0.2)) extent = 1;
  }
  return recorder_.parameter(dtype, bounded(other));
}

void Generator::add_something() {
  using Maker = void (Generator::*)();
  static const std::vector<std::pair<int, Maker>> makers = {
      {50, &Generator::add_elementwise}, {6, &Generator::add_cast},
      {2, &Generator::add_iota},         {6, &Generator::add_reshape},
      {6, &Generator::add_transpose},    {4, &Generator::add_broadcast},
      {6, &Generator::add_slice},        {5, &Generator::add_concatenate},
      {6, &Generator::add_slice_update}, {14, &Generator::add_reduction},
      {3, &Generator::add_matmul},       {6, &Generator::add_gather},
      {4, &Generator::add_scatter},      {7, &Generator::add_scan},
      {4, &Generator::add_sort},         {4, &Generator::add_search}};
  int total = 0;
  for (const auto& [weight, maker] : makers) total += weight;
  int place = static_cast<int>(recorder_.below(static_cast<std::size_t>(total)));
  for (const auto& [weight, maker] : makers) {
    place -= weight;
    if (place < 0) return (this->*maker)();
  }
}

void Generator::add_elementwise() {
  static const std::vector<Op> ops = ops_of(OpKind::elementwise);
  const OpInfo& info = ir::info(recorder_.any_of(ops));
  ValueId first = pick();
  const bool select = info.rule == TypeRule::select;
  DType dtype = recorder_.dtype(first);
  if ((info.dtypes & ir::set_of(dtype)) == 0) dtype = recorder_.any_dtype(info.dtypes);
  first = recorder_.cast(first, select ? DType::boolean : dtype);
  std::vector<ValueId> operands = {conformed(first, info, 0)};
  for (int k = 1; k < info.arity; ++k) {
    const DType kind = info.rule == TypeRule::load_exponent ? DType::i32 : dtype;
    operands.push_back(conformed(beside(kind, recorder_.shape(first), false), info, k));
  }
  const bool interchangeable =
      info.arity == 2 && info.domain == ir::Domain::any && info.rule != TypeRule::load_exponent;
  if (interchangeable && recorder_.chance(0.3)) std::swap(operands[0], operands[1]);
  settle(recorder_.add(info.op, operands));
}

void Generator::add_cast() {
  ValueId value = pick();
  const DType to = any_kind();
  if (recorder_.dtype(value) == to) return;
  settle(recorder_.cast(value, to));
}

void Generator::add_iota() {
  Attributes attributes;
  attributes.dtype = recorder_.any_dtype(ir::reals);
  attributes.shape = any_shape();
  if (attributes.shape.empty()) return;
  attributes.axes = {static_cast<std::int64_t>(recorder_.below(attributes.shape.size()))};
  settle(recorder_.add(Op::iota, {}, attributes));
}

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
      attributes.steps.push_back(backwards ? -1 : 1);
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
    attributes.steps.push_back(backwards ? -step : step);
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
  static const std::vector<Op> ops = ops_of(OpKind::scatter);
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
  static const std::vector<Op> ops = ops_of(OpKind::reduction);
  const OpInfo& info = ir::info(recorder_.any_of(ops));
  ValueId value = pick();
  if ((info.dtypes & ir::set_of(recorder_.dtype(value))) == 0) {
    value = recorder_.cast(value, recorder_.any_dtype(info.dtypes));
  }
  const std::size_t rank = recorder_.shape(value).size();
  const bool is_index = info.op == Op::argmin || info.op == Op::argmax;
  if (rank == 0) return;
  Attributes attributes;
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

void Generator::add_scan() {
  static const std::vector<Op> ops = ops_of(OpKind::scan);
  const OpInfo& info = ir::info(recorder_.any_of(ops));
  ValueId value = pick();
  const std::size_t rank = recorder_.shape(value).size();
  if (rank == 0) return;
  if ((info.dtypes & ir::set_of(recorder_.dtype(value))) == 0) {
    value = recorder_.cast(value, recorder_.any_dtype(info.dtypes));
  }
  Attributes attributes;
  attributes.axes = {static_cast<std::int64_t>(recorder_.below(rank))};
  settle(recorder_.add(info.op, {value}, attributes));
}

void Generator::add_matmul() {
  const ValueId picked = pick();
  if (recorder_.shape(picked).size() < 2) return;
  const ir::DTypeSet allowed = ir::info(Op::matmul).dtypes;
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
    Attributes attributes;
    attributes.axes.resize(shape.size());
    std::iota(attributes.axes.begin(), attributes.axes.end(), 0);
    std::swap(attributes.axes.back(), *(attributes.axes.end() - 2));
    if (recorder_.elements(shape) * recorder_.extent(*(shape.end() - 2)) > most_products) return;
    b = recorder_.add(Op::transpose, {a}, attributes).value();
  } else {
    // a batch of matrices, or one for all
    *(shape.end() - 2) = shape.back();
    shape.back() = columns;
    if (recorder_.chance(0.5)) shape.erase(shape.begin(), shape.end() - 2);
    if (shape.size() > 2 && recorder_.chance(0.3)) shape.front() = 1;
    if (recorder_.elements(shape) > Recorder::most_elements) return;
    b = recorder_.parameter(recorder_.dtype(a), shape);
  }
  settle(recorder_.add(Op::matmul, {a, b}));
}

void Generator::add_sort() {
  const ValueId value = pick();
  const std::size_t rank = recorder_.shape(value).size();
  if (rank == 0) return;
  // The places of floats that are off by a rounding say nothing.
  const bool sharp = !is_floating(recorder_.dtype(value)) || graph().op(value) == Op::parameter;
  Attributes attributes;
  attributes.axes = {static_cast<std::int64_t>(recorder_.below(rank))};
  settle(
      recorder_.add(sharp && recorder_.chance(0.5) ? Op::argsort : Op::sort, {value}, attributes));
}

void Generator::add_search() {
  const ValueId value = pick();
  const DType dtype = recorder_.dtype(value);
  const bool sharp =
      is_integer(dtype) || (is_floating(dtype) && graph().op(value) == Op::parameter);
  if (!sharp) return;
  Attributes attributes;
  attributes.axes = {0};
  const ValueId among = recorder_.parameter(dtype, {recorder_.any_of(extents_)});
  const ValueId sorted = recorder_.add(Op::sort, {among}, attributes).value();
  const Op op = recorder_.chance(0.5) ? Op::searchsorted_left : Op::searchsorted_right;
  settle(recorder_.add(op, {sorted, value}));
}

/// What nobody uses, and some of what somebody uses; one in ten also twice.
void Generator::choose_outputs() {
  const std::vector<std::uint32_t> uses = ir::use_counts(graph());
  std::vector<ValueId> unused;
  for (std::uint32_t i = 0; i < graph().size(); ++i) {
    if (uses[i] == 0 && graph().op(ValueId(i)) != Op::parameter) unused.push_back(ValueId(i));
  }
  std::ranges::shuffle(unused, recorder_.random());
  constexpr std::size_t most = 8;
  if (unused.size() > most) unused.resize(most);
  std::vector<ValueId>& outputs = recorder_.made().graph.outputs;
  outputs = unused;
  while (outputs.empty() || recorder_.chance(0.3)) outputs.push_back(pick());
  if (recorder_.chance(0.1)) outputs.push_back(outputs.front());
}

void Generator::choose_options() {
  runtime::CompileOptions& options = recorder_.made().options;
  options.strict = recorder_.chance(0.5);
  std::vector<bool> updated(graph().size());
  for (std::uint32_t i = 0; i < graph().size(); ++i) {
    if (graph().op(ValueId(i)) != Op::slice_update) continue;
    updated[ir::index_of(graph().operands(ValueId(i))[0])] = true;
  }
  for (const ValueId parameter : graph().parameters()) {
    const bool scalar = graph().attributes(parameter).scalar;
    const double share = updated[ir::index_of(parameter)] ? 0.6 : 0.1;
    options.donated.push_back(!scalar && recorder_.chance(share));
    options.aligned.push_back(scalar || recorder_.chance(0.75));
  }
  static const std::vector<std::vector<std::string>> switches = {
      {"simplify", "simplify_again", "transpose", "pointwise", "piecewise", "reduction",
       "normalization", "scan"},
      {"simplify", "simplify_again"},
      {"transpose", "pointwise"},
      {"piecewise"},
      {"normalization"},
      {"scan"},
      {"reduction", "normalization"}};
  options.disabled = recorder_.chance(0.4) ? switches[0] : recorder_.any_of(switches);
}

}  // namespace

Case random_case(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace heddle::test
