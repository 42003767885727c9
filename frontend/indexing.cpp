#include "heddle/indexing.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "heddle/array.h"
#include "heddle/elementwise.h"

#include "frontend/promote.h"
#include "frontend/trace.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::describe;
using frontend::NodeRef;
using frontend::record;
using frontend::Site;
using ir::Op;

namespace {

/// Subscripts as a slice of every axis, and the shape that is left of it.
struct Region {
  ir::Attributes slice;  ///< starts, steps, shape: one for each axis of the array
  ir::Shape result;      ///< without the axes that integers took, with the new ones
  bool whole = true;     ///< the slice is the array
};

class RegionBuilder {
 public:
  RegionBuilder(const NodeRef& node, const std::vector<IndexItem>& items, const Site& site)
      : node_(node), items_(items), site_(site) {}

  Region build() {
    const std::size_t rank = node_->shape.size();
    std::size_t taken = 0, ellipses = 0;
    for (const IndexItem& item : items_) {
      taken += item.kind == IndexItem::Kind::integer || item.kind == IndexItem::Kind::slice;
      ellipses += item.kind == IndexItem::Kind::ellipsis;
    }
    if (taken > rank) {
      throw IndexError(
          at(fmt::format("{} subscripts for {}, which has {} axes", taken, describe(*node_), rank),
             site_));
    }
    if (ellipses > 1) throw IndexError(at("more than one ellipsis among the subscripts", site_));
    for (const IndexItem& item : items_) add(item, rank - taken);
    while (axis_ < rank) add_slice({});
    return std::move(region_);
  }

 private:
  void add(const IndexItem& item, std::size_t missing) {
    switch (item.kind) {
      case IndexItem::Kind::absent:
        break;
      case IndexItem::Kind::integer:
        add_integer(item.integer);
        break;
      case IndexItem::Kind::slice:
        add_slice(item.slice);
        break;
      case IndexItem::Kind::newaxis:
        region_.result.emplace_back(1);
        break;
      case IndexItem::Kind::ellipsis:
        for (std::size_t i = 0; i < missing; ++i) add_slice({});
        break;
    }
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
    if (extent.is_constant() && (index >= extent.constant() || index < -extent.constant())) {
      throw IndexError(
          at(fmt::format("index {} is out of bounds for axis {} of {}, whose extent is "
                         "{}",
                         index, axis_, describe(*node_), extent.constant()),
             site_));
    }
    add_axis(index < 0 ? extent + index : ir::Dim(index), 1, 1);
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
      // Steps beyond the extent take one element; kept small so that nothing overflows.
      const std::int64_t stride = std::clamp<std::int64_t>(step, -n - 1, n + 1);
      const std::int64_t magnitude = std::abs(stride);
      const std::int64_t count = distance <= 0 ? 0 : (distance - 1) / magnitude + 1;
      add_axis(count == 0 ? 0 : start, count <= 1 ? 1 : stride, count);
    }
    region_.result.push_back(region_.slice.shape.back());
  }

