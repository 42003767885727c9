#include "tests/fuzz/generate.h"

#include <algorithm>

#include "tests/fuzz/generator.h"

namespace heddle::test {

std::vector<Op> ops_of_kind(OpKind kind) {
  std::vector<Op> ops;
  for (int i = 0; i < ir::op_count; ++i) {
    const Op op = static_cast<Op>(i);
    if (ir::kind_of(op) == kind && op != Op::cast) ops.push_back(op);
  }
  return ops;
}

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
      {56, &Generator::add_elementwise}, {6, &Generator::add_cast},
      {2, &Generator::add_iota},         {6, &Generator::add_reshape},
      {6, &Generator::add_transpose},    {4, &Generator::add_broadcast},
      {6, &Generator::add_slice},        {5, &Generator::add_concatenate},
      {6, &Generator::add_slice_update}, {14, &Generator::add_reduction},
      {3, &Generator::add_matmul},       {2, &Generator::add_cholesky},
      {3, &Generator::add_solve},        {6, &Generator::add_gather},
      {4, &Generator::add_scatter},      {7, &Generator::add_scan},
      {4, &Generator::add_sort},         {4, &Generator::add_search},
      {3, &Generator::add_spectrum},     {3, &Generator::add_transform},
      {1, &Generator::add_lu},           {1, &Generator::add_determinant},
      {1, &Generator::add_qr},           {2, &Generator::add_svd},
      {1, &Generator::add_eigh},         {1, &Generator::add_eigenvalues},
      {1, &Generator::add_eigenvectors}, {1, &Generator::add_attention}};
  int total = 0;
  for (const auto& [weight, maker] : makers) total += weight;
  int place = static_cast<int>(recorder_.below(static_cast<std::size_t>(total)));
  for (const auto& [weight, maker] : makers) {
    place -= weight;
    if (place < 0) return (this->*maker)();
  }
}

void Generator::add_elementwise() {
  static const std::vector<Op> ops = ops_of_kind(OpKind::elementwise);
  const OpInfo& info = ir::info(recorder_.any_of(ops));
  ValueId first = pick();
  DType dtype = recorder_.dtype(first);
  if ((info.dtypes & ir::set_of(dtype)) == 0) dtype = recorder_.any_dtype(info.dtypes);
  first = recorder_.cast(first, ir::operand_dtype(info.rule, 0, dtype));
  std::vector<ValueId> operands = {conformed(first, info, 0)};
  for (int k = 1; k < info.arity; ++k) {
    const DType kind = ir::operand_dtype(info.rule, static_cast<std::size_t>(k), dtype);
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

bool Generator::is_loop(ValueId id) const {
  return graph().op(id) == Op::call && !graph().attributes(id).call->regions.empty();
}

/// The outputs are the values that no node uses, loops first, and some others. One in ten of them
/// is an output twice.
void Generator::choose_outputs() {
  const std::vector<std::uint32_t> uses = ir::use_counts(graph());
  std::vector<ValueId> unused;
  for (std::uint32_t i = 0; i < graph().size(); ++i) {
    if (uses[i] == 0 && graph().op(ValueId(i)) != Op::parameter) unused.push_back(ValueId(i));
  }
  std::ranges::shuffle(unused, recorder_.random());
  std::ranges::stable_partition(unused, [&](ValueId id) {
    return is_loop(graph().op(id) == Op::result ? graph().operands(id)[0] : id);
  });
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
    // Memory of a carry's first value is written too.
    const std::span<const ValueId> operands = graph().operands(ValueId(i));
    const std::size_t written = graph().op(ValueId(i)) == Op::slice_update ? 1
                                : is_loop(ValueId(i))                      ? operands.size()
                                                                           : 0;
    for (const ValueId operand : operands.first(written)) updated[ir::index_of(operand)] = true;
  }
  for (const ValueId parameter : graph().parameters()) {
    const bool scalar = graph().attributes(parameter).scalar;
    const double share = updated[ir::index_of(parameter)] ? 0.6 : 0.1;
    options.donated.push_back(!scalar && recorder_.chance(share));
    options.aligned.push_back(scalar || recorder_.chance(0.75));
  }
  static const std::vector<std::vector<std::string>> switches = {
      {"simplify", "simplify_again", "transpose", "pointwise", "piecewise", "reduction",
       "normalization", "scan", "in_place"},
      {"simplify", "simplify_again"},
      {"transpose", "pointwise"},
      {"piecewise"},
      {"normalization"},
      {"scan"},
      {"reduction", "normalization"}};
  options.disabled = recorder_.chance(0.4) ? switches[0] : recorder_.any_of(switches);
}

Case random_case(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace heddle::test
