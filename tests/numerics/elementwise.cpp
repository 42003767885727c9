#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::HostArray;
using ir::Op;
using ir::OpInfo;
using ir::Shape;
using ir::ValueId;

/// So that a kernel has several outputs, and a compiler less to do.
constexpr std::size_t ops_a_program = 8;

DType operand_dtype(const OpInfo& info, int operand, DType dtype) {
  return ir::operand_dtype(info.rule, static_cast<std::size_t>(operand), dtype);
}

/// The inputs of ops of one shape: ops of one domain share them.
class Operands {
 public:
  Operands(Builder& builder, std::uint64_t seed) : builder_(builder), seed_(seed) {}

  ValueId get(const OpInfo& info, int operand, DType dtype, const Shape& shape, bool aligned) {
    const Key key = key_of(info, operand, dtype);
    const auto [known, added] = ids_.emplace(key, ValueId{});
    if (!added) return known->second;
    order_.push_back(key);
    known->second = builder_.input(values(key, shape, seed_), aligned);
    return known->second;
  }
  /// Of symbolic extent n.
  ValueId symbolic(const OpInfo& info, int operand, DType dtype, std::int64_t size) {
    const Key key = key_of(info, operand, dtype);
    const auto [known, added] = ids_.emplace(key, ValueId{});
    if (!added) return known->second;
    order_.push_back(key);
    known->second = builder_.input(values(key, {size}, seed_), Shape{ir::Dim::symbol("n")});
    return known->second;
  }
  /// All inputs so far, of another size.
  std::vector<HostArray> resized(std::int64_t size) const {
    std::vector<HostArray> arrays;
    for (const Key& key : order_) {
      arrays.push_back(values(key, {size}, seed_ + static_cast<std::uint64_t>(size)));
    }
    return arrays;
  }

 private:
  using Key = std::tuple<ir::Domain, int, DType>;
  static Key key_of(const OpInfo& info, int operand, DType dtype) {
    return {info.domain, operand, operand_dtype(info, operand, dtype)};
  }
  static HostArray values(const Key& key, const Shape& shape, std::uint64_t seed) {
    return sample(std::get<0>(key), std::get<1>(key), std::get<2>(key), shape, seed);
  }

  Builder& builder_;
  std::uint64_t seed_;
  std::map<Key, ValueId> ids_;
  std::vector<Key> order_;
};

std::string label_of(std::span<const Op> ops, DType dtype, std::string_view layout) {
  std::string names;
  for (const Op op : ops) names += fmt::format("{} ", ir::info(op).name);
  return fmt::format("{}of {} {}", names, name_of(dtype), layout);
}

/// Ops on whole vectors of all special values, and with each operand walked in an order of its own.
Builder dense(std::span<const Op> ops, DType dtype) {
  Builder builder(label_of(ops, dtype, "dense"));
  builder.made.options.strict = true;
  // A hypot of a dtype's largest number; of complex quotients, of four parts.
  builder.most_ambiguous = is_complex(dtype) ? 0.35 : 0.1;
  Operands lines(builder, 7), planes(builder, 9);
  for (const Op op : ops) {
    const OpInfo& info = ir::info(op);
    std::vector<ValueId> line, plane;
    for (int k = 0; k < info.arity; ++k) {
      line.push_back(lines.get(info, k, dtype, {1024}, true));
      const ValueId matrix = planes.get(info, k, dtype, {17, 33}, true);
      plane.push_back(k == 0 ? builder.transpose(matrix, {1, 0})
                             : builder.reshape(matrix, {33, 17}));
    }
    builder.output(builder.add(op, line));
    builder.output(builder.add(op, plane));
  }
  return builder;
}

/// Ops over a symbolic extent below, at and above the edges of vectors, warps and blocks.
Builder symbolic(std::span<const Op> ops, DType dtype) {
  Builder builder(label_of(ops, dtype, "[n]"));
  builder.most_ambiguous = is_complex(dtype) ? 0.35 : 0.1;
  constexpr std::int64_t first = 1027;
  Operands lines(builder, 20);
  for (const Op op : ops) {
    const OpInfo& info = ir::info(op);
    std::vector<ValueId> line;
    for (int k = 0; k < info.arity; ++k) line.push_back(lines.symbolic(info, k, dtype, first));
    builder.output(builder.add(op, line));
  }
  builder.made.bindings = {{ir::intern_symbol("n"), first}};
  for (const std::int64_t size : {0, 1, 3, 8, 31, 33, 257}) {
    builder.run_also(lines.resized(size));
  }
  return builder;
}

