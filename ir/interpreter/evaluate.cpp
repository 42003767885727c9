#include "ir/interpreter/evaluate.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/infer/infer.h"
#include "ir/interpreter/functions.h"
#include "ir/interpreter/indexed.h"
#include "ir/types/reduction_order.h"
#include "ir/types/scalar.h"

namespace heddle::ir::interpreter {
namespace {

/// Offset and strides of a region of an array, given the array's strides.
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
  iota_function(type.dtype)(nullptr, row.data.data(), count_of(row.type));
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
  const auto function =
      op == Op::cast ? cast_function(dtype, type.dtype) : elementwise_function(op, dtype);
  HostArray result = allocate(type);
  function(data.data(), result.data.data(), count_of(type));
  return result;
}

/// The order of axes that moves `axis` to the end.
std::vector<std::int64_t> axis_last(std::int64_t axis, std::size_t rank) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(rank); ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  return order;
}

/// The order of axes that moves the last one to position `axis`.
std::vector<std::int64_t> axis_back(std::int64_t axis, std::size_t rank) {
  const auto last = static_cast<std::int64_t>(rank) - 1;
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i <= last; ++i) order.push_back(i < axis ? i : i == axis ? last : i - 1);
  return order;
}

/// Moves the reduced axes to the end, then reduces each row in C order.
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
  const int run_length = heddle_scalar::reduce::run_length(static_cast<long long>(length));
  const bool in_runs = reduces_columns(operand.type.shape, axes);
  reduce_function(op, operand.type.dtype)(rows.data.data(), result.data.data(), count_of(type),
                                          length,
                                          in_runs ? static_cast<std::size_t>(run_length) : 0);
  return result;
}

template <class T>
std::vector<std::int64_t> clipped(const HostArray& array, DType dtype, std::int64_t axis_size) {
  std::vector<T> bounds(count_of(array.type));
  const std::byte* const data = array.data.data();
  cast_function(array.type.dtype, dtype)(&data, reinterpret_cast<std::byte*>(bounds.data()),
                                         bounds.size());
  std::vector<std::int64_t> result;
  for (const T one : bounds) result.push_back(heddle_scalar::bound(one, axis_size));
  return result;
}

/// The begins or ends of segments, on the axis.
std::vector<std::int64_t> bounds_of(const HostArray& array, std::int64_t axis_size) {
  if (array.type.dtype == DType::u64) return clipped<std::uint64_t>(array, DType::u64, axis_size);
  return clipped<std::int64_t>(array, DType::i64, axis_size);
}

/// Reduces segments of one axis, which operands 1 and 2 give.
HostArray reduce_segments(Op op, std::span<const HostArray* const> operands, const Type& type,
                          std::int64_t axis) {
  const HostArray& operand = *operands[0];
  const std::vector<std::int64_t> order = axis_last(axis, operand.type.shape.size());
  const HostArray rows = transpose(operand, order);
  const std::int64_t length = rows.type.shape.back().constant();
  const std::vector<std::int64_t> begins = bounds_of(*operands[1], length),
                                  ends = bounds_of(*operands[2], length);
  Type turned = type;
  for (std::size_t i = 0; i < order.size(); ++i) turned.shape[i] = type.shape[order[i]];
  HostArray result = allocate(turned);
  const ReduceFunction reduce_row = reduce_function(op, operand.type.dtype);
  const std::size_t from_size = size_of(operand.type.dtype), to_size = size_of(type.dtype);
  const std::size_t count = begins.empty() ? 0 : count_of(type) / begins.size();
  std::byte* to = result.data.data();
  for (std::size_t row = 0; row < count; ++row) {
    const std::byte* const from =
        rows.data.data() + row * static_cast<std::size_t>(length) * from_size;
    for (std::size_t i = 0; i < begins.size(); ++i, to += to_size) {
      const std::int64_t elements = std::max<std::int64_t>(ends[i] - begins[i], 0);
      reduce_row(from + static_cast<std::size_t>(begins[i]) * from_size, to, 1,
                 static_cast<std::size_t>(elements), heddle_scalar::reduce::segment_run_length);
    }
  }
  return transpose(result, axis_back(axis, order.size()));
}

std::vector<AxisIndex> indices_of(std::span<const HostArray* const> operands,
                                  std::span<const std::int64_t> axes, const Shape& region) {
  std::vector<AxisIndex> indices;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const HostArray index = broadcast(*operands[k + 1], region);
    AxisIndex& one = indices.emplace_back(static_cast<std::size_t>(axes[k]),
                                          std::vector<std::int64_t>(count_of(index.type)));
    const std::byte* const data = index.data.data();
    cast_function(index.type.dtype, DType::i64)(
        &data, reinterpret_cast<std::byte*>(one.values.data()), one.values.size());
  }
  return indices;
}

HostArray gather_at(std::span<const HostArray* const> operands, const Type& type,
                    std::span<const std::int64_t> axes) {
  const HostArray& operand = *operands[0];
  HostArray result = allocate(type);
  gather(source(operand, broadcast_strides(operand, type.shape.size())),
         extents_of(operand.type.shape), indices_of(operands, axes, type.shape), result.data.data(),
         extents_of(type.shape), size_of(type.dtype));
  return result;
}

HostArray scatter(Op op, std::span<const HostArray* const> operands, const Type& type,
                  std::span<const std::int64_t> axes) {
  std::vector<Type> types;
  for (const HostArray* operand : operands) types.push_back(operand->type);
  const Shape region = scatter_region(types);
  HostArray result = allocate(type);
  scatter(op, type.dtype, broadcast(*operands[0], region).data.data(),
          indices_of(operands, axes, region), extents_of(region), result.data.data(),
          extents_of(type.shape));
  return result;
}

/// Scans each row along the axis.
HostArray scan(Op op, std::span<const HostArray* const> operands, const Type& type,
               std::int64_t axis) {
  const std::vector<std::int64_t> order = axis_last(axis, type.shape.size());
  const HostArray rows = transpose(*operands[0], order);
  std::optional<HostArray> begins;
  if (operands.size() == 2) begins = transpose(*operands[1], order);
  HostArray result = allocate(rows.type);
  const auto length = static_cast<std::size_t>(rows.type.shape.back().constant());
  scan_function(op, type.dtype)(rows.data.data(), begins ? begins->data.data() : nullptr,
                                result.data.data(), length == 0 ? 0 : count_of(type) / length,
                                length);
  return transpose(result, axis_back(axis, order.size()));
}

HostArray search(Op op, const HostArray& sorted, const HostArray& values, const Type& type) {
  HostArray result = allocate(type);
  search_function(op, values.type.dtype)(sorted.data.data(), count_of(sorted.type),
                                         values.data.data(), result.data.data(), count_of(type));
  return result;
}

}  // namespace

HostArray evaluate(Op op, std::span<const HostArray* const> operands, const Attributes& attributes,
                   Type type) {
  if (is_elementwise(op)) return elementwise(op, operands, type);
  if (is_scatter(op)) return scatter(op, operands, type, attributes.axes);
  if (is_reduction(op) && operands.size() == 3)
    return reduce_segments(op, operands, type, attributes.axes[0]);
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
    case Op::searchsorted_left:
    case Op::searchsorted_right:
      return search(op, *operands[0], *operands[1], type);
    default:
      throw InternalError(fmt::format("the interpreter does not implement {}", info(op).name));
  }
}

}  // namespace heddle::ir::interpreter
