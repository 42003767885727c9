#include <utility>

#include "heddle/sparse.h"

#include "frontend/array/access.h"
#include "frontend/graph/axes.h"
#include "frontend/sparse/entries.h"

namespace heddle::sparse {

using frontend::Access;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

Csr take_rows(const Csr& a, const Array& rows, SourceLocation where) {
  const OpRecorder on{where};
  frontend::refuse_count_in_trace("take_rows", where);
  const auto [data, indices, indptr, count] = frontend::nodes_of(a, where);
  const NodeRef wanted = on.cast(Access::node(rows, where), DType::i64);
  const std::int64_t taken = frontend::constant_extent("take_rows", wanted, 0, where);
  const Extents shape{taken, a.shape[1]};
  const NodeRef wide = on.cast(indptr, DType::i64);
  if (taken == 0 || count == ir::Dim(0)) {
    const NodeRef none = on.places(0);
    Csr made = frontend::compressed(on.cast(none, data->dtype), none, none, shape, indices->dtype,
                                    true, on);
    return made;
  }
  const ir::Dim extent(a.shape[0]);
  const NodeRef begin = frontend::pick(on.part(wide, 0, 0, extent), wanted, on);
  const NodeRef end = frontend::pick(on.part(wide, 0, ir::Dim(1), extent), wanted, on);
  const NodeRef length = on(Op::subtract, end, begin);
  const NodeRef ends = on.reduce(Op::cumsum, length, {0});
  const NodeRef total = on.part(ends, 0, ir::Dim(taken - 1), ir::Dim(1));
  const Array both[] = {Access::make(ends), Access::make(total)};
  eval(both);
  const ir::Dim kept(both[1].item<std::int64_t>(where));
  const NodeRef place = on.places(kept);
  const NodeRef row = on(Op::searchsorted_right, ends, place);
  const NodeRef inside =
      on(Op::subtract, place, frontend::pick(on(Op::subtract, ends, length), row, on));
  const NodeRef source = on(Op::add, frontend::pick(begin, row, on), inside);
  Csr made = frontend::compressed(frontend::pick(data, source, on), row,
                                  frontend::pick(indices, source, on), shape, indices->dtype,
                                  a.canonical, on);
  made.sorted = a.sorted;
  return made;
}

Array elements(const Csr& matrix, const Array& rows, const Array& columns, SourceLocation where) {
  const OpRecorder on{where};
  const Csr a = sum_duplicates(matrix, where);
  const auto [data, indices, indptr, count] = frontend::nodes_of(a, where);
  const NodeRef row = Access::node(rows, where);
  const NodeRef zero = record_constant(data->dtype, 0);
  if (count == ir::Dim(0))
    return Access::make(frontend::broadcast_to_shape(zero, row->shape, where));
  const NodeRef stored =
      frontend::joined(frontend::segment_of(indptr, count, on), indices, a.shape[1], on);
  const NodeRef wanted = frontend::joined(row, Access::node(columns, where), a.shape[1], on);
  const NodeRef place =
      on(Op::minimum, on(Op::searchsorted_left, stored, wanted), on.extent(count - ir::Dim(1)));
  const NodeRef found = on(Op::equal, frontend::pick(stored, place, on), wanted);
  return Access::make(on(Op::select, found, frontend::pick(data, place, on), zero));
}

}  // namespace heddle::sparse
