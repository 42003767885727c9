#include "frontend/array/region.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/array/bounds.h"
#include "frontend/graph/counter.h"
#include "frontend/graph/trace.h"

namespace heddle::frontend {

namespace {

class RegionBuilder {
 public:
  RegionBuilder(const NodeRef& node, const std::vector<IndexItem>& items,
                const SourceLocation& site)
      : node_(node), items_(items), site_(site) {}

  Region build() {
    const std::size_t rank = node_->shape.size();
    std::size_t taken = 0, ellipses = 0;
    for (const IndexItem& item : items_) {
      taken += axes_of(item);
      ellipses += item.kind == IndexItem::Kind::other_axes;
      by_array_ |= item.kind == IndexItem::Kind::array && !may_be_start(item);
    }
    if (taken > rank) {
      throw IndexError(
          at(fmt::format("{} subscripts for {}, which has {} axes", taken, describe(*node_), rank),
             site_));
    }
    if (ellipses > 1) throw IndexError(at("more than one ellipsis among the subscripts", site_));
    for (const IndexItem& item : items_) {
      const std::size_t before = region_.indexed.size();
      add(item, rank - taken);
      // A subscript that is not an index array ends the run of adjacent ones.
      if (region_.indexed.size() > before) {
        region_.together &= !run_ended_;
      } else if (before > 0) {
        run_ended_ = true;
      }
    }
    while (axis_ < rank) add_slice({});
    return std::move(region_);
  }

 private:
  static std::size_t axes_of(const IndexItem& item) {
    switch (item.kind) {
      case IndexItem::Kind::integer:
      case IndexItem::Kind::slice:
        return 1;
      case IndexItem::Kind::array:
        return is_boolean(item.array->dtype()) ? static_cast<std::size_t>(item.array->ndim()) : 1;
      default:
        return 0;
    }
  }

  void add(const IndexItem& item, std::size_t missing) {
    switch (item.kind) {
      case IndexItem::Kind::absent:
        break;
      case IndexItem::Kind::integer:
        add_integer(item.integer);
        break;
      case IndexItem::Kind::array:
        if (const auto start = counted_start(item)) return add_axis(*start, 1, 1);
        if (item.bounds)
          check_known("a subscript", node_, axis_, item.bounds->first, item.bounds->second, site_);
        add_array(Access::node(*item.array, site_), item.bounds.has_value());
        break;
      case IndexItem::Kind::slice:
        item.start || item.stop ? add_array_slice(item) : add_slice(item.slice);
        break;
      case IndexItem::Kind::new_axis:
        region_.result.emplace_back(1);
        break;
      case IndexItem::Kind::other_axes:
        for (std::size_t i = 0; i < missing; ++i) add_slice({});
        break;
    }
  }

  /// Whether the subscript is a loop's counter, or such plus a constant.
  bool may_be_start(const IndexItem& item) const {
    const NodeRef& index = Access::raw(*item.array);
    return index && index->shape.empty() && counter_expression(*index).has_value();
  }
  std::optional<ir::Dim> counted_start(const IndexItem& item) {
    if (by_array_ || !may_be_start(item)) return std::nullopt;
    const auto start =
        start_of_count(*counter_expression(*Access::raw(*item.array)), 1, node_->shape[axis_]);
    // Steps of the loop may be outside of the axis.
    if (!start) by_array_ = true;
    return start;
  }

  void add_axis(ir::Dim start, std::int64_t step, ir::Dim extent) {
    region_.whole &= start == ir::Dim(0) && step == 1 && extent == node_->shape[axis_];
    region_.slice.starts.push_back(start);
    region_.slice.steps.push_back(step);
    region_.slice.shape.push_back(extent);
    ++axis_;
  }

  void add_integer(std::int64_t index) {
    const ir::Dim extent = node_->shape[axis_];
    check_index(node_, axis_, index, site_);
    if (by_array_) {
      // Combined with index arrays, an integer is an index array, too.
      return add_index(
          frontend::record_scalar(DType::i64, static_cast<std::uint64_t>(index), false));
    }
    add_axis(index < 0 ? extent + index : ir::Dim(index), 1, 1);
  }

