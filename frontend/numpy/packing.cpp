#include "heddle/packing.h"

#include <algorithm>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"

namespace heddle {

using frontend::Access;
using frontend::Along;
using frontend::at;
using frontend::describe;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

namespace {

constexpr std::int64_t byte_bits = 8;

/// The array and its axis. Without an axis or for a 0-d array, the flattened array.
Along along(std::string_view op, const Operand& x, std::optional<std::int64_t> axis,
            const OpRecorder& on) {
  NodeRef node = frontend::node_of(op, x);
  if (!axis || node->shape.empty()) node = on.flat(node);
  return {node, frontend::axis_of(op, axis.value_or(0), frontend::rank_of(node), on.site)};
}

bool is_big(std::string_view op, std::string_view bitorder, const OpRecorder& on) {
  if (bitorder == "big" || bitorder == "little") return bitorder == "big";
  throw ValueError(
      at(fmt::format("{}: the bit order is \"big\" or \"little\", not \"{}\"", op, bitorder),
         on.site));
}

/// Appends zeros along the axis.
NodeRef with_zeros(const Along& x, std::int64_t count, const OpRecorder& on) {
  if (count == 0) return x.node;
  ir::Shape shape = x.node->shape;
  shape[static_cast<std::size_t>(x.axis)] = count;
  const NodeRef zero = record_constant(x.node->dtype, 0);
  const NodeRef parts[] = {x.node, frontend::broadcast_to_shape(zero, std::move(shape), on.site)};
  return frontend::join_along(parts, x.axis, on.site);
}

}  // namespace

Array packbits(const Operand& x, std::optional<std::int64_t> axis, std::string_view bitorder) {
  const OpRecorder on{x.where()};
  const bool big = is_big("packbits", bitorder, on);
  Along flags = along("packbits", x, axis, on);
  if (is_inexact(flags.node->dtype)) {
    throw DTypeError(at(fmt::format("packbits({}): takes integers or bools; compare with 0 first",
                                    describe(*flags.node)),
                        on.site));
  }
  const std::int64_t extent = constant_extent("packbits", flags.node, flags.axis, on.site);
  const std::int64_t bytes = (extent + byte_bits - 1) / byte_bits;
  flags.node = on.cast(flags.node, DType::boolean);
  flags.node = with_zeros(flags, bytes * byte_bits - extent, on);
  NodeRef result;
  for (std::int64_t bit = 0; bit < byte_bits; ++bit) {
    const NodeRef each =
        frontend::slice_along(flags.node, flags.axis, bit, bytes, byte_bits, on.site);
    const auto place = static_cast<double>(big ? byte_bits - 1 - bit : bit);
    const NodeRef shifted =
        on(Op::left_shift, on.cast(each, DType::u8), record_constant(DType::u8, place));
    result = bit == 0 ? shifted : on(Op::bitwise_or, result, shifted);
  }
  return Access::make(result);
}

Array unpackbits(const Operand& x, std::optional<std::int64_t> axis,
                 std::optional<std::int64_t> count, std::string_view bitorder) {
  const OpRecorder on{x.where()};
  const bool big = is_big("unpackbits", bitorder, on);
  const Along bytes = along("unpackbits", x, axis, on);
  if (bytes.node->dtype != DType::u8) {
    throw DTypeError(
        at(fmt::format("unpackbits({}): takes uint8", describe(*bytes.node)), on.site));
  }
  const std::int64_t bits =
      byte_bits * constant_extent("unpackbits", bytes.node, bytes.axis, on.site);
  const std::int64_t wanted = !count ? bits : *count < 0 ? bits + *count : *count;
  if (wanted < 0) {
    throw ValueError(
        at(fmt::format("unpackbits: the count {} leaves out more than the {} bits of the axis",
                       *count, bits),
           on.site));
  }
  const std::int64_t inner = bytes.axis + 1;
  const NodeRef each = frontend::insert_axis(bytes.node, inner, on.site);
  ir::Shape one_byte(each->shape.size(), 1);
  one_byte[static_cast<std::size_t>(inner)] = byte_bits;
  NodeRef place = frontend::record_iota(std::move(one_byte), inner, DType::u8, on.site);
  if (big) place = on(Op::subtract, record_constant(DType::u8, byte_bits - 1), place);
  const NodeRef bit =
      on(Op::bitwise_and, on(Op::right_shift, each, place), record_constant(DType::u8, 1));
  ir::Shape shape = bytes.node->shape;
  shape[static_cast<std::size_t>(bytes.axis)] = bits;
  const NodeRef all = on.reshape(bit, std::move(shape));
  const NodeRef kept = on.part(all, bytes.axis, 0, std::min(wanted, bits));
  return Access::make(with_zeros({kept, bytes.axis}, std::max<std::int64_t>(wanted - bits, 0), on));
}

}  // namespace heddle
