#include "ir/interpreter/indexed.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "heddle/error.h"

#include "ir/types/scalar.h"

namespace heddle::ir::interpreter {
namespace {

/// Calls visit(element, coordinates) for each element of a region in C order.
template <class Visit>
void for_each(const Extents& region, const Visit& visit) {
  const std::int64_t count = count_of(region);
  Extents at(region.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(static_cast<std::size_t>(i), at);
    for (std::size_t axis = region.size(); axis-- > 0;) {
      if (++at[axis] < region[axis]) break;
      at[axis] = 0;
    }
  }
}

template <class T, class Combine>
void scatter_typed(const std::byte* values, const std::vector<AxisIndex>& indices,
                   const Extents& region, std::byte* result, const Extents& extents,
                   const Combine& combine) {
  const Extents strides = c_strides(extents);
  for_each(region, [&](std::size_t i, Extents at) {
    for (const AxisIndex& index : indices) {
      if (!heddle_scalar::is_position(index.values[i], extents[index.axis])) return;
      at[index.axis] = heddle_scalar::position(index.values[i], extents[index.axis]);
    }
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) offset += at[axis] * strides[axis];
    T value, sum;
    std::memcpy(&value, values + i * sizeof(T), sizeof(T));
    std::byte* const place = result + offset * static_cast<std::int64_t>(sizeof(T));
    std::memcpy(&sum, place, sizeof(T));
    sum = combine(sum, value);
    std::memcpy(place, &sum, sizeof(T));
  });
}

template <class T>
void scatter_of(Op op, const std::byte* values, const std::vector<AxisIndex>& indices,
                const Extents& region, std::byte* result, const Extents& extents) {
  if (op == Op::scatter_add) {
    scatter_typed<T>(values, indices, region, result, extents,
                     [](T a, T b) { return static_cast<T>(a + b); });
  } else {
    scatter_typed<T>(values, indices, region, result, extents,
                     [](T a, T b) { return std::max(a, b); });
  }
}

}  // namespace

void gather(const StridedBytes& operand, const Extents& operand_extents,
            const std::vector<AxisIndex>& indices, std::byte* result, const Extents& region,
            std::size_t element_size) {
  for_each(region, [&](std::size_t i, Extents at) {
    for (const AxisIndex& index : indices)
      at[index.axis] = heddle_scalar::position(index.values[i], operand_extents[index.axis]);
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) offset += at[axis] * operand.strides[axis];
    std::memcpy(result + i * element_size,
                operand.data + offset * static_cast<std::int64_t>(element_size), element_size);
  });
}

// Signed sums wrap, so they are computed as unsigned sums.
void scatter(Op op, DType dtype, const std::byte* values, const std::vector<AxisIndex>& indices,
             const Extents& region, std::byte* result, const Extents& extents) {
  if (size_of(dtype) == 4)
    return scatter_of<std::uint32_t>(op, values, indices, region, result, extents);
  if (size_of(dtype) == 8)
    return scatter_of<std::uint64_t>(op, values, indices, region, result, extents);
  throw InternalError("scatter supports integers of 4 or 8 bytes only");
}

}  // namespace heddle::ir::interpreter
