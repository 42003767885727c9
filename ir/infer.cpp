#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "ir/graph.h"

namespace heddle::ir {
namespace {

using Breach = Requirement::Breach;

struct Call {
  Op op;
  std::span<const Type> operands;
  const Attributes& attributes;
  std::vector<Requirement>* open;  ///< conditions that symbols decide; null: not wanted

  const Type& operand(std::size_t i) const { return operands[i]; }
  int rank() const { return static_cast<int>(operands[0].shape.size()); }
};

/// "add(f32[3], i32[3])"
std::string describe(const Call& call) {
  std::string text(info(call.op).name);
  text += '(';
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (i > 0) text += ", ";
    text += to_string(call.operand(i));
  }
  return text + ')';
}

template <class E, class... Arguments>
[[noreturn]] void fail(const Call& call, fmt::format_string<Arguments...> format,
                       Arguments&&... arguments) {
  throw E(describe(call) + ": " + fmt::format(format, std::forward<Arguments>(arguments)...));
}

std::string names_of(DTypeSet set) {
  std::string text;
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    if ((set & set_of(dtype)) == 0) continue;
    if (!text.empty()) text += ' ';
    text += name_of(dtype);
  }
  return text;
}

void check_allowed(const Call& call, DType dtype) {
  const DTypeSet allowed = info(call.op).dtypes;
  if ((allowed & set_of(dtype)) == 0) {
    fail<DTypeError>(call, "{} is not defined for {}; cast to one of {}", info(call.op).name,
                     name_of(dtype), names_of(allowed));
  }
}

/// The one dtype of operands [first, last).
DType common_dtype(const Call& call, std::size_t first, std::size_t last) {
  const DType dtype = call.operand(first).dtype;
  for (std::size_t i = first + 1; i < last; ++i) {
    if (call.operand(i).dtype != dtype) {
      fail<DTypeError>(call, "operands {} and {} differ in dtype, {} and {}; cast one of them",
                       first, i, name_of(dtype), name_of(call.operand(i).dtype));
    }
  }
  check_allowed(call, dtype);
  return dtype;
}

void require_dtype(const Call& call, std::size_t operand, DType dtype) {
  if (call.operand(operand).dtype != dtype) {
    fail<DTypeError>(call, "operand {} must be {}, not {}; cast it", operand, name_of(dtype),
                     name_of(call.operand(operand).dtype));
  }
}

Shape broadcast(const Call& call, const Shape& a, const Shape& b) {
  try {
    return broadcast_shapes(a, b);
  } catch (const ShapeError& error) {
    fail<ShapeError>(call, "{}", error.what());
  }
}

bool is_certainly_negative(Dim dim) { return (Dim(-1) - dim).is_non_negative(); }

/// Requires `value` not to be negative: at once where that can be told, else at the launch. `text`
/// says what is wrong otherwise.
template <class Text>
void require(const Call& call, Breach breach, Dim value, Dim unless_zero, const Text& text) {
  const bool is_broken = is_certainly_negative(value);
  if (!is_broken && (call.open == nullptr || value.is_non_negative())) return;
  Requirement requirement{value, unless_zero, breach, describe(call) + ": " + text(), {}};
  if (is_broken) requirement.raise(requirement.text);
  call.open->push_back(std::move(requirement));
}

/// What holds for every array: rank, extents, and a size in bytes that fits 64 bits.
void check_result(const Call& call, const Type& type) {
  if (type.shape.size() > max_rank) {
    fail<ShapeError>(call, "an array has at most {} dimensions, not {}", max_rank,
                     type.shape.size());
  }
  for (Dim extent : type.shape) {
    require(call, Breach::shape, extent, 1, [&] {
      return fmt::format("shape {} has the negative extent {}", to_string(type.shape),
                         extent.to_string());
    });
  }
  const auto too_large = [&] {
    return fmt::format("the bytes of {} do not fit 64 bits", to_string(type));
  };
  try {
    const Dim bytes = byte_count(type);
    if (bytes.is_constant() || call.open == nullptr) return;
    call.open->push_back({bytes, 1, Breach::bytes, describe(call) + ": " + too_large(), {}});
  } catch (const ShapeError& error) {
    fail<ShapeError>(call, "{}: {}", too_large(), error.what());
  }
}

