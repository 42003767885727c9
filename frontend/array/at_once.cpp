#include "frontend/array/at_once.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

#include "heddle/error.h"

#include "frontend/array/access.h"
#include "frontend/array/at_once_parts.h"
#include "frontend/array/strided_elements.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"
#include "ir/base/span.h"
#include "ir/types/scalar.h"
#include "runtime/base/per_thread.h"
#include "runtime/compile/kernel_compiler.h"
#include "runtime/device/backend.h"

namespace heddle::frontend {

namespace {

using ir::TypeRule;
using Operands = std::span<const Operand* const>;

/// Calls of a call site before it computes at once. The change may make another program or two,
/// which only a loop of many rounds is worth.
constexpr std::uint32_t calls_before = 256;
/// A loop takes this many elements at a time where an operand is a number.
constexpr std::int64_t tile = 256;

struct CallSite {
  const char* file = nullptr;
  std::uint32_t line = 0, column = 0, calls = 0;
};

/// What a thread keeps. Call sites that share a slot start anew, which only costs time.
struct Kept {
  std::array<CallSite, 4096> sites;
  /// For each operand, and one for products.
  std::array<std::vector<std::byte>, most_operands + 1> elements;
  struct Loop {
    ir::Op op = ir::Op::parameter;
    DType dtype = DType::f32;
    heddle_blocks::MapLoop run = nullptr;
  };
  std::array<Loop, 64> loops;

  std::byte* room(std::size_t slot, std::int64_t count, std::size_t size = largest_element) {
    std::vector<std::byte>& memory = elements.at(slot);
    const std::size_t bytes = static_cast<std::size_t>(count) * size;
    if (memory.size() < bytes) memory.resize(bytes);
    return memory.data();
  }
};

std::atomic<bool> allowed{false};

Kept& kept() { return runtime::per_thread<Kept>(); }

bool is_synchronous(runtime::Device device) {
  const runtime::Capabilities capabilities = runtime::capabilities_of(device);
  return capabilities.host_memory && !capabilities.asynchronous;
}

/// The dtype of the result of operands of a dtype; nullopt for rules that are not supported.
std::optional<DType> result_dtype(TypeRule rule, DType dtype) {
  switch (rule) {
    case TypeRule::arithmetic:
    case TypeRule::floating:
    case TypeRule::divide:
      return dtype;
    case TypeRule::comparison:
    case TypeRule::predicate:
    case TypeRule::logical:
      return DType::boolean;
    case TypeRule::real_part:
      return real_dtype(dtype);
    default:
      return std::nullopt;
  }
}

/// The known number that an array is; null for other arrays.
const Node* number_of(const Operand& operand) {
  const Node* const node = Access::raw(*operand.array()).get();
  return node != nullptr && node->is_number() && node->trace_id == 0 ? node : nullptr;
}

/// The array that an operand is; null for numbers.
NodeRef array_of(const Operand& operand) {
  return operand.array() == nullptr || number_of(operand) != nullptr
             ? NodeRef()
             : Access::raw(*operand.array());
}

/// The shape of a result whose operands are arrays of few elements and numbers; nullopt otherwise.
std::optional<ir::Shape> shape_of_few(Operands operands) {
  const ir::Shape* first = nullptr;
  std::optional<ir::Shape> broadcast;
  for (const Operand* const operand : operands) {
    if (operand->array() == nullptr || number_of(*operand) != nullptr) continue;
    const Node* const node = Access::raw(*operand->array()).get();
    if (node == nullptr || !has_few_elements(*node)) return std::nullopt;
    if (first == nullptr) {
      first = &node->shape;
    } else if (!broadcast && node->shape == *first) {
      continue;
    } else {
      try {
        broadcast = ir::broadcast_shapes(broadcast ? *broadcast : *first, node->shape);
      } catch (const ShapeError&) {
        return std::nullopt;  // recording says what is wrong
      }
    }
  }
  if (first == nullptr) return std::nullopt;
  return broadcast ? std::move(broadcast) : std::optional(*first);
}

void fill(const ir::ElementBits& bits, std::size_t size, std::int64_t count, std::byte* to) {
  const auto all = static_cast<std::size_t>(count) * size;
  std::memcpy(to, bits.bytes(), size);
  for (std::size_t done = size; done < all; done *= 2)
    std::memcpy(to + done, to, std::min(done, all - done));
}

/// The number that an operand is, in a dtype; nullopt for arrays.
std::optional<ir::ElementBits> bits_of(const Operand& operand, DType dtype, std::string_view op) {
  if (operand.array() == nullptr) return scalar_bits(op, operand.scalar(), dtype, operand.where());
  const Node* const number = number_of(operand);
  if (number == nullptr) return std::nullopt;
  ir::ElementBits bits;
  convert(number->bits.bytes(), number->dtype, bits.bytes(), dtype, 1);
  return bits;
}

/// Sets the strides with which an array is read as one of another shape, whose elements are given.
/// Returns false if it does not broadcast.
bool broadcast(const ir::Shape& from, const ir::Shape& to, StridedElements& all) {
  if (from.size() > to.size()) return false;
  const StridedElements own = all_elements(from);
  const std::size_t added = to.size() - from.size();
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    const bool has = axis >= added;
    if (has && own.extents[axis - added] != all.extents[axis] && own.extents[axis - added] != 1)
      return false;
    all.strides[axis] =
        has && own.extents[axis - added] == all.extents[axis] ? own.strides[axis - added] : 0;
  }
  return true;
}

/// An array at hand, cast and broadcast. Null if it does not broadcast.
const std::byte* elements_of(const Node& node, DType dtype, const ir::Shape& shape,
                             std::size_t slot) {
  const std::byte* from = elements_on_host(node);
  if (node.dtype == dtype && node.shape == shape) return from;
  const std::int64_t count = ir::element_count(shape).constant();
  std::byte* const to = kept().room(slot, 2 * count);
  if (node.shape != shape) {
    StridedElements all = all_elements(shape);
    if (!broadcast(node.shape, shape, all)) return nullptr;
    std::byte* const spread =
        node.dtype == dtype ? to : to + static_cast<std::size_t>(count) * largest_element;
    gather(from, all, size_of(node.dtype), spread);
    from = spread;
  }
  if (node.dtype != dtype) convert(from, node.dtype, to, dtype, static_cast<std::size_t>(count));
  return to;
}

/// The value of a result in memory: of one element without axes, the number.
NodeRef result_of(runtime::DeviceArray array) {
  if (!array.type.shape.empty()) return array_node(std::move(array));
  ir::ElementBits bits;
  std::memcpy(bits.bytes(), array.buffer->pointer(), size_of(array.type.dtype));
  return record_number(array.type.dtype, bits);
}

}  // namespace

