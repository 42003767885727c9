#include "passes/rewrite/stepped_region.h"

#include <algorithm>

namespace heddle::passes {

namespace {

using Axis = SteppedRegion::Axis;
using ir::Dim;

/// The first of an axis's elements in step 0, and the distance to the last.
struct Interval {
  explicit Interval(const Axis& axis)
      : first(axis.start + Dim(std::min<std::int64_t>(0, (axis.extent - 1) * axis.step))),
        length(std::abs((axis.extent - 1) * axis.step)) {}
  Dim first;
  std::int64_t length;
};

/// How much later b begins than a, in step 0.
std::optional<std::int64_t> distance(const Interval& a, const Interval& b) {
  const Dim between = b.first - a.first;
  return between.is_constant() ? std::optional(between.constant()) : std::nullopt;
}

/// Whether the intervals have no number in common if b begins so much later than a.
bool are_apart(std::int64_t distance, const Interval& a, const Interval& b) {
  return distance > a.length || distance < -b.length;
}

bool are_apart_in_a_step(const Axis& one, const Axis& other, std::int64_t steps) {
  const Interval a(one), b(other);
  const auto begin = distance(a, b);
  if (!begin) return false;
  const std::int64_t end = *begin + (other.growth - one.growth) * (steps - 1);
  return std::min(*begin, end) > a.length || std::max(*begin, end) < -b.length;
}

/// For `one` in any step and `other` in any step before that.
bool are_apart_from_earlier(const Axis& one, const Axis& other, std::int64_t steps) {
  const Interval a(one), b(other);
  const auto begin = distance(a, b);
  if (!begin) return false;
  if (one.growth == other.growth) {
    const std::int64_t far = std::abs(*begin) + a.length + b.length;
    for (std::int64_t i = 1; i < steps; ++i) {
      const std::int64_t moved = one.growth * i;
      if (!are_apart(*begin - moved, a, b)) return false;
      if (moved == 0 || std::abs(moved) > far) break;  // later ones are alike, or further apart
    }
    return true;
  }
  // Of all steps.
  const auto first = [&](std::int64_t growth) {
    return std::min<std::int64_t>(0, growth * (steps - 1));
  };
  const auto last = [&](std::int64_t growth) {
    return std::max<std::int64_t>(0, growth * (steps - 1));
  };
  return last(one.growth) + a.length < *begin + first(other.growth) ||
         *begin + last(other.growth) + b.length < first(one.growth);
}

bool is_empty(const SteppedRegion& region) {
  return std::ranges::find(region.axes, 0, &Axis::extent) != region.axes.end();
}

template <class Apart>
bool any_axis(const SteppedRegion& a, const SteppedRegion& b, const Apart& apart) {
  if (is_empty(a) || is_empty(b)) return true;
  for (std::size_t axis = 0; axis < a.axes.size(); ++axis) {
    if (apart(a.axes[axis], b.axes[axis])) return true;
  }
  return false;
}

}  // namespace

std::vector<std::size_t> SteppedRegion::moving() const {
  std::vector<std::size_t> found;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis].growth != 0) found.push_back(axis);
  }
  return found;
}

SteppedRegion SteppedRegion::one_step_before() const {
  SteppedRegion region = *this;
  for (Axis& axis : region.axes) axis.start = axis.start - Dim(axis.growth);
  return region;
}

SteppedRegion SteppedRegion::backwards(std::int64_t steps) const {
  SteppedRegion region = *this;
  for (Axis& axis : region.axes) {
    axis.start = axis.start + Dim(axis.growth * (steps - 1));
    axis.growth = -axis.growth;
  }
  return region;
}

bool SteppedRegion::is_within(const ir::Shape& shape, std::int64_t steps) const {
  if (is_empty(*this)) return true;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const Interval interval(axes[axis]);
    if (!interval.first.is_constant() || !shape[axis].is_constant()) continue;
    const std::int64_t first = interval.first.constant();
    const std::int64_t last = first + axes[axis].growth * (steps - 1);
    if (std::min(first, last) < 0 ||
        std::max(first, last) + interval.length >= shape[axis].constant())
      return false;
  }
  return true;
}

std::optional<SteppedRegion> stepped_region(const ir::Attributes& attributes,
                                            ir::SymbolId counter) {
  SteppedRegion region;
  for (std::size_t axis = 0; axis < attributes.starts.size(); ++axis) {
    const auto start_in = [&](std::int64_t step) {
      const ir::SymbolBinding bound[] = {{counter, step}};
      return attributes.starts[axis].with_bound(bound);
    };
    const Dim first = start_in(0), growth = start_in(1) - first;
    const Dim step = attributes.steps[axis], extent = attributes.shape[axis];
    if (!growth.is_constant() || start_in(2) - first != growth * Dim(2) || !step.is_constant() ||
        !extent.is_constant())
      return std::nullopt;
    region.axes.push_back({first, growth.constant(), step.constant(), extent.constant()});
  }
  if (is_empty(region)) {
    for (Axis& axis : region.axes) axis.growth = 0;
  }
  return region;
}

bool contains_symbol(const ir::Dims& dims, ir::SymbolId symbol) {
  std::vector<ir::SymbolId> symbols;
  for (const Dim dim : dims) dim.collect_symbols(symbols);
  return std::ranges::find(symbols, symbol) != symbols.end();
}

bool are_apart_in_a_step(const SteppedRegion& a, const SteppedRegion& b, std::int64_t steps) {
  return any_axis(a, b, [&](const Axis& one, const Axis& other) {
    return are_apart_in_a_step(one, other, steps);
  });
}

bool are_apart_from_earlier(const SteppedRegion& a, const SteppedRegion& b, std::int64_t steps) {
  return any_axis(a, b, [&](const Axis& one, const Axis& other) {
    return are_apart_from_earlier(one, other, steps);
  });
}

}  // namespace heddle::passes
