#include <algorithm>
#include <bit>
#include <cstdint>

#include "heddle/sparse.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/evaluate/checks.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/sparse/entries.h"
#include "runtime/device/backend.h"

namespace heddle::sparse {

using frontend::Access;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

namespace {

/// The elements of a piece: some for each thread that sums it, and a whole row of most rows.
std::int64_t piece_length(std::int64_t elements, std::int64_t rows) {
  constexpr std::int64_t least = 256, means = 8;
  const auto mean = static_cast<std::uint64_t>(elements / std::max<std::int64_t>(rows, 1));
  return std::max<std::int64_t>(least, means * static_cast<std::int64_t>(std::bit_ceil(mean)));
}

/// The longest row that is not cut. On a GPU the threads of a block share it. A thread of a CPU has
/// it alone, and pieces cost a second pass over all rows, so only a row with much of the work is
/// cut.
std::int64_t longest_whole(std::int64_t elements, std::int64_t piece) {
  constexpr std::int64_t pieces = 4, part = 4;
  const bool blocks = runtime::capabilities_of(runtime::current_device()).thread_blocks;
  return blocks ? pieces * piece : std::max(pieces * piece, elements / part);
}

}  // namespace

std::optional<Pieces> pieces_of(const Csr& a, SourceLocation where) {
  constexpr std::int64_t few = 1 << 16;
  const OpRecorder on{where};
  frontend::refuse_count_in_trace("pieces_of", where);
  const frontend::Compressed matrix = frontend::nodes_of(a, where);
  if (!matrix.count.is_constant() || matrix.count.constant() < few) return std::nullopt;
  if (frontend::waiting_forbidden() || frontend::is_captured(runtime::current_device()))
    return std::nullopt;
  const ir::Dim rows(a.shape[0]), one_row(1);
  const std::int64_t length = piece_length(matrix.count.constant(), a.shape[0]);
  const auto number = [](std::int64_t value) {
    return record_constant(DType::i64, static_cast<double>(value));
  };
  const NodeRef bounds = on.cast(matrix.indptr, DType::i64);
  const NodeRef begins = on.part(bounds, 0, 0, rows), ends = on.part(bounds, 0, one_row, rows);
  const NodeRef lengths = on(Op::subtract, ends, begins);
  // An empty row has a piece as well.
  const NodeRef whole =
      on(Op::floor_divide, on(Op::add, lengths, number(length - 1)), number(length));
  const NodeRef up_to = on.reduce(Op::cumsum, on(Op::maximum, whole, number(1)), {0});
  const Array found[] = {Access::make(on.reduce(Op::max, lengths, {0})),
                         Access::make(on.part(up_to, 0, rows - ir::Dim(1), one_row)),
                         Access::make(up_to)};
  eval(found);
  if (found[0].item<std::int64_t>(where) <= longest_whole(matrix.count.constant(), length))
    return std::nullopt;
  const ir::Dim count(found[1].item<std::int64_t>(where));
  const NodeRef place = on.places(count);
  const NodeRef row = on(Op::searchsorted_right, up_to, place);
  const NodeRef first = on(Op::subtract, up_to, on(Op::maximum, whole, number(1)));
  const NodeRef inside = on(Op::subtract, place, frontend::pick(first, row, on));
  const NodeRef begin =
      on(Op::add, frontend::pick(begins, row, on), on(Op::multiply, inside, number(length)));
  const NodeRef last = on.part(bounds, 0, rows, one_row);
  const auto joined = [&](const NodeRef& a, const NodeRef& b) {
    ir::Attributes along;
    along.axes = {0};
    return Access::make(
        on.cast(frontend::record(Op::concatenate, {a, b}, along, where), matrix.indptr->dtype));
  };
  Pieces made{joined(begin, last), joined(on.part(on.places(1), 0, 0, one_row), up_to)};
  const Array arrays[] = {made.begins, made.rows};
  eval(arrays);
  return made;
}

}  // namespace heddle::sparse
