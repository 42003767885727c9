#include "frontend/numpy/sums_by_key.h"

#include <cstdint>
#include <limits>

#include "ir/calls/calls.h"
#include "runtime/device/backend.h"

namespace heddle::frontend {

using ir::Op;

namespace {

NodeRef whole(double value, DType dtype, ir::Dim length, const OpRecorder& on) {
  return broadcast_to_shape(record_constant(dtype, value), {length}, on.site);
}

}  // namespace

DType key_dtype(ir::Dim greatest) {
  if (!greatest.is_constant()) return DType::i64;
  const std::int64_t value = greatest.constant();
  if (value <= std::numeric_limits<std::uint8_t>::max()) return DType::u8;
  if (value <= std::numeric_limits<std::uint16_t>::max()) return DType::u16;
  return value <= std::numeric_limits<std::uint32_t>::max() ? DType::u32 : DType::i64;
}

namespace {

/// The sums of segments [begin, end) of the values, which are in order. A processor adds each
/// segment by itself. On a GPU a scan divides the work evenly, however long the segments are; the
/// last element of a segment is then its sum.
NodeRef segment_sums(const NodeRef& values, const NodeRef& sorted, const NodeRef& begin,
                     const NodeRef& end, const OpRecorder& on) {
  if (runtime::capabilities_of(runtime::current_device()).host_memory)
    return on.segments(Op::sum, values, begin, end, 0);
  const NodeRef none = record_constant(DType::i64, 0), one = record_constant(DType::i64, 1);
  const NodeRef before = on(Op::maximum, on(Op::subtract, on.places(sorted->shape[0]), one), none);
  const NodeRef begins = on(Op::not_equal, sorted, on.gather(sorted, before, 0));
  ir::Attributes along;
  along.axes = {0};
  const NodeRef sums = record(Op::cumsum, {values, begins}, along, on.site);
  return on.gather(sums, on(Op::maximum, on(Op::subtract, end, one), none), 0);
}

}  // namespace

NodeRef sums_by_key(const NodeRef& values, const NodeRef& keys, ir::Dim length,
                    const OpRecorder& on) {
  const DType dtype = values->dtype;
  if (keys->shape[0] == ir::Dim(0) || length == ir::Dim(0)) return whole(0, dtype, length, on);
  const NodeRef narrow = on.cast(keys, key_dtype(length));
  const NodeRef order = on.sort(ir::calls::argsort(), narrow, 0);
  const NodeRef sorted = on.gather(narrow, order, 0);
  const NodeRef names = on.cast(on.places(length), narrow->dtype);
  const NodeRef begin = on(Op::searchsorted_left, sorted, names);
  const NodeRef end = on(Op::searchsorted_right, sorted, names);
  const NodeRef sums = segment_sums(on.gather(values, order, 0), sorted, begin, end, on);
  const NodeRef zero = record_constant(dtype, 0);
  // Add 0, which turns a sum of only -0 into +0.
  return on(Op::select, on(Op::less, begin, end), on(Op::add, sums, zero), zero);
}

}  // namespace heddle::frontend
