#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "heddle/array.h"

#include "frontend/array/strided_elements.h"
#include "frontend/graph/node.h"

/// Operations on few elements, computed where they are called instead of recorded: in a loop over
/// short rows, recording and evaluating cost far more than computing. The rule is in
/// docs/guide/memory.md. The results have the bits of the program that would have been recorded.
namespace heddle::frontend {

/// The largest number of elements of a result.
inline constexpr std::int64_t most_at_once = 2048;

/// Lets call sites compute at once. Off by default: a language turns it on that reads and writes
/// views at once, too, as the Python module does.
void allow_computing_at_once();

/// Whether a call site computes its operations at once: it has come up often enough. Counts the
/// call. False while recording is asked for: in traces, profiles, and without automatic evaluation.
bool computes_at_once(const SourceLocation& where);

/// True for an array in memory that this thread may read and write now.
bool is_at_hand(const Node& node);

/// An elementwise op of operands in a dtype. nullopt if it has to be recorded.
std::optional<Array> elementwise_at_once(ir::Op op, std::span<const Operand* const> operands,
                                         DType dtype);

/// An array of some elements of another, in the same memory if they lie one behind the other. Null
/// if there is no memory.
NodeRef array_of_elements(const runtime::DeviceArray& array, const StridedElements& elements,
                          const SourceLocation& where);

/// The dot product of two arrays of one axis and one dtype. Null if it has to be recorded.
NodeRef dot_at_once(const NodeRef& left, const NodeRef& right, const SourceLocation& where);

/// The product of a vector and a matrix of one dtype, whose extents fit. Null if it has to be
/// recorded.
NodeRef vector_product_at_once(const NodeRef& vector, const NodeRef& matrix,
                               const SourceLocation& where);

/// A reduction of all elements. Null if it has to be recorded.
NodeRef reduce_at_once(ir::Op op, const NodeRef& node, const SourceLocation& where);

/// An operand's elements, cast to a dtype and broadcast to a shape of constant extents; null if it
/// is not at hand or does not broadcast. Valid until the thread's next call with the same `slot`.
/// `op` is for the DTypeError for a number that does not fit.
const std::byte* elements_of(const Operand& operand, DType dtype, const ir::Shape& shape,
                             std::size_t slot, std::string_view op);

}  // namespace heddle::frontend
