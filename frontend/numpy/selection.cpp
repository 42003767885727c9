#include "heddle/selection.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;
using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record;
using frontend::Site;
using ir::Op;

Array select(Arrays conditions, Arrays choices, const Operand& fallback) {
  const SourceLocation place = fallback.where();
  if (conditions.size() != choices.size() || conditions.empty()) {
    throw ValueError(
        at(fmt::format("select: {} conditions for {} choices", conditions.size(), choices.size()),
           place));
  }
  std::vector<Operand> operands;
  for (const Array& choice : choices) operands.emplace_back(choice, place);
  std::vector<const Operand*> all{&fallback};
  for (const Operand& operand : operands) all.push_back(&operand);
  const DType dtype = frontend::common_dtype(all);
  NodeRef result = frontend::node_of("select", fallback, dtype);
  for (std::size_t i = choices.size(); i-- > 0;) {
    const NodeRef condition = Access::node(conditions[i], place);
    if (!is_boolean(condition->dtype)) {
      throw DTypeError(
          at(fmt::format("select: a condition is {}, not bool", frontend::describe(*condition)),
             place));
    }
    result = record(Op::select,
                    {condition, frontend::node_of("select", operands[i], dtype), result}, place);
  }
  return Access::make(result);
}

Array choose(const Operand& index, Arrays choices, std::string_view mode) {
  const SourceLocation place = index.where();
  const AtLocation here(index);
  if (mode != "raise" && mode != "wrap" && mode != "clip") {
    throw ValueError(at(fmt::format("choose: there is no mode '{}'", mode), place));
  }
  std::vector<NodeRef> nodes = frontend::promoted("choose", choices, place);
  NodeRef which = frontend::node_of("choose", index);
  if (is_inexact(which->dtype)) {
    throw DTypeError(at(
        fmt::format("choose: the indices {} are no integers", frontend::describe(*which)), place));
  }
  const auto count = static_cast<std::int64_t>(choices.size());
  if (mode == "wrap") {
    const Array wide = astype(index, DType::i64);
    which = Access::node(remainder(here(wide), here(Scalar(count))), place);
  }
  NodeRef result = nodes.back();
  for (std::size_t i = nodes.size() - 1; i-- > 0;) {
    const Array below =
        less_equal(here(Access::make(which)), here(Scalar(static_cast<std::int64_t>(i))));
    result = record(Op::select, {Access::node(below, place), nodes[i], result}, place);
  }
  ir::Shape shape = which->shape;
  for (const NodeRef& node : nodes) {
    shape = frontend::located(place, [&] { return ir::broadcast_shapes(shape, node->shape); });
  }
  return Access::make(frontend::broadcast_to_shape(result, std::move(shape), place));
}

namespace {

/// The array after values are written through a mask.
Array overwritten(const char* op, const Array& before, NodeRef values, const Array& mask,
                  const Site& site) {
  const NodeRef node = Access::node(before, SourceLocation());
  values = frontend::broadcast_to_shape(values, node->shape, site);
  if (!mask.has_value()) return Access::make(values);
  NodeRef chosen = Access::node(mask, SourceLocation());
  if (!is_boolean(chosen->dtype)) {
    throw DTypeError(
        at(fmt::format("{}: the mask {} is not bool", op, frontend::describe(*chosen)), site));
  }
  chosen = frontend::broadcast_to_shape(chosen, node->shape, site);
  return Access::make(record(Op::select, {chosen, values, node}, site));
}

}  // namespace

void copyto(Array& destination, const Operand& source, const Array& mask) {
  const DType dtype = Access::node(destination, source.where())->dtype;
  if (!frontend::holds_kind_of(source, dtype)) {
    const std::string what = source.array() == nullptr
                                 ? frontend::text_of(source.scalar())
                                 : frontend::describe(*frontend::node_of("copyto", source));
    throw DTypeError(at(fmt::format("copyto: {} cannot be written to an array of {}; cast it first",
                                    what, numpy_name_of(dtype)),
                        source.where()));
  }
  const NodeRef element = frontend::element_node("copyto", source, dtype);
  const auto rank = static_cast<std::size_t>(destination.ndim());
  const NodeRef values = frontend::fit_rank(element, rank, source.where());
  destination = overwritten("copyto", destination, values, mask, source.where());
}