/// One op on operands in every layout that addresses differ in.
Builder layouts(Op op, DType dtype) {
  Builder builder(label_of({&op, 1}, dtype, "in all layouts"));
  const OpInfo& info = ir::info(op);
  Operands lines(builder, 8), planes(builder, 9);
  std::vector<ValueId> line, plane;
  for (int k = 0; k < info.arity; ++k) {
    line.push_back(lines.get(info, k, dtype, {1025}, false));
    plane.push_back(planes.get(info, k, dtype, {33, 65}, true));
  }
  const auto apply = [&](const std::vector<ValueId>& operands, const auto& view) {
    std::vector<ValueId> viewed;
    for (std::size_t k = 0; k < operands.size(); ++k) viewed.push_back(view(operands[k], k));
    builder.output(builder.add(op, viewed));
  };
  apply(line, [&](ValueId id, std::size_t) { return id; });
  apply(line, [&](ValueId id, std::size_t) { return builder.slice(id, {1}, {2}, {511}); });
  apply(line, [&](ValueId id, std::size_t k) {
    return k == 0 ? builder.slice(id, {1023}, {-3}, {341}) : builder.slice(id, {3}, {1}, {341});
  });
  apply(plane, [&](ValueId id, std::size_t k) {
    return k == 0 ? builder.transpose(id, {1, 0}) : builder.reshape(id, {65, 33});
  });
  apply(plane, [&](ValueId id, std::size_t k) {
    return k % 2 == 0 ? builder.broadcast(builder.slice(id, {0, 3}, {1, 1}, {33, 1}), {33, 65})
                      : builder.slice(id, {5, 0}, {1, 1}, {1, 65});
  });
  apply(plane, [&](ValueId id, std::size_t) {
    return builder.reshape(builder.slice(id, {7, 8}, {1, 1}, {1, 1}), {});
  });
  apply(plane, [&](ValueId id, std::size_t) { return builder.slice(id, {0, 0}, {1, 1}, {0, 65}); });
  std::vector<ValueId> with_scalar = line;
  const DType last = operand_dtype(info, info.arity - 1, dtype);
  with_scalar.back() = builder.scalar(moderate_sample(last, {}, 2));
  builder.output(builder.add(op, with_scalar));
  return builder;
}

std::vector<Op> elementwise_ops(DType dtype) {
  std::vector<Op> found;
  for (const Op op : ops_of(ir::OpKind::elementwise)) {
    if (op != Op::cast && (ir::info(op).dtypes & ir::set_of(dtype)) != 0) found.push_back(op);
  }
  return found;
}

TEST_CASE("every elementwise op in every dtype is NumPy's, special values and all") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::all_dtypes)) {
    const std::vector<Op> ops = elementwise_ops(dtype);
    for (std::size_t first = 0; first < ops.size(); first += ops_a_program) {
      const std::span<const Op> some =
          std::span(ops).subspan(first, std::min(ops_a_program, ops.size() - first));
      suite.add(dense(some, dtype));
      suite.add(symbolic(some, dtype));
    }
  }
  suite.finish();
  for (const DType dtype : dtypes_in(ir::all_dtypes)) {
    for (const Op op : elementwise_ops(dtype)) {
      CHECK_MESSAGE(suite.compared(op, dtype) >= 8,
                    ir::info(op).name << " of " << name_of(dtype) << " is not covered");
    }
  }
}

/// Functions of zeros, infinities, NaNs and the ends of the range, also outside of their domains.
Builder special_values(std::span<const Op> ops, DType dtype) {
  Builder builder(label_of(ops, dtype, "special values"));
  builder.most_ambiguous = 0.5;  // reciprocals of what is all but infinite or 0
  const ValueId x = builder.input(sample(ir::Domain::any, 0, dtype, {256}, 7));
  for (const Op op : ops) {
    if (ir::info(op).arity == 1) builder.output(builder.add(op, {x}));
  }
  return builder;
}

TEST_CASE("complex functions have NumPy's special values") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::complexes)) {
    const std::vector<Op> ops = elementwise_ops(dtype);
    for (std::size_t first = 0; first < ops.size(); first += ops_a_program) {
      Builder builder = special_values(
          std::span(ops).subspan(first, std::min(ops_a_program, ops.size() - first)), dtype);
      if (!builder.made.graph.outputs.empty()) suite.add(std::move(builder));
    }
  }
  suite.finish();
}

