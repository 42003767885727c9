#include "heddle/searching.h"

#include <fmt/format.h>

#include "frontend/ordering.h"
#include "frontend/promote.h"
#include "frontend/searching.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::Composer;
using frontend::NodeRef;
using ir::Op;

namespace frontend {

Searched promoted_search(std::string_view op, const Operand& sorted, const Operand& values) {
  const Operand* operands[] = {&sorted, &values};
  const DType dtype = common_dtype(operands);
  const Composer on{sorted.where()};
  Searched result{node_of(op, sorted, dtype), node_of(op, values, dtype)};
  if (result.sorted->shape.size() != 1) {
    throw ShapeError(at(fmt::format("{}({}, {}): what is searched needs one axis", op,
                                    describe(*result.sorted), describe(*result.values)),
                        sorted.where()));
  }
  if (is_boolean(dtype)) {
    result.sorted = on.cast(result.sorted, DType::u8);
    result.values = on.cast(result.values, DType::u8);
  }
  return result;
}

}  // namespace frontend

namespace {

Op search_op(std::string_view side, const SourceLocation& site) {
  if (side == "left") return Op::searchsorted_left;
  if (side == "right") return Op::searchsorted_right;
  throw ValueError(
      at(fmt::format("searchsorted: side is \"left\" or \"right\", not \"{}\"", side), site));
}

}  // namespace

Array searchsorted(const Operand& sorted, const Operand& values, std::string_view side,
                   const Array& sorter) {
  const SourceLocation site = sorted.where();
  const Composer on{site};
  const Op op = search_op(side, site);
  frontend::Searched what = frontend::promoted_search("searchsorted", sorted, values);
  if (sorter.has_value()) {
    const NodeRef order = frontend::node_of("searchsorted", {sorter, site});
    if (order->shape != what.sorted->shape || !is_integer(order->dtype)) {
      throw ShapeError(at(fmt::format("searchsorted: the sorter is {}, and what is searched {}; it "
                                      "needs the same shape and integers",
                                      frontend::describe(*order), frontend::describe(*what.sorted)),
                          site));
    }
    if (!(what.sorted->shape[0] == ir::Dim(0))) what.sorted = on.gather(what.sorted, order, 0);
  }
  return Access::make(on(op, what.sorted, what.values));
}

Array digitize(const Operand& x, const Operand& bins, bool right) {
  const Composer on{x.where()};
  const frontend::Searched what = frontend::promoted_search("digitize", bins, x);
  const ir::Dim length = what.sorted->shape[0];
  const Op op = right ? Op::searchsorted_left : Op::searchsorted_right;
  if (length == ir::Dim(0)) return Access::make(on(op, what.sorted, what.values));
  // Which way the bins go is only known with their values.
  const NodeRef first = on.reshape(on.part(what.sorted, 0, 0, 1), {});
  const NodeRef last = on.reshape(on.part(what.sorted, 0, length - 1, 1), {});
  const NodeRef falls = on(Op::greater, first, last);
  const NodeRef rising = on(Op::select, falls, on.flip(what.sorted, 0), what.sorted);
  const NodeRef found = on(op, rising, what.values);
  return Access::make(on(Op::select, falls, on(Op::subtract, on.extent(length), found), found));
}

}  // namespace heddle