  /// Adds the next axis, whole, indexed by integers.
  void add_index(NodeRef index) {
    region_.indexed.push_back({region_.result.size(), std::move(index)});
    add_slice({});
  }

  void add_array(const NodeRef& index, bool checked) {
    if ((ir::integers & ir::set_of(index->dtype)) != 0) {
      if (!checked) check_bounds("a subscript", index, node_, axis_, site_);
      return add_index(index);
    }
    if (!is_boolean(index->dtype)) {
      throw IndexError(
          at(fmt::format("arrays that index must be of integers or bool, not {}", describe(*index)),
             site_));
    }
    // As in NumPy, a mask extent of 0 matches any extent, as nothing is selected.
    if (!std::equal(
            index->shape.begin(), index->shape.end(),
            node_->shape.begin() + static_cast<std::ptrdiff_t>(axis_),
            [](ir::Dim own, ir::Dim extent) { return own == ir::Dim(0) || own == extent; })) {
      throw IndexError(
          at(fmt::format("the mask {} does not match the axes of {}, starting at axis {}",
                         describe(*index), describe(*node_), axis_),
             site_));
    }
    const std::vector<NodeRef> places = nonzero_indices("indexing by a mask", index, site_);
    if (index->shape.empty()) {
      // A 0-d mask selects the whole rest once or not at all.
      region_.indexed.push_back({region_.result.size(), places.front()});
      region_.result.emplace_back(1);
    }
    for (std::size_t k = 0; k < index->shape.size(); ++k) add_index(places[k]);
  }

  void add_slice(const Slice& slice) {
    const ir::Dim extent = node_->shape[axis_];
    const std::int64_t step = slice.step.value_or(1);
    if (step == 0) throw ValueError(at("a slice's step is 0", site_));
    if (!extent.is_constant()) {
      add_symbolic_slice(slice, step, extent);
    } else {
      const std::int64_t n = extent.constant();
      const auto bound = [&](std::optional<std::int64_t> value, std::int64_t absent) {
        if (!value) return absent;
        const std::int64_t from_start = *value < 0 ? *value + n : *value;
        return step > 0 ? std::clamp<std::int64_t>(from_start, 0, n)
                        : std::clamp<std::int64_t>(from_start, -1, n - 1);
      };
      const std::int64_t start = bound(slice.start, step > 0 ? 0 : n - 1);
      const std::int64_t stop = bound(slice.stop, step > 0 ? n : -1);
      const std::int64_t distance = step > 0 ? stop - start : start - stop;
      // A step beyond the extent selects one element. It is clamped to avoid overflow.
      const std::int64_t stride = std::clamp<std::int64_t>(step, -n - 1, n + 1);
      const std::int64_t magnitude = std::abs(stride);
      const std::int64_t count = distance <= 0 ? 0 : (distance - 1) / magnitude + 1;
      add_axis(count == 0 ? 0 : start, count <= 1 ? 1 : stride, count);
    }
    region_.result.push_back(region_.slice.shape.back());
  }

  /// Slice with bounds that are arrays.
  void add_array_slice(const IndexItem& item) {
    if (Trace::current() == nullptr) {
      return add_slice({read_bound(item.start, item.slice.start),
                        read_bound(item.stop, item.slice.stop), item.slice.step});
    }
    const std::int64_t step = item.slice.step.value_or(1);
    if (step == 0) throw ValueError(at("a slice's step is 0", site_));
    if (!item.start || !item.stop) fail_length(false);
    const NodeRef start = bound_node(*item.start);
    const auto distance = counted_distance(*bound_node(*item.stop), *start);
    if (!distance) fail_length(true);
    const std::int64_t ahead = step > 0 ? *distance : -*distance;
    const std::int64_t count = ahead <= 0 ? 0 : (ahead - 1) / std::abs(step) + 1;
    add_run({.axis = axis_, .start = start, .step = count <= 1 ? 1 : step, .count = count});
    region_.result.emplace_back(count);
  }

