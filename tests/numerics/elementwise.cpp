#include <string>
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

DType operand_dtype(const OpInfo& info, int operand, DType dtype) {
  if (info.rule == ir::TypeRule::select && operand == 0) return DType::boolean;
  if (info.rule == ir::TypeRule::load_exponent && operand == 1) return DType::i32;
  return dtype;
}

std::vector<HostArray> samples(const OpInfo& info, DType dtype, const Shape& shape,
                               std::uint64_t seed) {
  std::vector<HostArray> arrays;
  for (int k = 0; k < info.arity; ++k) {
    arrays.push_back(sample(info.domain, k, operand_dtype(info, k, dtype), shape, seed));
  }
  return arrays;
}

std::vector<ValueId> inputs(Builder& builder, const std::vector<HostArray>& arrays, bool aligned) {
  std::vector<ValueId> ids;
  for (const HostArray& array : arrays) ids.push_back(builder.input(array, aligned));
  return ids;
}

/// Every operand through a view.
template <class View>
std::vector<ValueId> viewed(const std::vector<ValueId>& operands, const View& view) {
  std::vector<ValueId> result;
  for (std::size_t k = 0; k < operands.size(); ++k) result.push_back(view(operands[k], k));
  return result;
}

/// One op on operands of one dtype in every layout.
Builder layouts(const OpInfo& info, DType dtype) {
  Builder builder(fmt::format("{} of {}", info.name, name_of(dtype)));
  builder.made.options.strict = true;
  const auto apply = [&](const std::vector<ValueId>& operands) {
    builder.output(builder.add(info.op, operands));
  };
  // All special values, in whole vectors.
  apply(inputs(builder, samples(info, dtype, {1024}, 7), true));
  // One element behind a boundary, strided, backwards.
  const std::vector<ValueId> line = inputs(builder, samples(info, dtype, {1025}, 8), false);
  apply(line);
  apply(viewed(line, [&](ValueId id, std::size_t) { return builder.slice(id, {1}, {2}, {511}); }));
  apply(viewed(line, [&](ValueId id, std::size_t k) {
    return k == 0 ? builder.slice(id, {1023}, {-3}, {341}) : builder.slice(id, {3}, {1}, {341});
  }));
  // Transposed against C order, rows against columns, 0-d, empty.
  const std::vector<ValueId> plane = inputs(builder, samples(info, dtype, {33, 65}, 9), true);
  apply(viewed(plane, [&](ValueId id, std::size_t k) {
    return k == 0 ? builder.transpose(id, {1, 0}) : builder.reshape(id, {65, 33});
  }));
  apply(viewed(plane, [&](ValueId id, std::size_t k) {
    return k % 2 == 0 ? builder.broadcast(builder.slice(id, {0, 3}, {1, 1}, {33, 1}), {33, 65})
                      : builder.slice(id, {5, 0}, {1, 1}, {1, 65});
  }));
  apply(viewed(plane, [&](ValueId id, std::size_t) {
    return builder.reshape(builder.slice(id, {7, 8}, {1, 1}, {1, 1}), {});
  }));
  apply(viewed(
      plane, [&](ValueId id, std::size_t) { return builder.slice(id, {0, 0}, {1, 1}, {0, 65}); }));
  return builder;
}

/// One op over a symbolic extent below, at and above the edges of vectors, warps and blocks, with
/// the last operand also a scalar.
Builder symbolic(const OpInfo& info, DType dtype) {
  Builder builder(fmt::format("{} of {}[n]", info.name, name_of(dtype)));
  static const std::vector<std::int64_t> sizes = {1027, 0, 1, 3, 8, 31, 33, 257};
  const Shape shape = {ir::Dim::symbol("n")};
  for (const std::int64_t& size : sizes) {
    std::vector<HostArray> arrays =
        samples(info, dtype, {size}, static_cast<std::uint64_t>(size) + 20);
    const int last = info.arity - 1;
    arrays.push_back(sample(info.domain, last, operand_dtype(info, last, dtype), {}, 13));
    if (&size != &sizes.front()) {
      builder.run_also(std::move(arrays));
      continue;
    }
    std::vector<ValueId> operands;
    for (int k = 0; k < info.arity; ++k) {
      operands.push_back(builder.input(arrays[static_cast<std::size_t>(k)], shape));
    }
    builder.output(builder.add(info.op, operands));
    operands.back() = builder.scalar(arrays.back());
    builder.output(builder.add(info.op, operands));
    builder.made.bindings = {{ir::intern_symbol("n"), size}};
  }
  return builder;
}

TEST_CASE("every elementwise op in every dtype, layout and size is NumPy's") {
  Suite suite;
  for (const Op op : ops_of(ir::OpKind::elementwise)) {
    if (op == Op::cast) continue;
    for (const DType dtype : dtypes_in(ir::info(op).dtypes)) {
      suite.add(layouts(ir::info(op), dtype));
      suite.add(symbolic(ir::info(op), dtype));
    }
  }
  suite.finish();
  for (const Op op : ops_of(ir::OpKind::elementwise)) {
    if (op == Op::cast) continue;
    const std::size_t least = 10 * dtypes_in(ir::info(op).dtypes).size();
    CHECK_MESSAGE(suite.compared(op) >= least, ir::info(op).name << " is not covered");
  }
}

TEST_CASE("casts between all dtypes are NumPy's") {
  Suite suite;
  for (const DType from : dtypes_in(ir::all_dtypes)) {
    Builder all(fmt::format("casts of {}", name_of(from)));
    const ValueId line = all.input(sample(ir::Domain::any, 0, from, {1027}, 5), false);
    const ValueId plane = all.input(sample(ir::Domain::any, 0, from, {40, 24}, 6));
    const ValueId turned = all.transpose(plane, {1, 0});
    for (const DType to : dtypes_in(ir::all_dtypes)) {
      if (from == to) continue;
      all.output(all.cast(line, to));
      all.output(all.cast(turned, to));
      // A kernel of its own, in vectors as wide as the pair of dtypes allows.
      Builder one(fmt::format("cast of {} to {}", name_of(from), name_of(to)));
      one.made.options.strict = true;
      one.output(one.cast(one.input(sample(ir::Domain::any, 0, from, {2048}, 4)), to));
      suite.add(std::move(one));
    }
    suite.add(std::move(all));
  }
  suite.finish();
  CHECK(suite.compared(Op::cast) > 156);
}

}  // namespace
}  // namespace heddle::test