/// The sign of what ops give: equality does not tell zeros apart.
Builder signs(std::span<const Op> ops, DType dtype) {
  Builder builder(label_of(ops, dtype, "signs"));
  builder.most_ambiguous = 1;  // the signs of NaNs, of a minimum of zeros, and of what underflows
  Operands lines(builder, 7);
  for (const Op op : ops) {
    // Which of two equal zeros it gives differs among NumPy's versions.
    if (op == Op::nextafter && dtype == DType::f16) continue;
    std::vector<ValueId> line;
    for (int k = 0; k < ir::info(op).arity; ++k) {
      line.push_back(lines.get(ir::info(op), k, dtype, {300}, true));
    }
    const ValueId result = builder.add(op, line);
    if (is_floating(builder.made.graph.dtype(result))) {
      builder.output(builder.add(Op::signbit, {result}));
    }
  }
  return builder;
}

TEST_CASE("zeros have NumPy's signs") {
  Suite suite;
  for (const DType dtype : {DType::f16, DType::f32}) {
    const std::vector<Op> ops = elementwise_ops(dtype);
    for (std::size_t first = 0; first < ops.size(); first += ops_a_program) {
      suite.add(
          signs(std::span(ops).subspan(first, std::min(ops_a_program, ops.size() - first)), dtype));
    }
  }
  suite.finish();
}

/// Threads that take several vectors each, in blocks that are full and not.
Builder several_blocks(DType dtype) {
  Builder builder(fmt::format("{}[n] of several blocks", name_of(dtype)));
  constexpr std::int64_t first = 8193;
  const OpInfo& info = ir::info(Op::add);
  Operands lines(builder, 11);
  const ValueId x = lines.symbolic(info, 0, dtype, first);
  const ValueId y = lines.symbolic(info, 1, dtype, first);
  builder.output(builder.add(Op::add, {x, y}));
  builder.output(builder.add(Op::maximum, {x, y}));
  builder.made.bindings = {{ir::intern_symbol("n"), first}};
  for (const std::int64_t size : {8192, 16383, 40002}) builder.run_also(lines.resized(size));
  return builder;
}

TEST_CASE("operands lie in any layout") {
  Suite suite;
  for (const DType dtype : {DType::boolean, DType::i8, DType::u16, DType::f16, DType::bf16,
                            DType::f32, DType::i64, DType::f64, DType::c64, DType::c128}) {
    suite.add(layouts(Op::add, dtype));
    suite.add(layouts(Op::select, dtype));
    suite.add(several_blocks(dtype));
  }
  for (const Op op : {Op::exp, Op::power}) {
    for (const DType dtype : {DType::f32, DType::f64}) suite.add(layouts(op, dtype));
  }
  suite.add(layouts(Op::ldexp, DType::f16));
  suite.finish();
}

/// ((x * y + z) / sqrt(x * x + y * y) - z) * x, compared and cast.
Builder exactly_rounded(DType dtype) {
  Builder builder(fmt::format("exactly rounded ops of {}", name_of(dtype)));
  builder.made.options.strict = true;
  std::vector<ValueId> x;
  for (std::uint64_t k = 0; k < 3; ++k) {
    x.push_back(builder.input(moderate_sample(dtype, {3, 1031}, k)));
  }
  const ValueId product = builder.add(Op::multiply, {x[0], x[1]});
  const ValueId sum = builder.add(Op::add, {product, x[2]});
  const ValueId squares = builder.add(
      Op::add, {builder.add(Op::multiply, {x[0], x[0]}), builder.add(Op::square, {x[1]})});
  const ValueId quotient = builder.add(Op::divide, {sum, builder.add(Op::sqrt, {squares})});
  const ValueId result =
      builder.add(Op::multiply, {builder.add(Op::subtract, {quotient, x[2]}), x[0]});
  builder.output(sum);
  builder.output(result);
  builder.output(builder.add(Op::less, {result, product}));
  builder.output(builder.cast(result, DType::i32));
  builder.output(builder.cast(result, dtype == DType::f64 ? DType::f32 : DType::bf16));
  builder.output(builder.reduce(Op::max, result, {1}, false));
  builder.output(builder.reduce(Op::argmin, result, {1}, false));
  return builder;
}

TEST_CASE("strict programs give the same bits on every target") {
  Suite suite;
  std::size_t outputs = 0;
  for (const DType dtype : dtypes_in(ir::floats)) {
    Builder builder = exactly_rounded(dtype);
    outputs += builder.made.graph.outputs.size();
    suite.add(std::move(builder));
  }
  suite.finish();
  CHECK(suite.bitwise() == outputs);
}

}  // namespace
}  // namespace heddle::test
