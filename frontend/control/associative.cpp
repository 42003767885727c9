#include <utility>

#include <fmt/format.h>

#include "heddle/control.h"
#include "heddle/error.h"

#include "frontend/array/access.h"
#include "frontend/array/views.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"

namespace heddle::frontend {

namespace {

using ir::Op;
using Nodes = std::vector<NodeRef>;

/// The scan of an associative function: neighbours are combined, the scan of these pairs gives each
/// second result, and one more combination gives the results between.
class AssociativeScan {
 public:
  AssociativeScan(const AssociativeFunction& function, std::size_t axis,
                  const std::vector<std::string>& names, const SourceLocation& site)
      : function_(function), axis_(axis), names_(names), site_(site) {}

  /// What errors call an array.
  std::string name(std::size_t i) const {
    return i < names_.size() ? names_[i] : fmt::format("elems {}", i);
  }

  Nodes run(const Nodes& elements, std::int64_t length) const {
    if (length < 2) return elements;
    const std::int64_t pairs = length / 2, between = (length - 1) / 2;
    Nodes results = elements;  // the first result is the first element
    const Nodes odd =
        run(combined(parts(elements, 0, 2, pairs), parts(elements, 1, 2, pairs)), pairs);
    if (between > 0) {
      const Nodes even = combined(parts(odd, 0, 1, between), parts(elements, 2, 2, between));
      write(results, even, 2);
    }
    write(results, odd, 1);
    return results;
  }

 private:
  Nodes parts(const Nodes& nodes, std::int64_t start, std::int64_t step, std::int64_t count) const {
    Nodes parts;
    for (const NodeRef& node : nodes)
      parts.push_back(
          slice_along(node, static_cast<std::int64_t>(axis_), start, count, step, site_));
    return parts;
  }

  /// Writes each second element from `start` on.
  void write(Nodes& nodes, const Nodes& values, std::int64_t start) const {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      ir::Attributes region;
      region.shape = values[i]->shape;
      region.starts.assign(region.shape.size(), 0);
      region.steps.assign(region.shape.size(), 1);
      region.starts[axis_] = start;
      region.steps[axis_] = 2;
      nodes[i] = record(Op::slice_update, {nodes[i], values[i]}, std::move(region), site_);
    }
  }

  Nodes combined(const Nodes& left, const Nodes& right) const {
    Values first, second;
    for (const NodeRef& node : left) first.push_back(Access::make(node));
    for (const NodeRef& node : right) second.push_back(Access::make(node));
    const Values made = function_(std::move(first), std::move(second));
    if (made.size() != left.size()) {
      throw ValueError(at(fmt::format("associative_scan: elems has {} arrays, but fn returns {}",
                                      left.size(), made.size()),
                          site_));
    }
    Nodes results;
    for (std::size_t i = 0; i < made.size(); ++i)
      results.push_back(checked(Access::node(made[i], site_), *left[i], i));
    return results;
  }

  NodeRef checked(const NodeRef& result, const Node& given, std::size_t i) const {
    if (result->dtype == given.dtype && result->shape == given.shape) return result;
    const std::string text =
        at(fmt::format("associative_scan: fn is called with slices of {} that are {}, but returns "
                       "{}",
                       name(i), describe(given), describe(*result)),
           site_);
    if (result->dtype != given.dtype) throw DTypeError(text);
    throw ShapeError(text);
  }

  const AssociativeFunction& function_;
  std::size_t axis_;
  const std::vector<std::string>& names_;
  SourceLocation site_;
};

}  // namespace

Values associative_values(const AssociativeFunction& function, const Values& elements, bool reverse,
                          std::int64_t axis, const std::vector<std::string>& names,
                          const SourceLocation& where) {
  constexpr std::string_view op = "associative_scan";
  if (elements.empty()) return {};
  Nodes nodes;
  for (const Array& each : elements) nodes.push_back(Access::node(each, where));
  const std::int64_t place = axis_of(op, axis, rank_of(nodes[0]), where);
  const AssociativeScan scan(function, static_cast<std::size_t>(place), names, where);
  const std::int64_t length = constant_extent(op, nodes[0], place, where);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool fits = rank_of(nodes[i]) > place && extent_of(nodes[i], place) == ir::Dim(length);
    if (fits) continue;
    throw ShapeError(
        at(fmt::format("{}: {} is {}, but {} is {}; along axis {} all have one extent", op,
                       scan.name(0), describe(*nodes[0]), scan.name(i), describe(*nodes[i]), place),
           where));
  }
  const auto reversed = [&](Nodes& all) {
    for (NodeRef& node : all) node = reverse_along(node, {&place, 1}, where);
  };
  if (reverse) reversed(nodes);
  Nodes results = scan.run(nodes, length);
  if (reverse) reversed(results);
  Values arrays;
  for (NodeRef& node : results) arrays.push_back(Access::make(std::move(node)));
  return arrays;
}

}  // namespace heddle::frontend
