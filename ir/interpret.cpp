#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/graph.h"
#include "ir/interpreter/arrays.h"
#include "ir/interpreter/functions.h"
#include "ir/interpreter/indexed.h"
#include "ir/reduction_order.h"

namespace heddle::ir {
namespace {

using interpreter::c_strides;
using interpreter::copy_elements;
using interpreter::Extents;
using interpreter::StridedBytes;

Extents extents_of(const Shape& shape) {
  Extents extents;
  for (Dim dim : shape) extents.push_back(dim.constant());
  return extents;
}

std::size_t count_of(const Type& type) {
  return static_cast<std::size_t>(element_count(type.shape).constant());
}

HostArray allocate(Type type) {
  const std::size_t bytes = count_of(type) * size_of(type.dtype);
  return {std::move(type), std::vector<std::byte>(bytes)};
}

/// An array read as if it had other strides. copy_elements writes only to its second argument.
StridedBytes source(const HostArray& array, Extents strides, std::int64_t offset = 0) {
  const auto bytes = offset * static_cast<std::int64_t>(size_of(array.type.dtype));
  return {const_cast<std::byte*>(array.data.data()) + bytes, std::move(strides)};
}

StridedBytes target(HostArray& array, Extents strides, std::int64_t offset = 0) {
  const auto bytes = offset * static_cast<std::int64_t>(size_of(array.type.dtype));
  return {array.data.data() + bytes, std::move(strides)};
}

/// A new C-ordered array of `shape` read from `array` by strides and offset.
HostArray strided(const HostArray& array, const Shape& shape, Extents strides,
                  std::int64_t offset = 0) {
  HostArray result = allocate({array.type.dtype, shape});
  const Extents extents = extents_of(shape);
  copy_elements(source(array, std::move(strides), offset), target(result, c_strides(extents)),
                extents, size_of(array.type.dtype));
  return result;
}

/// Strides that read `array` as if it had the shape it broadcasts to.
Extents broadcast_strides(const HostArray& array, std::size_t rank) {
  const Extents extents = extents_of(array.type.shape);
  const Extents own = c_strides(extents);
  Extents strides(rank, 0);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (extents[i] != 1) strides[rank - own.size() + i] = own[i];
  }
  return strides;
}

HostArray broadcast(const HostArray& array, const Shape& shape) {
  return strided(array, shape, broadcast_strides(array, shape.size()));
}

HostArray transpose(const HostArray& array, std::span<const std::int64_t> axes) {
  const Extents own = c_strides(extents_of(array.type.shape));
  Shape shape;
  Extents strides;
  for (std::int64_t axis : axes) {
    shape.push_back(array.type.shape[static_cast<std::size_t>(axis)]);
    strides.push_back(own[static_cast<std::size_t>(axis)]);
  }
  return strided(array, shape, std::move(strides));
}

/// Where a region of an array with these strides starts, and its own strides.
std::pair<std::int64_t, Extents> region(const Extents& own, const Attributes& attributes) {
  std::int64_t offset = 0;
  Extents strides(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    offset += own[i] * attributes.starts[i].constant();
    strides[i] = own[i] * attributes.steps[i].constant();
  }
  return {offset, strides};
}

HostArray slice(const HostArray& array, const Attributes& attributes) {
  auto [offset, strides] = region(c_strides(extents_of(array.type.shape)), attributes);
  return strided(array, attributes.shape, std::move(strides), offset);
}

HostArray slice_update(const HostArray& array, const HostArray& value,
                       const Attributes& attributes) {
  HostArray result = array;
  auto [offset, strides] = region(c_strides(extents_of(array.type.shape)), attributes);
  copy_elements(source(value, broadcast_strides(value, strides.size())),
                target(result, strides, offset), extents_of(attributes.shape),
                size_of(array.type.dtype));
  return result;
}

HostArray concatenate(std::span<const HostArray* const> operands, const Type& type,
                      std::size_t axis) {
  HostArray result = allocate(type);
  const Extents strides = c_strides(extents_of(type.shape));
  std::int64_t offset = 0;
  for (const HostArray* operand : operands) {
    const Extents extents = extents_of(operand->type.shape);
    copy_elements(source(*operand, c_strides(extents)), target(result, strides, offset), extents,
                  size_of(type.dtype));
    offset += strides[axis] * extents[axis];
  }
  return result;
}

HostArray iota(const Type& type, std::size_t axis) {
  HostArray row = allocate({type.dtype, {type.shape[axis]}});
  interpreter::iota_function(type.dtype)(nullptr, row.data.data(), count_of(row.type));
  Extents strides(type.shape.size(), 0);
  strides[axis] = 1;
  return strided(row, type.shape, std::move(strides));
}

HostArray constant(const Type& type, const ElementBits& bits) {
  HostArray result = allocate(type);
  std::memcpy(result.data.data(), bits.bytes(), result.data.size());
  return result;
}

HostArray elementwise(Op op, std::span<const HostArray* const> operands, const Type& type) {
  std::vector<HostArray> broadcasts;
  broadcasts.reserve(operands.size());
  std::vector<const std::byte*> data;
  for (const HostArray* operand : operands) {
    if (operand->type.shape != type.shape) {
      operand = &broadcasts.emplace_back(broadcast(*operand, type.shape));
    }
    data.push_back(operand->data.data());
  }
  const DType dtype = operands[typed_operand(info(op).rule)]->type.dtype;
  const auto function = op == Op::cast ? interpreter::cast_function(dtype, type.dtype)
                                       : interpreter::elementwise_function(op, dtype);
  HostArray result = allocate(type);
  function(data.data(), result.data.data(), count_of(type));
  return result;
}

/// The reduced axes are brought to the end, and each row of them is reduced in C order.
HostArray reduce(Op op, const HostArray& operand, const Type& type,
                 std::span<const std::int64_t> axes) {
  std::vector<std::int64_t> order;
  std::size_t length = 1;
  for (std::size_t i = 0; i < operand.type.shape.size(); ++i) {
    if (std::ranges::find(axes, static_cast<std::int64_t>(i)) == axes.end()) {
      order.push_back(static_cast<std::int64_t>(i));
    } else {
      length *= static_cast<std::size_t>(operand.type.shape[i].constant());
    }
  }
  order.insert(order.end(), axes.begin(), axes.end());
  const HostArray rows = transpose(operand, order);
  HostArray result = allocate(type);
  interpreter::reduce_function(op, operand.type.dtype)(rows.data.data(), result.data.data(),
                                                       count_of(type), length,
                                                       reduces_columns(operand.type.shape, axes));
  return result;
}

std::vector<interpreter::AxisIndex> indices_of(std::span<const HostArray* const> operands,
                                               std::span<const std::int64_t> axes,
                                               const Shape& region) {
  std::vector<interpreter::AxisIndex> indices;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const HostArray index = broadcast(*operands[k + 1], region);
    interpreter::AxisIndex& one = indices.emplace_back(
        static_cast<std::size_t>(axes[k]), std::vector<std::int64_t>(count_of(index.type)));
    const std::byte* const data = index.data.data();
    interpreter::cast_function(index.type.dtype, DType::i64)(
        &data, reinterpret_cast<std::byte*>(one.values.data()), one.values.size());
  }
  return indices;
}

