#include "frontend/array/bounds.h"

#include <algorithm>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include "frontend/array/ordering.h"
#include "frontend/array/region.h"
#include "frontend/evaluate/checks.h"
#include "frontend/graph/axes.h"
#include "ir/base/environment.h"

namespace heddle::frontend {
namespace {

using ir::Op;

bool is_checking() {
  static const bool checking = ir::flag(ir::Variable::check_bounds, false);
  return checking;
}

/// Indices beyond this limit are reported as the limit, because the encoding in a status doubles
/// them.
constexpr std::int64_t farthest = std::int64_t{1} << 61;

/// Decodes 0, 1, 2, 3 ... to 0, -1, 1, -2 ... Codes are not negative, because a status of -1 means
/// success.
constexpr std::int64_t decoded(std::int64_t code) {
  return code % 2 == 0 ? code / 2 : -(code / 2) - 1;
}

NodeRef encoded(const NodeRef& index, const OpRecorder& on) {
  const NodeRef zero = record_constant(DType::i64, 0);
  const NodeRef twice = on(Op::add, index, index);
  return on(Op::select, on(Op::less, index, zero), on(Op::invert, twice), twice);
}

/// The indices as i64, clamped to [-farthest, farthest]. As in NumPy and in take_at(), u64 numbers
/// beyond the range of i64 are negative.
NodeRef bounded(const NodeRef& index, const OpRecorder& on) {
  const NodeRef wide = on.cast(index, DType::i64);
  if (size_of(index->dtype) < size_of(DType::i64)) return wide;
  const auto limit = static_cast<double>(farthest);
  return on(Op::maximum, on(Op::minimum, wide, record_constant(DType::i64, limit)),
            record_constant(DType::i64, -limit));
}

/// Makes a status a failure: the code of an index out of range, or -1.
void report_outside(const char* what, const NodeRef& status, const NodeRef& node, std::size_t axis,
                    const SourceLocation& where) {
  auto message = [axis, extent = node->shape[axis], array = describe(*node),
                  where](std::int64_t code) {
    return at(out_of_bounds(decoded(code), axis, array, extent), where);
  };
  Check check{status,
              std::make_shared<const std::function<std::string(std::int64_t)>>(std::move(message)),
              FailureKind::index};
  check_recorded(what, std::move(check), {}, RaiseFailure::at_once, where);
}

}  // namespace

std::string out_of_bounds(std::int64_t index, std::size_t axis, const std::string& array,
                          ir::Dim extent) {
  return fmt::format("index {} is out of bounds for axis {} of {}, whose extent is {}", index, axis,
                     array, extent.to_string());
}

void check_bounds(const char* what, const NodeRef& index, const NodeRef& node, std::size_t axis,
                  const SourceLocation& where) {
  if (!is_checking() || ir::element_count(index->shape) == ir::Dim(0)) return;
  const OpRecorder on{where};
  const ir::Dim extent = node->shape[axis];
  const NodeRef place = bounded(index, on), end = on.extent(extent);
  const NodeRef outside = on(Op::logical_or, on(Op::greater_equal, place, end),
                             on(Op::less, place, on(Op::negative, end)));
  const NodeRef codes =
      on(Op::select, outside, encoded(place, on), record_constant(DType::i64, -1));
  const NodeRef status =
      index->shape.empty() ? codes : on.reduce(Op::max, codes, all_axes(rank_of(codes)));
  report_outside(what, status, node, axis, where);
}

void check_known(const char* what, const NodeRef& node, std::size_t axis, std::int64_t least,
                 std::int64_t greatest, const SourceLocation& where) {
  if (node->shape[axis].is_constant()) {
    check_index(node, axis, least, where);
    return check_index(node, axis, greatest, where);
  }
  const OpRecorder on{where};
  const auto number = [](std::int64_t value) {
    const std::int64_t near = std::clamp(value, -farthest, farthest);
    return record_constant(DType::i64, static_cast<double>(near));
  };
  const NodeRef first = number(least), last = number(greatest), end = on.extent(node->shape[axis]);
  const NodeRef below = on(Op::less, first, on(Op::negative, end));
  const NodeRef codes = on(Op::select, below, encoded(first, on), number(-1));
  const NodeRef status = on(Op::select, on(Op::greater_equal, last, end), encoded(last, on), codes);
  report_outside(what, status, node, axis, where);
}

}  // namespace heddle::frontend
