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

/// The element at `index` of a broadcast array, as coordinates in its operand.
void through_broadcast(const ir::Shape& from, std::vector<std::int64_t>& index) {
  index.erase(index.begin(), index.end() - static_cast<std::ptrdiff_t>(from.size()));
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    if (from[axis] == ir::Dim(1)) index[axis] = 0;
  }
}

void through_transpose(const ir::Attributes& transpose, std::vector<std::int64_t>& index) {
  const std::vector<std::int64_t> outer = index;
  for (std::size_t axis = 0; axis < index.size(); ++axis)
    index[static_cast<std::size_t>(transpose.axes[axis])] = outer[axis];
}

/// The element of a view at `index`, as coordinates in its operand.
bool through_view(const Node& view, std::vector<std::int64_t>& index) {
  const ir::Shape& from = view.operands()[0]->shape;
  switch (view.op) {
    case ir::Op::slice:
      return through_slice(*view.attributes, index);
    case ir::Op::reshape:
      return through_reshape(from, view.shape, index);
    case ir::Op::broadcast_to:
      through_broadcast(from, index);
      return true;
    case ir::Op::transpose:
      through_transpose(*view.attributes, index);
      return true;
    default:
      return false;
  }
}

/// The first operand of pending views that is none, with the element's coordinates in it; null for
/// a view that is not supported. graph_mutex() must be held.
NodeRef behind_views(NodeRef node, std::vector<std::int64_t>& index) {
  while (!node->evaluated() && node->kind == Node::Kind::operation && ir::is_view(node->op)) {
    if (!through_view(*node, index)) return {};
    node = node->operands()[0];
  }
  return node;
}

struct Found {
  NodeRef node;  ///< that holds the element; null if the element is not known
  ir::ElementBits bits;
};

Found find_element(const NodeRef& viewed, std::vector<std::int64_t> index) {
  NodeRef node = viewed;
  if (!viewed->evaluated()) {
    const std::lock_guard lock(graph_mutex());
    node = behind_views(viewed, index);
  }
  if (!node) return {};
  Found found;
  if (node->is_number()) {
    found.bits = node->bits;
  } else if (!node->evaluated() && node->kind == Node::Kind::operation &&
             node->op == ir::Op::iota) {
    const std::int64_t count = index[static_cast<std::size_t>(node->attributes->axes[0])];
    convert(&count, DType::i64, found.bits.bytes(), node->dtype, 1);
  } else {
    const std::byte* const elements = elements_on_host(*node);
    if (elements == nullptr) return {};
    const std::size_t bytes = size_of(node->dtype);
    const auto position = static_cast<std::size_t>(position_of(index, node->shape));
    std::memcpy(found.bits.bytes(), elements + position * bytes, bytes);
  }
  found.node = std::move(node);
  return found;
}

}  // namespace

std::optional<ir::ElementBits> known_element(const NodeRef& node, std::vector<std::int64_t> index) {
  const Found found = find_element(node, std::move(index));
  return found.node ? std::optional(found.bits) : std::nullopt;
}

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
  const Found found = find_element(node, std::vector<std::int64_t>(node->shape.size(), 0));
  if (!found.node) return false;
  require_waiting(what, where);
  raise_failures(found.node);
  std::memcpy(out, found.bits.bytes(), size_of(node->dtype));
  return true;
}

}  // namespace heddle::frontend