HostArray gather_at(std::span<const HostArray* const> operands, const Type& type,
                    std::span<const std::int64_t> axes) {
  const HostArray& operand = *operands[0];
  HostArray result = allocate(type);
  interpreter::gather(source(operand, broadcast_strides(operand, type.shape.size())),
                      extents_of(operand.type.shape), indices_of(operands, axes, type.shape),
                      result.data.data(), extents_of(type.shape), size_of(type.dtype));
  return result;
}

HostArray scatter(Op op, std::span<const HostArray* const> operands, const Type& type,
                  std::span<const std::int64_t> axes) {
  std::vector<Type> types;
  for (const HostArray* operand : operands) types.push_back(operand->type);
  const Shape region = scatter_region(types);
  HostArray result = allocate(type);
  interpreter::scatter(op, type.dtype, broadcast(*operands[0], region).data.data(),
                       indices_of(operands, axes, region), extents_of(region), result.data.data(),
                       extents_of(type.shape));
  return result;
}

/// The axis is brought to the end and back again.
HostArray scan(Op op, std::span<const HostArray* const> operands, const Type& type,
               std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(type.shape.size());
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < rank; ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  const HostArray rows = transpose(*operands[0], order);
  std::optional<HostArray> begins;
  if (operands.size() == 2) begins = transpose(*operands[1], order);
  HostArray result = allocate(rows.type);
  const auto length = static_cast<std::size_t>(rows.type.shape.back().constant());
  interpreter::scan_function(op, type.dtype)(
      rows.data.data(), begins ? begins->data.data() : nullptr, result.data.data(),
      length == 0 ? 0 : count_of(type) / length, length);
  for (std::int64_t i = 0; i < rank; ++i) order[i] = i < axis ? i : i == axis ? rank - 1 : i - 1;
  return transpose(result, order);
}