void allow_computing_at_once() { allowed.store(true, std::memory_order_relaxed); }

bool computes_at_once(const SourceLocation& where) {
  if (!allowed.load(std::memory_order_relaxed) || where.file_name()[0] == '\0' ||
      Trace::current() != nullptr || !auto_eval_enabled() || ir::kernels_watched())
    return false;
  const auto place = reinterpret_cast<std::uintptr_t>(where.file_name()) / 8 +
                     std::size_t{where.line()} * 61 + where.column();
  CallSite& site = kept().sites[place % 4096];
  if (site.file != where.file_name() || site.line != where.line() || site.column != where.column())
    site = {where.file_name(), where.line(), where.column(), 0};
  if (site.calls < calls_before) {
    ++site.calls;
    return false;
  }
  return true;
}

bool is_at_hand(const Node& node) {
  if (node.trace_id != 0 || !node.evaluated()) return false;
  const runtime::Device device = node.value.buffer->device();
  return device == runtime::current_device() && is_synchronous(device);
}

bool has_few_elements(const Node& node) {
  std::int64_t count = 1;
  for (const ir::Dim extent : node.shape) {
    if (!extent.is_constant()) return false;
    count *= extent.constant();
    if (count == 0 || count > most_at_once) return false;
  }
  return node.trace_id == 0;
}

NodeRef elements_at_hand(const NodeRef& node, StridedElements& elements) {
  NodeRef base = node;
  std::array<const Node*, 8> views{};
  std::size_t count = 0;
  if (!is_at_hand(*node)) {
    const std::lock_guard lock(graph_mutex());
    while (!base->evaluated() && base->kind == Node::Kind::operation && ir::is_view(base->op)) {
      if (count == views.size() || base->attributes == nullptr) return {};
      views[count++] = base.get();
      base = base->operands()[0];
    }
  }
  if (!is_at_hand(*base)) return {};
  const StridedElements all = all_elements(base->shape);
  elements = all;  // copied, as GCC 12 takes moving it for a read out of bounds
  while (count-- > 0) {
    if (!apply_view(views[count]->op, *views[count]->attributes, elements)) return {};
  }
  return base;
}

NodeRef at_hand(const NodeRef& node, const SourceLocation& where) {
  if (is_at_hand(*node)) return node;
  StridedElements elements;
  const NodeRef base = elements_at_hand(node, elements);
  return base ? array_of_elements(base->value, elements, where) : NodeRef();
}

std::optional<runtime::DeviceArray> new_array(ir::Type type, const SourceLocation& where) {
  const runtime::Stream stream = runtime::Stream::current(runtime::current_device());
  const auto bytes = static_cast<std::size_t>(ir::byte_count(type).constant());
  try {
    return runtime::DeviceArray{std::move(type),
                                runtime::allocate(bytes, stream, nullptr, Site(where).location), 0};
  } catch (const OutOfMemory&) {
    return std::nullopt;  // recorded work waits until there is memory
  }
}

heddle_blocks::MapLoop loop_at_once(ir::Op op, DType dtype) {
  Kept::Loop& known =
      kept().loops[(static_cast<std::size_t>(op) * 3 + static_cast<std::size_t>(dtype)) % 64];
  if (known.op == op && known.dtype == dtype) return known.run;
  const runtime::Device device = runtime::current_device();
  known = {op, dtype,
           runtime::backend_of(device).compiler().elementwise_loop(op, dtype,
                                                                   runtime::target_of(device))};
  return known.run;
}

