#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/graph/axes.h"

namespace heddle {

using frontend::Access;
using frontend::NodeRef;
using ir::Op;

namespace {

Op reduction_named(std::string_view name, const frontend::Site& site) {
  constexpr std::array allowed = {Op::sum, Op::prod, Op::min, Op::max, Op::any, Op::all};
  const auto* const found =
      std::ranges::find(allowed, name, [](Op op) { return ir::info(op).name; });
  if (found == allowed.end()) {
    throw ValueError(frontend::at(
        fmt::format("reduce_segments: '{}' is none of sum, prod, min, max, any and all", name),
        site));
  }
  return *found;
}

}  // namespace

Array reduce_segments(std::string_view reduction, const Operand& x, const Array& begins,
                      const Array& ends, std::int64_t axis) {
  const frontend::OpRecorder on{x.where()};
  const Op op = reduction_named(reduction, on.site);
  NodeRef node = frontend::node_of("reduce_segments", x);
  const std::int64_t along =
      frontend::axis_of("reduce_segments", axis, frontend::rank_of(node), on.site);
  if (op == Op::sum || op == Op::prod)
    node = on.cast(node, frontend::accumulator_dtype(node->dtype));
  return Access::make(
      on.segments(op, node, Access::node(begins, on.site), Access::node(ends, on.site), along));
}

}  // namespace heddle
