#include "frontend/array/single_element.h"

#include <cstring>
#include <mutex>
#include <vector>

#include "frontend/array/access.h"
#include "frontend/evaluate/checks.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"

namespace heddle::frontend {

namespace {

bool has_one_element(const ir::Shape& shape) {
  for (const ir::Dim& extent : shape) {
    if (!(extent == ir::Dim(1))) return false;
  }
  return true;
}

/// The element at `index` of a slice, as coordinates in the slice's operand.
bool through_slice(const ir::Attributes& slice, std::vector<std::int64_t>& index) {
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    const ir::Dim start = slice.starts[axis], step = slice.steps[axis];
    if (!start.is_constant() || !step.is_constant()) return false;
    index[axis] = start.constant() + index[axis] * step.constant();
  }
  return true;
}

/// The position of an element in C order.
std::int64_t position_of(const std::vector<std::int64_t>& index, const ir::Shape& shape) {
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    position = position * shape[axis].constant() + index[axis];
  return position;
}

bool through_reshape(const ir::Shape& from, const ir::Shape& to, std::vector<std::int64_t>& index) {
  if (!ir::is_constant(from) || !ir::is_constant(to)) return false;
  std::int64_t position = position_of(index, to);
  index.assign(from.size(), 0);
  for (std::size_t axis = from.size(); axis-- > 0;) {
    index[axis] = position % from[axis].constant();
    position /= from[axis].constant();
  }
  return true;
}

/// The computed array that holds the element, and the element's coordinates in it; null if there is
/// none. graph_mutex() must be held.
NodeRef find_element(NodeRef node, std::vector<std::int64_t>& index) {
  while (!node->evaluated()) {
    if (node->kind != Node::Kind::operation || node->operands().size() != 1) return {};
    const NodeRef operand = node->operands()[0];
    if (node->op == ir::Op::slice) {
      if (!through_slice(*node->attributes, index)) return {};
    } else if (node->op == ir::Op::reshape) {
      if (!through_reshape(operand->shape, node->shape, index)) return {};
    } else {
      return {};
    }
    node = operand;
  }
  return node;
}

}  // namespace

bool read_single_element(const Array& array, const char* what, const Site& where, void* out) {
  if (Trace::current() != nullptr) return false;
  const NodeRef node = Access::node(array, SourceLocation());
  if (node->is_number()) {
    require_waiting(what, where);
    raise_failures(node);
    std::memcpy(out, node->bits.bytes(), size_of(node->dtype));
    return true;
  }
  if (node->evaluated() || !has_one_element(node->shape)) return false;
  std::vector<std::int64_t> index(node->shape.size(), 0);
  NodeRef found;
  {
    const std::lock_guard lock(graph_mutex());
    found = find_element(node, index);
  }
  const std::byte* const elements = found ? elements_on_host(*found) : nullptr;
  if (elements == nullptr) return false;
  require_waiting(what, where);
  raise_failures(found);
  const auto bytes = static_cast<std::int64_t>(size_of(found->dtype));
  std::memcpy(out, elements + position_of(index, found->shape) * bytes,
              static_cast<std::size_t>(bytes));
  return true;
}

}  // namespace heddle::frontend