HostArray matmul(const HostArray& a, const HostArray& b, const Type& type) {
  const std::size_t rank = type.shape.size();
  const auto whole = [&](const HostArray& operand) {
    Shape shape(type.shape.begin(), type.shape.end() - 2);
    shape.insert(shape.end(), operand.type.shape.end() - 2, operand.type.shape.end());
    return broadcast(operand, shape);
  };
  const HostArray left = whole(a), right = whole(b);
  HostArray result = allocate(type);
  const auto m = static_cast<std::size_t>(type.shape[rank - 2].constant());
  const auto n = static_cast<std::size_t>(type.shape[rank - 1].constant());
  const auto k = static_cast<std::size_t>(a.type.shape.back().constant());
  const std::size_t size = size_of(type.dtype);
  const auto function = interpreter::matmul_function(type.dtype);
  const std::size_t batches = m * n == 0 ? 0 : count_of(type) / (m * n);
  for (std::size_t i = 0; i < batches; ++i) {
    function(left.data.data() + i * m * k * size, right.data.data() + i * k * n * size,
             result.data.data() + i * m * n * size, m, k, n);
  }
  return result;
}

/// The axis is brought to the end, and every row sorted.
HostArray sort(Op op, const HostArray& operand, const Type& type, std::size_t axis) {
  const std::size_t rank = type.shape.size();
  std::vector<std::int64_t> last(rank), back(rank);
  std::iota(last.begin(), last.end(), 0);
  std::rotate(last.begin() + static_cast<std::ptrdiff_t>(axis),
              last.begin() + static_cast<std::ptrdiff_t>(axis) + 1, last.end());
  for (std::size_t i = 0; i < rank; ++i) {
    back[static_cast<std::size_t>(last[i])] = static_cast<std::int64_t>(i);
  }
  const HostArray rows = transpose(operand, last);
  HostArray sorted = allocate({type.dtype, rows.type.shape});
  const auto length = static_cast<std::size_t>(rows.type.shape.back().constant());
  const std::size_t count = length == 0 ? 0 : count_of(type) / length;
  interpreter::sort_function(op, operand.type.dtype)(rows.data.data(), sorted.data.data(), count,
                                                     length);
  return transpose(sorted, back);
}

HostArray search(Op op, const HostArray& sorted, const HostArray& values, const Type& type) {
  HostArray result = allocate(type);
  interpreter::search_function(op, values.type.dtype)(sorted.data.data(), count_of(sorted.type),
                                                      values.data.data(), result.data.data(),
                                                      count_of(type));
  return result;
}