int checked_axis(const Call& call, std::int64_t axis, int rank) {
  if (axis < 0 || axis >= rank) {
    fail<IndexError>(call, "axis {} is out of bounds for an array of {} dimensions", axis, rank);
  }
  return static_cast<int>(axis);
}

int single_axis(const Call& call, int rank) {
  if (call.attributes.axes.size() != 1) {
    fail<ValueError>(call, "takes one axis, not {}", call.attributes.axes.size());
  }
  return checked_axis(call, call.attributes.axes[0], rank);
}

Type infer_source(const Call& call) {
  const Attributes& attributes = call.attributes;
  check_allowed(call, attributes.dtype);
  if (call.op == Op::parameter && attributes.scalar && !attributes.shape.empty()) {
    fail<ShapeError>(call, "a scalar parameter is 0-d, not {}", to_string(attributes.shape));
  }
  if (call.op == Op::iota) single_axis(call, static_cast<int>(attributes.shape.size()));
  if (call.op == Op::constant) {
    const std::size_t bits = is_boolean(attributes.dtype) ? 1 : 8 * size_of(attributes.dtype);
    if (bits < 64 && attributes.bits >> bits != 0) {
      fail<ValueError>(call, "bits {:#x} are more than a {} holds", attributes.bits,
                       name_of(attributes.dtype));
    }
    return {attributes.dtype, {}};
  }
  return {attributes.dtype, attributes.shape};
}

DType elementwise_dtype(const Call& call) {
  const std::size_t count = call.operands.size();
  switch (info(call.op).rule) {
    case TypeRule::none:
      check_allowed(call, call.operand(0).dtype);
      check_allowed(call, call.attributes.dtype);
      return call.attributes.dtype;
    case TypeRule::arithmetic:
    case TypeRule::floating:
    case TypeRule::divide:
      return common_dtype(call, 0, count);
    case TypeRule::comparison:
    case TypeRule::predicate:
    case TypeRule::logical:
      common_dtype(call, 0, count);
      return DType::boolean;
    case TypeRule::select:
      require_dtype(call, 0, DType::boolean);
      return common_dtype(call, 1, count);
    case TypeRule::load_exponent:
      require_dtype(call, 1, DType::i32);
      return common_dtype(call, 0, 1);
    case TypeRule::exponent:
      common_dtype(call, 0, count);
      return DType::i32;
    case TypeRule::bit_count:
      common_dtype(call, 0, count);
      return DType::u8;
  }
  throw InternalError(fmt::format("{} has no type rule", info(call.op).name));
}

Type infer_elementwise(const Call& call) {
  Type result{elementwise_dtype(call), call.operand(0).shape};
  for (std::size_t i = 1; i < call.operands.size(); ++i) {
    if (call.operand(i).shape != result.shape) {
      result.shape = broadcast(call, result.shape, call.operand(i).shape);
    }
  }
  return result;
}

Type infer_reshape(const Call& call) {
  const auto& [dtype, shape] = call.operand(0);
  const Dim from = element_count(shape), to = element_count(call.attributes.shape);
  if (from != to) {
    fail<ShapeError>(call, "cannot reshape to {}: {} elements are not {}",
                     to_string(call.attributes.shape), from.to_string(), to.to_string());
  }
  return {dtype, call.attributes.shape};
}

Type infer_transpose(const Call& call) {
  const std::vector<std::int64_t>& axes = call.attributes.axes;
  const int rank = call.rank();
  if (static_cast<int>(axes.size()) != rank) {
    fail<ValueError>(call, "axes [{}] must name each of the {} axes once", fmt::join(axes, ","),
                     rank);
  }
  std::vector<bool> seen(axes.size());
  Type result{call.operand(0).dtype, {}};
  for (std::int64_t axis : axes) {
    const auto place = static_cast<std::size_t>(checked_axis(call, axis, rank));
    if (seen[place]) {
      fail<ValueError>(call, "axes [{}] name axis {} twice", fmt::join(axes, ","), axis);
    }
    seen[place] = true;
    result.shape.push_back(call.operand(0).shape[place]);
  }
  return result;
}

/// Whether `from` broadcasts to exactly `to`.
bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  return std::equal(from.rbegin(), from.rend(), to.rbegin(),
                    [](Dim a, Dim b) { return a == b || a == Dim(1); });
}

