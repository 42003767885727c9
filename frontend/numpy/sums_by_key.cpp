#include "frontend/numpy/sums_by_key.h"

#include <cstdint>
#include <limits>

#include "ir/calls/calls.h"

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

NodeRef sums_by_key(const NodeRef& values, const NodeRef& keys, ir::Dim length,
                    const OpRecorder& on) {
  const DType dtype = values->dtype;
  const ir::Dim count = keys->shape[0];
  if (count == ir::Dim(0) || length == ir::Dim(0)) return whole(0, dtype, length, on);
  const NodeRef none = record_constant(DType::i64, 0), one = record_constant(DType::i64, 1);
  const NodeRef narrow = on.cast(keys, key_dtype(length));
  const NodeRef order = on.sort(ir::calls::argsort(), narrow, 0);
  const NodeRef sorted = on.gather(narrow, order, 0);
  const NodeRef before = on(Op::maximum, on(Op::subtract, on.places(count), one), none);
  const NodeRef begins = on(Op::not_equal, sorted, on.gather(sorted, before, 0));
  ir::Attributes along;
  along.axes = {0};
  const NodeRef sums = record(Op::cumsum, {on.gather(values, order, 0), begins}, along, on.site);
  // The last element of a segment is its sum.
  const NodeRef names = on.cast(on.places(length), narrow->dtype);
  const NodeRef begin = on(Op::searchsorted_left, sorted, names);
  const NodeRef end = on(Op::searchsorted_right, sorted, names);
  const NodeRef last = on(Op::maximum, on(Op::subtract, end, one), none);
  const NodeRef zero = record_constant(dtype, 0);
  // Add 0, which turns a sum of only -0 into +0.
  const NodeRef total = on(Op::add, on.gather(sums, last, 0), zero);
  return on(Op::select, on(Op::less, begin, end), total, zero);
}

}  // namespace heddle::frontend