HostArray evaluate(Op op, std::span<const HostArray* const> operands, const Attributes& attributes,
                   Type type) {
  if (is_elementwise(op)) return elementwise(op, operands, type);
  if (is_scatter(op)) return scatter(op, operands, type, attributes.axes);
  if (is_reduction(op)) return reduce(op, *operands[0], type, attributes.axes);
  if (is_scan(op)) return scan(op, operands, type, attributes.axes[0]);
  switch (op) {
    case Op::constant:
      return constant(type, attributes.bits);
    case Op::iota:
      return iota(type, static_cast<std::size_t>(attributes.axes[0]));
    case Op::reshape:
      return {std::move(type), operands[0]->data};
    case Op::transpose:
      return transpose(*operands[0], attributes.axes);
    case Op::broadcast_to:
      return broadcast(*operands[0], type.shape);
    case Op::slice:
      return slice(*operands[0], attributes);
    case Op::concatenate:
      return concatenate(operands, type, static_cast<std::size_t>(attributes.axes[0]));
    case Op::slice_update:
      return slice_update(*operands[0], *operands[1], attributes);
    case Op::gather:
      return gather_at(operands, type, attributes.axes);
    case Op::matmul:
      return matmul(*operands[0], *operands[1], type);
    case Op::sort:
    case Op::argsort:
      return sort(op, *operands[0], type, static_cast<std::size_t>(attributes.axes[0]));
    case Op::searchsorted_left:
    case Op::searchsorted_right:
      return search(op, *operands[0], *operands[1], type);
    default:
      throw InternalError(fmt::format("the interpreter does not know {}", info(op).name));
  }
}

[[noreturn]] void misfit(const Graph& graph, std::size_t index, const HostArray& argument,
                         std::string_view why) {
  throw ShapeError(fmt::format("{}: argument {} is {}, its parameter {}: {}", graph.name, index,
                               to_string(argument.type),
                               to_string(graph.type(graph.parameters()[index])), why));
}

/// The symbol of an extent a * x + b, with the value that makes the extent `value`; nullopt for
/// extents of another form, and where no whole number does.
std::optional<SymbolBinding> solve(Dim extent, std::int64_t value) {
  std::vector<SymbolId> symbols;
  extent.collect_symbols(symbols);
  if (symbols.size() != 1) return std::nullopt;
  const auto at = [&](std::int64_t point) {
    const SymbolBinding binding{symbols[0], point};
    return extent.evaluate({&binding, 1});
  };
  const std::int64_t constant = at(0), slope = at(1) - constant;
  const bool linear = slope != 0 && at(2) == constant + 2 * slope;
  if (!linear || (value - constant) % slope != 0) return std::nullopt;
  return SymbolBinding{symbols[0], (value - constant) / slope};
}

bool is_bound(Dim extent, const SymbolBindings& bindings) {
  std::vector<SymbolId> symbols;
  extent.collect_symbols(symbols);
  return std::ranges::all_of(symbols, [&](SymbolId symbol) {
    return std::ranges::find(bindings, symbol, &SymbolBinding::symbol) != bindings.end();
  });
}

/// Symbols get their values from the extents of the argument that are linear in one of them.
void bind_symbols(const Graph& graph, std::size_t index, const HostArray& argument,
                  SymbolBindings& bindings) {
  const Type parameter = graph.type(graph.parameters()[index]);
  if (parameter.dtype != argument.type.dtype ||
      parameter.shape.size() != argument.type.shape.size()) {
    misfit(graph, index, argument, "dtype and rank must be equal");
  }
  if (!is_constant(argument.type.shape) ||
      argument.data.size() != count_of(argument.type) * size_of(argument.type.dtype)) {
    misfit(graph, index, argument, "an argument has constant extents and all of its bytes");
  }
  for (std::size_t axis = 0; axis < parameter.shape.size(); ++axis) {
    const auto solved = solve(parameter.shape[axis], argument.type.shape[axis].constant());
    if (solved && !is_bound(Dim::symbol(solved->symbol), bindings)) bindings.push_back(*solved);
  }
}

