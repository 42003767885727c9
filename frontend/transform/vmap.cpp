#include "heddle/vmap.h"

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/array/access.h"
#include "frontend/control/bodies.h"
#include "frontend/evaluate/checks.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"
#include "frontend/transform/vmap.h"

namespace heddle::frontend {

namespace {

std::string name_of(const VmapOptions& options, std::size_t i) {
  return i < options.names.size() ? options.names[i] : fmt::format("argument {}", i);
}

/// The node with an axis at another position.
NodeRef with_axis_moved(const NodeRef& node, std::int64_t from, std::int64_t to, const Site& site) {
  if (from == to) return node;
  std::vector<std::int64_t> order = all_axes(rank_of(node));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  ir::Attributes attributes;
  attributes.axes = std::move(order);
  return record(ir::Op::transpose, {node}, std::move(attributes), site);
}

/// The values with their slices along the first axis. `count` becomes the number of slices.
std::vector<Slices> slices_of(const MappedValues& inputs, const VmapOptions& options,
                              std::optional<ir::Dim>& count, const Site& site,
                              const SourceLocation& where) {
  std::vector<Slices> slices;
  std::string first;
  if (options.size) count = ir::Dim(*options.size);
  if (options.size) first = "axis_size";
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    NodeRef node = Access::node(inputs.values[i], where);
    if (!inputs.axes[i]) {
      slices.push_back({std::move(node)});
      continue;
    }
    const std::int64_t axis = axis_of("vmap", *inputs.axes[i], rank_of(node), site);
    const ir::Dim extent = extent_of(node, axis);
    if (!count) first = name_of(options, i);
    if (!count) count = extent;
    if (extent != *count) {
      throw ShapeError(
          at(fmt::format("vmap: {} has {} slices along axis {}, but {} says {}",
                         name_of(options, i), extent.to_string(), axis, first, count->to_string()),
             site));
    }
    slices.push_back({with_axis_moved(node, axis, 0, site), true});
  }
  if (!count)
    throw ValueError(at("vmap: no argument is mapped, so the number of slices is unknown", site));
  if (count->is_constant() && count->constant() < 0)
    throw ValueError(at(fmt::format("vmap: axis_size is {}", count->constant()), site));
  return slices;
}

/// What failed in one of the slices. -1 if none has.
NodeRef status_of(const Slices& status, const ir::Dim& count, const Site& site) {
  if (!status.varies) return status.node;
  NodeRef all = status.node;
  if (!count.is_constant() || count == ir::Dim(0)) {  // there may be no slices
    const NodeRef none = reshape_to(record_constant(DType::i64, -1), {ir::Dim(1)}, site);
    ir::Attributes axis;
    axis.axes = {0};
    all = record(ir::Op::concatenate, {all, none}, std::move(axis), site);
  }
  ir::Attributes axis;
  axis.axes = {0};
  return record(ir::Op::max, {all}, std::move(axis), site);
}

}  // namespace

std::vector<Slices> vmap_body(const TracedBody& body, const std::vector<Slices>& inputs,
                              const ir::Dim& count, const SourceLocation& where) {
  std::vector<NodeRef> outside = outside_values({&body});
  const ir::Region region = body.region(outside);
  std::vector<Slices> given;
  for (NodeRef& value : outside) given.push_back({std::move(value)});
  given.insert(given.end(), inputs.begin(), inputs.end());
  return SliceRecorder(count, where).run(*region.graph, given);
}

void check_mapped_axes(std::size_t axes, std::size_t arguments, const SourceLocation& where) {
  if (axes == arguments) return;
  throw ValueError(
      at(fmt::format("vmap: in_axes has {} axes, but the call has {} arguments", axes, arguments),
         where));
}

Values vmap_values(const std::function<MappedValues(Values)>& function, const MappedValues& inputs,
                   const VmapOptions& options, const SourceLocation& where) {
  const Site site(where);
  std::optional<ir::Dim> count;
  const std::vector<Slices> all = slices_of(inputs, options, count, site, where);
  std::vector<Slices> mapped;
  std::vector<ir::Type> types;
  for (const Slices& value : all) {
    if (!value.varies) continue;
    mapped.push_back(value);
    types.push_back(
        {value.node->dtype, ir::Shape(value.node->shape.begin() + 1, value.node->shape.end())});
  }
  std::vector<std::optional<std::int64_t>> axes;
  const auto of_slice = [&](Values slices) {
    Values arguments;
    auto next = slices.begin();
    for (std::size_t i = 0; i < all.size(); ++i)
      arguments.push_back(all[i].varies ? *next++ : inputs.values[i]);
    MappedValues made = function(std::move(arguments));
    axes = std::move(made.axes);
    return std::move(made.values);
  };
  TracedBody traced("vmap", of_slice, types, where);
  const std::vector<Check> checks = traced.checks();
  traced.return_statuses(0, 0);
  const std::vector<Slices> made = vmap_body(traced, mapped, *count, where);
  const SliceRecorder recorder(*count, where);
  std::vector<NodeRef> results;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i]) {
      if (made[i].varies) {
        throw ValueError(at(fmt::format("vmap: out_axes is None for result {}, which differs from "
                                        "slice to slice",
                                        i),
                            site));
      }
      results.push_back(made[i].node);
      continue;
    }
    const NodeRef stacked = recorder.with_slices(made[i], site);
    results.push_back(
        with_axis_moved(stacked, 0, axis_of("vmap", *axes[i], rank_of(stacked), site), site));
  }
  for (std::size_t i = 0; i < checks.size(); ++i) {
    check_recorded(
        "vmap", {status_of(made[axes.size() + i], *count, site), checks[i].message, checks[i].kind},
        results, RaiseFailure::at_next_wait, where);
  }
  Values arrays;
  for (NodeRef& node : results) arrays.push_back(Access::make(std::move(node)));
  return arrays;
}

}  // namespace heddle::frontend