Type infer_broadcast_to(const Call& call) {
  const auto& [dtype, shape] = call.operand(0);
  if (!broadcasts_to(shape, call.attributes.shape)) {
    fail<ShapeError>(call, "does not broadcast to {}; extents must be equal or 1",
                     to_string(call.attributes.shape));
  }
  return {dtype, call.attributes.shape};
}

/// `room` is how far the region stays inside one end of the axis; below 0 it is outside.
void check_room(const Call& call, std::size_t axis, Dim room) {
  const Attributes& attributes = call.attributes;
  const std::int64_t step = attributes.steps[axis];
  const auto region = [&] {
    return fmt::format("start {} step {} extent {}", attributes.starts[axis].to_string(), step,
                       attributes.shape[axis].to_string());
  };
  const auto extent = [&] { return call.operand(0).shape[axis].to_string(); };
  require(call, Breach::index, room, attributes.shape[axis],
          [&] { return fmt::format("{} leaves axis {} of extent {}", region(), axis, extent()); });
  if (step != 1 && step != -1 && !room.is_non_negative()) {
    fail<IndexError>(call,
                     "{} cannot be shown to stay inside axis {} of extent {}; symbolic bounds need "
                     "a step of 1 or -1",
                     region(), axis, extent());
  }
}

/// The region of slice and slice_update: one start, step and extent an axis of operand 0, inside
/// it.
void check_region(const Call& call) {
  const Attributes& attributes = call.attributes;
  const Shape& shape = call.operand(0).shape;
  const std::size_t rank = shape.size();
  if (attributes.shape.size() != rank || attributes.starts.size() != rank ||
      attributes.steps.size() != rank) {
    fail<ShapeError>(call, "needs {} extents, starts and steps, not {}, {} and {}", rank,
                     attributes.shape.size(), attributes.starts.size(), attributes.steps.size());
  }
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t step = attributes.steps[axis];
    const Dim start = attributes.starts[axis], extent = attributes.shape[axis];
    if (step == 0) fail<ValueError>(call, "the step of axis {} is 0", axis);
    if (extent == Dim(0)) continue;
    require(call, Breach::shape, extent, 1, [&] {
      return fmt::format("axis {} has the negative extent {}", axis, extent.to_string());
    });
    const Dim last = start + (extent - 1) * step;
    check_room(call, axis, step > 0 ? start : last);
    check_room(call, axis, shape[axis] - 1 - (step > 0 ? last : start));
  }
}

Type infer_slice(const Call& call) {
  check_region(call);
  return {call.operand(0).dtype, call.attributes.shape};
}

Type infer_slice_update(const Call& call) {
  common_dtype(call, 0, 2);
  check_region(call);
  if (!broadcasts_to(call.operand(1).shape, call.attributes.shape)) {
    fail<ShapeError>(call, "the value's shape {} does not broadcast to the region's, {}",
                     to_string(call.operand(1).shape), to_string(call.attributes.shape));
  }
  return call.operand(0);
}

Type infer_concatenate(const Call& call) {
  if (call.operands.empty()) fail<ValueError>(call, "needs at least one operand");
  if (call.rank() == 0) {
    fail<ShapeError>(call, "0-d arrays cannot be concatenated; reshape them to [1]");
  }
  Type result{common_dtype(call, 0, call.operands.size()), call.operand(0).shape};
  const auto axis = static_cast<std::size_t>(single_axis(call, call.rank()));
  for (const Type& operand : call.operands.subspan(1)) {
    Shape expected = result.shape;
    if (operand.shape.size() == expected.size()) expected[axis] = operand.shape[axis];
    if (operand.shape != expected) {
      fail<ShapeError>(call, "shapes {} and {} differ elsewhere than along axis {}",
                       to_string(call.operand(0).shape), to_string(operand.shape), axis);
    }
    result.shape[axis] += operand.shape[axis];
  }
  return result;
}

enum class ReductionResult : std::uint8_t { same, boolean, index };

ReductionResult reduction_result(Op op) {
  switch (op) {
#define HD_REDUCTION(name, result, dtypes, numpy) \
  case Op::name:                                  \
    return ReductionResult::result;
#include "heddle/reductions.def"
#undef HD_REDUCTION
    default:
      throw InternalError(fmt::format("{} is not a reduction", info(op).name));
  }
}