SymbolBindings bind(const Graph& graph, std::span<const HostArray> arguments) {
  if (arguments.size() != graph.parameters().size()) {
    throw ShapeError(fmt::format("{} takes {} arguments, not {}", graph.name,
                                 graph.parameters().size(), arguments.size()));
  }
  SymbolBindings bindings;
  for (std::size_t i = 0; i < arguments.size(); ++i) bind_symbols(graph, i, arguments[i], bindings);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Shape& shape = graph.shape(graph.parameters()[i]);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const bool known = is_bound(shape[axis], bindings);
      if (!known || Dim(shape[axis].evaluate(bindings)) != arguments[i].type.shape[axis]) {
        misfit(graph, i, arguments[i], fmt::format("axis {} differs", axis));
      }
    }
  }
  for (const SymbolFact& fact : graph.facts) {
    const std::int64_t value = Dim::symbol(fact.symbol).evaluate(bindings);
    if (value < fact.minimum || value % fact.multiple_of != 0) {
      throw ShapeError(fmt::format("{}: {} is {}; it must be at least {} and a multiple of {}",
                                   graph.name, symbol_name(fact.symbol), value, fact.minimum,
                                   fact.multiple_of));
    }
  }
  return bindings;
}

Attributes with_values(Attributes attributes, const SymbolBindings& bindings) {
  for (Dim& dim : attributes.shape) dim = dim.evaluate(bindings);
  for (Dim& dim : attributes.starts) dim = dim.evaluate(bindings);
  for (Dim& dim : attributes.steps) dim = dim.evaluate(bindings);
  return attributes;
}

/// For each node the last that reads it; outputs are read at the end, and nodes that nothing needs
/// by no one.
std::vector<std::uint32_t> last_readers(const Graph& graph) {
  constexpr std::uint32_t no_reader = 0;
  const auto end = static_cast<std::uint32_t>(graph.size());
  std::vector<std::uint32_t> readers(graph.size(), no_reader);
  for (ValueId output : graph.outputs) readers[index_of(output)] = end;
  for (std::uint32_t i = end; i-- > 0;) {
    if (readers[i] == no_reader) continue;
    for (ValueId operand : graph.operands(ValueId{i})) {
      readers[index_of(operand)] = std::max(readers[index_of(operand)], i);
    }
  }
  return readers;
}

}  // namespace

std::vector<HostArray> interpret(const Graph& graph, std::span<const HostArray> arguments) {
  const SymbolBindings bindings = bind(graph, arguments);
  const std::vector<std::uint32_t> readers = last_readers(graph);
  std::vector<std::optional<HostArray>> values(graph.size());
  std::vector<const HostArray*> arrays(graph.size());
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const ValueId id{i};
    if (readers[i] == 0) continue;
    if (graph.op(id) == Op::parameter) {
      arrays[i] = &arguments[graph.attributes(id).index];
      continue;
    }
    const Attributes attributes = with_values(graph.attributes(id), bindings);
    std::vector<const HostArray*> operands;
    std::vector<Type> types;
    for (ValueId operand : graph.operands(id)) {
      operands.push_back(arrays[index_of(operand)]);
      types.push_back(operands.back()->type);
    }
    // Inferring once more with values in the place of symbols checks what they left open.
    values[i] =
        evaluate(graph.op(id), operands, attributes, infer(graph.op(id), types, attributes));
    arrays[i] = &*values[i];
    for (ValueId operand : graph.operands(id)) {
      if (readers[index_of(operand)] == i) values[index_of(operand)].reset();
    }
  }
  std::vector<HostArray> results;
  for (ValueId output : graph.outputs) results.push_back(*arrays[index_of(output)]);
  return results;
}

}  // namespace heddle::ir
