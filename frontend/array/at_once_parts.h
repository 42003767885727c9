#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "codegen/blocks/loop_types.h"
#include "frontend/array/strided_elements.h"
#include "frontend/graph/node.h"
#include "ir/types/scalar.h"
#include "runtime/launch/arguments.h"

/// What the operations share that are computed at once (at_once.h).
namespace heddle::frontend {

inline constexpr std::size_t most_operands = 3;
inline constexpr std::size_t largest_element = sizeof(ir::ElementBits);

/// Whether an array outside traces has elements, and at most `most_at_once`.
bool has_few_elements(const Node& node);

/// The array at hand that holds the elements of a node, which is that array or a pending view of
/// it, and where they are in it. Null if they are not in memory.
NodeRef elements_at_hand(const NodeRef& node, StridedElements& elements);

/// An array at hand with the node's value: the node, or what it is a pending view of, read now.
/// Null if there is none.
NodeRef at_hand(const NodeRef& node, const SourceLocation& where);

/// Memory for a result; nullopt if there is none.
std::optional<runtime::DeviceArray> new_array(ir::Type type, const SourceLocation& where);

/// The ready-made loop of an elementwise op; null if there is none.
heddle_blocks::MapLoop loop_at_once(ir::Op op, DType dtype);

/// This thread's memory number `slot`, of which there are most_operands + 1. Valid until the next
/// call with the same slot.
std::byte* room_at_once(std::size_t slot, std::int64_t count, std::size_t size = largest_element);

}  // namespace heddle::frontend
