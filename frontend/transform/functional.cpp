#include "heddle/functional.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/ordering.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/transform/vmap.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::NodeRef;
using frontend::OpRecorder;

namespace {

using LineFunction = std::function<Array(const Array&)>;

/// Records the function on one slice and vectorises it over all slices; none if that is impossible.
std::optional<NodeRef> traced(const LineFunction& function, const NodeRef& lines,
                              const Operand& x) {
  const frontend::Site site(x.where());
  const auto of_line = [&](const std::vector<Array>& line) {
    return std::vector<Array>{function(line[0])};
  };
  try {
    const frontend::TracedBody body("apply_along_axis", of_line,
                                    {{lines->dtype, {lines->shape[1]}}}, x.where());
    if (!body.checks().empty()) return std::nullopt;  // failures must be separate for each slice
    const ir::Dim count = lines->shape[0];
    const auto made = frontend::vmap_body(body, {{lines, true}}, count, x.where());
    return frontend::SliceRecorder(count, x.where()).with_slices(made[0], site);
  } catch (const TraceError&) {
    return std::nullopt;
  }
}

/// Calls the function on each slice in turn.
NodeRef one_by_one(const LineFunction& function, const NodeRef& lines, const OpRecorder& on) {
  const std::int64_t count = frontend::constant_extent("apply_along_axis", lines, 0, on.site);
  std::vector<Array> results;
  for (std::int64_t i = 0; i < count; ++i) {
    const NodeRef line = on.reshape(on.part(lines, 0, i, 1), {lines->shape[1]});
    results.push_back(function(Access::make(line)));
    if (results[i].dtype() != results[0].dtype())
      results[i] = astype({results[i], on.site}, results[0].dtype());
  }
  return Access::node(stack(results, 0, on.site), on.site);
}

}  // namespace

Array apply_along_axis(const LineFunction& function, std::int64_t axis, const Operand& x) {
  const OpRecorder on{x.where()};
  const NodeRef node = frontend::node_of("apply_along_axis", x);
  const int rank = frontend::rank_of(node);
  axis = frontend::axis_of("apply_along_axis", axis, rank, on.site);
  // Move the axis to the end and merge all others, so that each row is a slice.
  std::vector<std::int64_t> order = frontend::all_axes(rank);
  std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
  const NodeRef front = on.transpose(node, std::move(order));
  const ir::Shape others(front->shape.begin(), front->shape.end() - 1);
  const ir::Dim count = ir::element_count(others);
  if (count == ir::Dim(0)) {
    throw ValueError(at(fmt::format("apply_along_axis: {} has no 1-d slices along axis {}",
                                    frontend::describe(*node), axis),
                        on.site));
  }
  const NodeRef lines = on.reshape(front, {count, front->shape.back()});
  const std::optional<NodeRef> together = traced(function, lines, x);
  const NodeRef results = together ? *together : one_by_one(function, lines, on);
  ir::Shape shape = others;
  shape.insert(shape.end(), results->shape.begin() + 1, results->shape.end());
  const NodeRef unfolded = on.reshape(results, std::move(shape));
  // Move the axes of one result to where the axis was.
  std::vector<std::int64_t> places = frontend::all_axes(frontend::rank_of(unfolded));
  std::rotate(places.begin() + axis, places.begin() + rank - 1, places.end());
  return Access::make(on.transpose(unfolded, std::move(places)));
}

}  // namespace heddle