/// Without an element, these have no answer; NumPy raises ValueError too.
bool needs_elements(Op op) {
  return op == Op::min || op == Op::max || op == Op::argmin || op == Op::argmax;
}

void check_reduced_axes(const Call& call) {
  const std::vector<std::int64_t>& axes = call.attributes.axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = checked_axis(call, axes[i], call.rank());
    if (i > 0 && axes[i - 1] >= axes[i]) {
      fail<ValueError>(call, "axes [{}] must be sorted, each named once", fmt::join(axes, ","));
    }
    if (!needs_elements(call.op)) continue;
    require(call, Breach::value, call.operand(0).shape[static_cast<std::size_t>(axis)] - 1, 1, [&] {
      return fmt::format("axis {} has no elements, and {} of none has no value", axis,
                         info(call.op).name);
    });
  }
  const bool is_index = reduction_result(call.op) == ReductionResult::index;
  if (is_index && axes.size() != 1 && static_cast<int>(axes.size()) != call.rank()) {
    fail<ValueError>(call, "takes one axis or all {}, not {}", call.rank(), axes.size());
  }
}

Type infer_reduction(const Call& call) {
  check_allowed(call, call.operand(0).dtype);
  check_reduced_axes(call);
  Type result{call.operand(0).dtype, {}};
  const ReductionResult rule = reduction_result(call.op);
  if (rule == ReductionResult::boolean) result.dtype = DType::boolean;
  if (rule == ReductionResult::index) result.dtype = DType::i64;
  auto axis = call.attributes.axes.begin();
  for (std::size_t i = 0; i < call.operand(0).shape.size(); ++i) {
    const bool reduced =
        axis != call.attributes.axes.end() && *axis == static_cast<std::int64_t>(i);
    if (reduced) ++axis;
    if (!reduced) {
      result.shape.push_back(call.operand(0).shape[i]);
    } else if (call.attributes.keepdims) {
      result.shape.emplace_back(1);
    }
  }
  return result;
}

Type infer_matmul(const Call& call) {
  const DType dtype = common_dtype(call, 0, 2);
  const Shape &a = call.operand(0).shape, &b = call.operand(1).shape;
  if (a.size() < 2 || b.size() < 2) {
    fail<ShapeError>(call,
                     "operands need at least 2 dimensions; reshape a vector to [1,n] or [n,1]");
  }
  const Dim depth_a = a.back(), depth_b = b[b.size() - 2];
  if (depth_a != depth_b) {
    fail<ShapeError>(call,
                     "the last axis of the first has extent {}, the last but one of the "
                     "second {}; they must be equal",
                     depth_a.to_string(), depth_b.to_string());
  }
  Type result{dtype, broadcast(call, Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2))};
  result.shape.push_back(a[a.size() - 2]);
  result.shape.push_back(b.back());
  return result;
}

Type infer_by_kind(const Call& call) {
  switch (info(call.op).kind) {
    case OpKind::source:
      return infer_source(call);
    case OpKind::elementwise:
      return infer_elementwise(call);
    case OpKind::reduction:
      return infer_reduction(call);
    default:
      break;
  }
  if (call.op != Op::concatenate) check_allowed(call, call.operand(0).dtype);
  switch (call.op) {
    case Op::reshape:
      return infer_reshape(call);
    case Op::transpose:
      return infer_transpose(call);
    case Op::broadcast_to:
      return infer_broadcast_to(call);
    case Op::slice:
      return infer_slice(call);
    case Op::slice_update:
      return infer_slice_update(call);
    case Op::concatenate:
      return infer_concatenate(call);
    case Op::matmul:
      return infer_matmul(call);
    default:
      throw InternalError(fmt::format("{} has no type rule", info(call.op).name));
  }
}

}  // namespace

Type infer(Op op, std::span<const Type> operands, const Attributes& attributes,
           std::vector<Requirement>* open) {
  const Call call{op, operands, attributes, open};
  const int arity = info(op).arity;
  if (arity >= 0 && operands.size() != static_cast<std::size_t>(arity)) {
    fail<ValueError>(call, "takes {} operands, not {}", arity, operands.size());
  }
  Type result = infer_by_kind(call);
  check_result(call, result);
  return result;
}

}  // namespace heddle::ir