  /// Bounds of an axis whose extent is known at launch only: not clipped, and checked then.
  void add_symbolic_slice(const Slice& slice, std::int64_t step, ir::Dim extent) {
    if (step != 1 && step != -1) {
      throw ShapeError(at(fmt::format("axis {} of {} has a symbolic extent, which takes slices of "
                                      "step 1 or -1 only, not {}",
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
  Site site_;
  Region region_;
  std::size_t axis_ = 0;
};

std::vector<IndexItem> present(std::initializer_list<IndexItem> items) {
  std::vector<IndexItem> result;
  for (const IndexItem& item : items) {
    if (item.kind != IndexItem::Kind::absent) result.push_back(item);
  }
  return result;
}

/// A value in the dtype of the array that it is written to.
NodeRef value_for(const NodeRef& base, const Operand& value) {
  return frontend::node_of("at", value, base->dtype);
}

[[noreturn]] void fail_to_fit(const NodeRef& value, const ir::Shape& place, const NodeRef& base,
                              const Site& site) {
  throw ShapeError(
      at(fmt::format("at: the value {} does not broadcast to the place's shape {} in {}",
                     describe(*value), ir::to_string(place), describe(*base)),
         site));
}

/// NumPy drops leading axes of extent 1 that the place does not have.
NodeRef fit(NodeRef value, const ir::Shape& place, const NodeRef& base, const Site& site) {
  ir::Shape shape = value->shape;
  while (shape.size() > place.size() && shape.front() == ir::Dim(1)) shape.erase(shape.begin());
  value = frontend::reshape_to(value, shape, site);
  const std::size_t offset = place.size() - std::min(shape.size(), place.size());
  bool fits = shape.size() <= place.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] == ir::Dim(1) || shape[i] == place[offset + i];
  }
  if (!fits) fail_to_fit(value, place, base, site);
  return value;
}

Array write_region(const NodeRef& base, const std::vector<IndexItem>& items, const Operand& value,
                   const Site& site) {
  Region region = RegionBuilder(base, items, site).build();
  NodeRef element = fit(value_for(base, value), region.result, base, site);
  if (region.whole && region.result == base->shape) {
    return Access::make(frontend::broadcast_to_shape(element, base->shape, site));
  }
  // In the slice's rank: with extents 1 for integers, without new axes.
  if (region.result != region.slice.shape && !element->shape.empty()) {
    element = frontend::broadcast_to_shape(element, region.result, site);
    element = frontend::reshape_to(element, region.slice.shape, site);
  }
  return Access::make(record(Op::slice_update, {base, element}, std::move(region.slice), site));
}

Array write_mask(const NodeRef& base, const NodeRef& mask, const Operand& value, const Site& site) {
  if (!is_boolean(mask->dtype)) {
    throw DTypeError(at(fmt::format("at: a mask must be bool, not {}", describe(*mask)), site));
  }
  const std::size_t rank = mask->shape.size();
  if (rank > base->shape.size() ||
      !std::equal(mask->shape.begin(), mask->shape.end(), base->shape.begin())) {
    throw IndexError(at(fmt::format("at: the mask {} does not match the leading axes of {}",
                                    describe(*mask), describe(*base)),
                        site));
  }
  ir::Shape expanded = mask->shape;
  expanded.resize(base->shape.size(), ir::Dim(1));
  const NodeRef chosen = frontend::reshape_to(mask, std::move(expanded), site);
  const NodeRef element = fit(value_for(base, value), base->shape, base, site);
  const NodeRef result = record(Op::select, {chosen, element, base}, site);
  return Access::make(result);
}

}  // namespace

Array Array::index(const std::vector<IndexItem>& items, SourceLocation where) const {
  const NodeRef node = Access::node(*this, where);
  Region region = RegionBuilder(node, items, where).build();
  NodeRef result = node;
  if (!region.whole) result = record(Op::slice, {node}, std::move(region.slice), where);
  return Access::make(frontend::reshape_to(result, std::move(region.result), where));
}

Array Array::operator()(IndexItem a, IndexItem b, IndexItem c, IndexItem d, IndexItem e,
                        IndexItem f, IndexItem g, IndexItem h) const {
  return index(present({a, b, c, d, e, f, g, h}), a.where);
}

IndexedArray Array::at(std::vector<IndexItem> items, SourceLocation where) {
  return {*this, std::move(items), where};
}

IndexedArray Array::at(IndexItem a, IndexItem b, IndexItem c, IndexItem d, IndexItem e, IndexItem f,
                       IndexItem g, IndexItem h) {
  return {*this, present({a, b, c, d, e, f, g, h}), a.where};
}

IndexedArray Array::at(const Array& mask, SourceLocation where) { return {*this, mask, where}; }

IndexedArray& IndexedArray::operator=(const Operand& value) {
  const NodeRef base = Access::node(base_, where_);
  base_ = mask_.has_value() ? write_mask(base, Access::node(mask_, where_), value, where_)
                            : write_region(base, items_, value, where_);
  return *this;
}

IndexedArray& IndexedArray::operator=(const IndexedArray& value) {
  const Array read = value;
  return *this = Operand(read, where_);
}

/// For a mask the whole array is combined and the mask chooses, which gives the same values.
template <class Combine>
IndexedArray& IndexedArray::update(const Operand& value, Combine combine) {
  const Array before = mask_.has_value() ? base_ : static_cast<Array>(*this);
  const Array after =
      frontend::in_place("at", before, combine(Operand(before, where_), value), where_);
  return *this = Operand(after, where_);
}

IndexedArray& IndexedArray::operator+=(const Operand& value) { return update(value, add); }
IndexedArray& IndexedArray::operator-=(const Operand& value) { return update(value, subtract); }
IndexedArray& IndexedArray::operator*=(const Operand& value) { return update(value, multiply); }
IndexedArray& IndexedArray::operator/=(const Operand& value) { return update(value, divide); }

IndexedArray::operator Array() const {
  if (mask_.has_value()) {
    throw ValueError(
        frontend::at("reading through a mask has a shape that depends on the data; use "
                     "hd::where",
                     where_));
  }
  return base_.index(items_, where_);
}

}  // namespace heddle
