#include "ir/infer/call.h"

namespace heddle::ir {
namespace {

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

/// Whether the op is undefined over zero elements; NumPy raises ValueError for these too.
bool needs_elements(Op op) {
  return op == Op::min || op == Op::max || op == Op::argmin || op == Op::argmax;
}

void check_reduced_axes(const Call& call, bool in_segments) {
  const std::vector<std::int64_t>& axes = call.attributes.axes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = checked_axis(call, axes[i], call.rank());
    if (i > 0 && axes[i - 1] >= axes[i]) {
      fail<ValueError>(call, "axes [{}] must be sorted, each named once", fmt::join(axes, ","));
    }
    if (!needs_elements(call.op) || in_segments) continue;
    require(call, Requirement::Breach::value,
            call.operand(0).shape[static_cast<std::size_t>(axis)] - 1, 1, [&] {
              return fmt::format("axis {} has no elements, and {} of no elements is undefined",
                                 axis, info(call.op).name);
            });
  }
  const bool is_index = reduction_result(call.op) == ReductionResult::index;
  if (is_index && axes.size() != 1 && static_cast<int>(axes.size()) != call.rank()) {
    fail<ValueError>(call, "takes one axis or all {}, not {}", call.rank(), axes.size());
  }
}

/// Checks operands 1 and 2, the begins and ends of segments of the reduced axis.
void check_segments(const Call& call) {
  single_axis(call, call.rank());
  if (reduction_result(call.op) == ReductionResult::index || call.attributes.keepdims) {
    fail<ValueError>(call, "argmin, argmax and keepdims are not for reductions of segments");
  }
  for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
    if (!is_integer(call.operand(k).dtype)) {
      fail<DTypeError>(call, "operand {} gives positions on the reduced axis, and must be integers",
                       k);
    }
  }
  if (call.operand(1).shape.size() != 1 || call.operand(1).shape != call.operand(2).shape) {
    fail<ShapeError>(call,
                     "operands 1 and 2 are the begins and ends of the segments, and must be 1-d "
                     "and of one length");
  }
}

}  // namespace

Type infer_reduction(const Call& call) {
  if (call.operands.size() != 1 && call.operands.size() != 3) {
    fail<ValueError>(
        call,
        "takes the operand to reduce and, optionally, the begins and ends of segments, "
        "not {} operands",
        call.operands.size());
  }
  const bool in_segments = call.operands.size() == 3;
  check_allowed(call, call.operand(0).dtype);
  check_reduced_axes(call, in_segments);
  if (in_segments) check_segments(call);
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
    } else if (in_segments) {
      result.shape.push_back(call.operand(1).shape[0]);
    } else if (call.attributes.keepdims) {
      result.shape.emplace_back(1);
    }
  }
  return result;
}
}  // namespace heddle::ir