std::byte* room_at_once(std::size_t slot, std::int64_t count, std::size_t size) {
  return kept().room(slot, count, size);
}

const std::byte* elements_of(const Operand& operand, DType dtype, const ir::Shape& shape,
                             std::size_t slot, std::string_view op) {
  if (const auto number = bits_of(operand, dtype, op)) {
    const std::int64_t count = ir::element_count(shape).constant();
    std::byte* const to = kept().room(slot, count);
    fill(*number, size_of(dtype), count, to);
    return to;
  }
  const NodeRef& node = Access::raw(*operand.array());
  if (!node || !has_few_elements(*node) || !is_at_hand(*node)) return nullptr;
  return elements_of(*node, dtype, shape, slot);
}

namespace {

std::optional<Array> elements_at_once(ir::Op op, Operands operands, DType dtype) {
  const ir::OpInfo& info = ir::info(op);
  const auto dtype_of_result = result_dtype(info.rule, dtype);
  if (!dtype_of_result || operands.size() > most_operands || (info.dtypes & ir::set_of(dtype)) == 0)
    return std::nullopt;
  auto shape = shape_of_few(operands);
  if (!shape) return std::nullopt;
  const std::int64_t count = ir::element_count(*shape).constant();
  if (count > most_at_once || !computes_at_once(operands[0]->where())) return std::nullopt;
  std::array<NodeRef, most_operands> arrays;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const NodeRef array = array_of(*operands[i]);
    if (array && !(arrays[i] = at_hand(array, operands[0]->where()))) return std::nullopt;
  }
  const heddle_blocks::MapLoop loop = loop_at_once(op, dtype);
  if (loop == nullptr) return std::nullopt;
  std::array<const std::byte*, most_operands> from{};
  std::array<bool, most_operands> is_number{};
  bool numbers = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (const auto bits = bits_of(*operands[i], dtype, info.name)) {
      std::byte* const to = kept().room(i, tile);
      fill(*bits, size_of(dtype), std::min(count, tile), to);
      from[i] = to;
      is_number[i] = numbers = true;
    } else {
      from[i] = elements_of(*arrays[i], dtype, *shape, i);
    }
  }
  auto result = new_array({*dtype_of_result, *std::move(shape)}, operands[0]->where());
  if (!result) return std::nullopt;
  auto* const to = static_cast<std::byte*>(result->buffer->pointer());
  const std::int64_t step = numbers ? tile : count;
  for (std::int64_t at = 0; at < count; at += step) {
    std::array<const void*, most_operands> parts{};
    for (std::size_t i = 0; i < operands.size(); ++i)
      parts[i] = is_number[i] ? from[i] : from[i] + static_cast<std::size_t>(at) * size_of(dtype);
    loop(to + static_cast<std::size_t>(at) * size_of(*dtype_of_result), parts.data(),
         std::min(step, count - at));
  }
  return Access::make(result_of(*std::move(result)));
}

/// The number that a program has as a constant or an argument; nullopt if it is not one of Python's
/// or C++'s, or not of an exponent's dtype.
std::optional<double> exponent_of(const Operand& operand, DType dtype) {
  if (operand.array() != nullptr) return std::nullopt;
  const ir::ElementBits bits = scalar_bits("power", operand.scalar(), dtype, operand.where());
  double exponent = 0;
  convert(bits.bytes(), dtype, &exponent, DType::f64, 1);
  return exponent;
}

/// x ** 2 is a product, and other small exponents have kernels of their own (small_power).
std::optional<Array> power_at_once(Operands operands, DType dtype) {
  if (dtype != DType::f32 && dtype != DType::f64) return std::nullopt;
  const std::optional<double> exponent = exponent_of(*operands[1], dtype);
  constexpr std::array own_kernels = {-1.0, 0.0, 0.5, 1.0, 3.0};
  if (!exponent || std::ranges::find(own_kernels, *exponent) != own_kernels.end())
    return std::nullopt;
  if (*exponent != 2) return elements_at_once(ir::Op::power, operands, dtype);
  const std::array<const Operand*, 2> factors = {operands[0], operands[0]};
  return elements_at_once(ir::Op::multiply, factors, dtype);
}

}  // namespace

std::optional<Array> elementwise_at_once(ir::Op op, Operands operands, DType dtype) {
  return op == ir::Op::power ? power_at_once(operands, dtype)
                             : elements_at_once(op, operands, dtype);
}

NodeRef array_of_elements(const runtime::DeviceArray& array, const StridedElements& elements,
                          const SourceLocation& where) {
  const DType dtype = array.type.dtype;
  const std::size_t size = size_of(dtype);
  ir::Type type{dtype, shape_of(elements)};
  if (elements.is_contiguous()) {
    const std::int64_t offset = array.offset + elements.offset * static_cast<std::int64_t>(size);
    return array_node({std::move(type), array.buffer, offset});
  }
  auto result = new_array(std::move(type), where);
  if (!result) return {};
  gather(address_of(array), elements, size, address_of(*result));
  return array_node(*std::move(result));
}

}  // namespace heddle::frontend