void putmask(Array& x, const Array& mask, const Operand& values) {
  const Site site = values.where();
  const NodeRef node = Access::node(x, values.where());
  const NodeRef chosen = Access::node(mask, values.where());
  if (chosen->shape != node->shape) {
    throw ShapeError(at(fmt::format("putmask: the mask {} is not of the shape of {}",
                                    frontend::describe(*chosen), frontend::describe(*node)),
                        site));
  }
  const NodeRef flat =
      frontend::flatten(frontend::element_node("putmask", values, node->dtype), site);
  if (frontend::constant_extent("putmask", flat, 0, site) == 0) return;
  const std::int64_t count =
      frontend::constant_extent("putmask", frontend::flatten(node, site), 0, site);
  const NodeRef repeated =
      frontend::reshape_to(frontend::periodic(flat, 0, 0, count, site), node->shape, site);
  const Array bools = astype({mask, values.where()}, DType::boolean);
  x = overwritten("putmask", x, repeated, bools, site);
}

namespace {

/// For each element of a flattened mask, the value at its rank among the true elements.
NodeRef values_in_turn(const NodeRef& chosen, const NodeRef& values, const OpRecorder& on) {
  if (values->shape[0] == ir::Dim(1)) return values;
  const NodeRef counts = on.reduce(Op::cumsum, on.cast(chosen, DType::i64), {0});
  const NodeRef rank = on(Op::subtract, counts, frontend::record_constant(DType::i64, 1));
  return on.gather(values, on(Op::remainder, rank, on.extent(values->shape[0])), 0);
}

}  // namespace

void place(Array& x, const Array& mask, const Operand& values) {
  const OpRecorder on{values.where()};
  const NodeRef node = Access::node(x, values.where());
  const NodeRef chosen = on.flat(on.cast(Access::node(mask, values.where()), DType::boolean));
  const NodeRef flat = on.flat(node);
  if (chosen->shape != flat->shape) {
    throw ShapeError(at(fmt::format("place({}): the mask {} must have the same number of elements",
                                    frontend::describe(*node), frontend::describe(*chosen)),
                        on.site));
  }
  const NodeRef given = on.flat(frontend::element_node("place", values, node->dtype));
  if (values.array() != nullptr && !can_cast(values.array()->dtype(), node->dtype)) {
    throw DTypeError(
        at(fmt::format("place: values of {} cannot be written to an array of {}; cast "
                       "them first",
                       numpy_name_of(values.array()->dtype()), numpy_name_of(node->dtype)),
           on.site));
  }
  if (flat->shape[0] == ir::Dim(0)) return;
  if (given->shape[0] == ir::Dim(0)) throw ValueError(at("place: there are no values", on.site));
  const NodeRef changed = on(Op::select, chosen, values_in_turn(chosen, given, on), flat);
  x = Access::make(on.reshape(changed, node->shape));
}

namespace {

NodeRef value_of(const Piece& piece, const NodeRef& x, const SourceLocation& site) {
  if (const auto* scalar = std::get_if<Scalar>(&piece.value()))
    return frontend::element_node("piecewise", Operand(*scalar, site), x->dtype);
  const Array value = std::get<Piece::Function>(piece.value())(Access::make(x));
  return frontend::element_node("piecewise", Operand(value, site), x->dtype);
}

}  // namespace

Array piecewise(const Operand& x, Arrays conditions, std::span<const Piece> pieces) {
  const SourceLocation site = x.where();
  const NodeRef node = frontend::node_of("piecewise", x);
  if (pieces.size() != conditions.size() && pieces.size() != conditions.size() + 1) {
    throw ValueError(at(fmt::format("piecewise({}): {} pieces for {} conditions; only one more "
                                    "piece is allowed, for where no condition is true",
                                    frontend::describe(*node), pieces.size(), conditions.size()),
                        site));
  }
  const bool has_rest = pieces.size() > conditions.size();
  NodeRef result =
      has_rest ? value_of(pieces.back(), node, site) : frontend::record_constant(node->dtype, 0);
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    NodeRef condition = Access::node(conditions[i], site);
    if (condition->shape != node->shape) {
      throw ShapeError(
          at(fmt::format("piecewise: condition {} is {}, and x {}; they need one shape", i,
                         frontend::describe(*condition), frontend::describe(*node)),
             site));
    }
    condition = frontend::cast_to(condition, DType::boolean, site);
    result = record(Op::select, {condition, value_of(pieces[i], node, site), result}, site);
  }
  return Access::make(frontend::broadcast_to_shape(result, node->shape, site));
}

}  // namespace heddle