  void add_run(Run run) {
    const ir::Dim extent = node_->shape[axis_];
    if (run.count == 0) return add_axis(0, 1, 0);
    const std::int64_t span = (run.count - 1) * std::abs(run.step);
    const std::int64_t before = run.step > 0 ? 0 : span;
    if (const auto counted = counter_expression(*run.start)) {
      const auto first = start_of_count(*counted - before, span + 1, extent);
      if (first) return add_axis(*first + before, run.step, run.count);
    }
    check_bounds("a slice", indices_of(run, site_), node_, axis_, site_);
    region_.runs.push_back(std::move(run));
    add_axis(0, 1, extent);
  }

  NodeRef bound_node(const Array& bound) const {
    const NodeRef node = Access::node(bound, site_);
    if (node->shape.empty() && is_integer(node->dtype)) return cast_to(node, DType::i64, site_);
    throw DTypeError(
        at(fmt::format("a bound of a slice is one integer, not {}", describe(*node)), site_));
  }

  std::optional<std::int64_t> read_bound(const std::shared_ptr<const Array>& array,
                                         std::optional<std::int64_t> value) const {
    return array ? Access::make(bound_node(*array)).item<std::int64_t>(site_) : value;
  }

  [[noreturn]] void fail_length(bool may_be_constant) const {
    const std::string_view constant =
        may_be_constant ? "if the length is a constant, use dynamic_slice(x, starts, sizes); if it "
                          "varies, "
                        : "";
    throw TraceError(at(fmt::format("the length of a slice of axis {} of {} depends on values, "
                                    "which do not exist yet inside a trace; {}keep the shape and "
                                    "mask what is not wanted: hd.where(hd.arange(n) < k, x, 0)",
                                    axis_, describe(*node_), constant),
                        site_));
  }

  /// Slice of an axis whose extent is known only at launch. Bounds are not clipped; they are
  /// checked at launch.
  void add_symbolic_slice(const Slice& slice, std::int64_t step, ir::Dim extent) {
    if (step != 1 && step != -1) {
      throw ShapeError(at(fmt::format("axis {} of {} has a symbolic extent, so only slices of step "
                                      "1 or -1 are allowed, not of step {}",
                                      axis_, describe(*node_), step),
                          site_));
    }
    const auto bound = [&](std::optional<std::int64_t> value, ir::Dim absent) {
      if (!value) return absent;
      return *value < 0 ? extent + *value : ir::Dim(*value);
    };
    const ir::Dim start = bound(slice.start, step > 0 ? ir::Dim(0) : extent - 1);
    const ir::Dim stop = bound(slice.stop, step > 0 ? extent : ir::Dim(-1));
    add_axis(start, step, step > 0 ? stop - start : start - stop);
  }

  const NodeRef& node_;
  const std::vector<IndexItem>& items_;
  SourceLocation site_;
  Region region_;
  std::size_t axis_ = 0;
  bool by_array_ = false, run_ended_ = false;
};

}  // namespace

void check_index(const NodeRef& node, std::size_t axis, std::int64_t index, const Site& site) {
  const ir::Dim extent = node->shape[axis];
  if (!extent.is_constant()) return;
  if (index < extent.constant() && index >= -extent.constant()) return;
  throw IndexError(at(out_of_bounds(index, axis, describe(*node), extent), site));
}

Region region_of(const NodeRef& node, const std::vector<IndexItem>& items,
                 const SourceLocation& site) {
  return RegionBuilder(node, items, site).build();
}

NodeRef sliced(const NodeRef& node, const Region& region, const SourceLocation& site) {
  NodeRef read = region.whole ? node
                              : record_valid(ir::Op::slice, node, region.slice,
                                             {node->dtype, region.slice.shape}, site);
  if (!region.runs.empty()) read = read_runs(read, region.runs, site);
  if (read->shape == region.result) return read;
  if (region.result.size() > node->shape.size()) return reshape_to(read, region.result, site);
  ir::Attributes attributes;
  attributes.shape = region.result;
  return record_valid(ir::Op::reshape, read, std::move(attributes), {read->dtype, region.result},
                      site);
}

}  // namespace heddle::frontend
