#include "heddle/indexing.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "heddle/array.h"
#include "heddle/creation.h"
#include "heddle/elementwise.h"

#include "frontend/array/access.h"
#include "frontend/array/gather.h"
#include "frontend/array/masked.h"
#include "frontend/array/promote.h"
#include "frontend/array/region.h"
#include "frontend/array/views.h"
#include "frontend/graph/placement.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::describe;
using frontend::NodeRef;
using frontend::record;
using frontend::Region;
using frontend::Site;
using ir::Op;

namespace {

std::vector<IndexItem> present(std::initializer_list<IndexItem> items) {
  std::vector<IndexItem> result;
  for (const IndexItem& item : items) {
    if (item.kind != IndexItem::Kind::absent) result.push_back(item);
  }
  return result;
}

/// The value, converted to the dtype of the array that it is written to.
NodeRef value_for(const NodeRef& base, const Operand& value) {
  return frontend::node_of("at", value, base->dtype);
}

[[noreturn]] void fail_to_fit(const NodeRef& value, const ir::Shape& place, const NodeRef& base,
                              const Site& site) {
  throw ShapeError(
      at(fmt::format("at: the value {} does not broadcast to the selection's shape {} in {}",
                     describe(*value), ir::to_string(place), describe(*base)),
         site));
}

NodeRef fit(NodeRef value, const ir::Shape& place, const NodeRef& base, const Site& site) {
  value = frontend::fit_rank(value, place.size(), site);
  const ir::Shape& shape = value->shape;
  const std::size_t offset = place.size() - std::min(shape.size(), place.size());
  bool fits = shape.size() <= place.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] == ir::Dim(1) || shape[i] == place[offset + i];
  }
  if (!fits) fail_to_fit(value, place, base, site);
  return value;
}

/// Writes `part`, of the shape of the region's result, to the region of the base.
NodeRef written_back(const NodeRef& base, const Region& region, const NodeRef& part,
                     const SourceLocation& site) {
  frontend::require_same_device("at", *base, *part, site);
  const bool every = region.whole && region.runs.empty();
  if (every) {
    // Every element is written. This is always so for a 0-d base, which has no axis to slice.
    const NodeRef all = frontend::broadcast_to_shape(part, region.result, site);
    return frontend::reshape_to(all, base->shape, site);
  }
  NodeRef element = part;
  // Reshape to the slice's rank: extent 1 for integer subscripts, no new axes.
  const ir::Shape place = frontend::shape_of_runs(region.slice.shape, region.runs);
  if (region.result != place && !element->shape.empty()) {
    element = frontend::broadcast_to_shape(element, region.result, site);
    element = frontend::reshape_to(element, place, site);
  }
  if (!region.runs.empty()) {
    const NodeRef around = region.whole ? base : record(Op::slice, {base}, region.slice, site);
    element = frontend::write_runs(around, region.runs, element, site);
  }
  return region.whole ? element : record(Op::slice_update, {base, element}, region.slice, site);
}

Array write_region(const NodeRef& base, const std::vector<IndexItem>& items, const Operand& value,
                   const SourceLocation& site) {
  const Region region = frontend::region_of(base, items, site);
  NodeRef element = value_for(base, value);
  if (region.indexed.empty()) {
    element = fit(element, region.result, base, site);
  } else {
    const NodeRef part = frontend::sliced(base, region, site);
    const ir::Shape place = frontend::taken_shape(part, region.indexed, region.together, site);
    element = frontend::put_at(part, region.indexed, region.together,
                               fit(element, place, base, site), site);
  }
  return Access::make(written_back(base, region, element, site));
}

/// The mask, if it is the only subscript; otherwise null.
const Array* only_mask(const std::vector<IndexItem>& items) {
  if (items.size() != 1 || items[0].kind != IndexItem::Kind::array) return nullptr;
  return is_boolean(items[0].array->dtype()) ? items[0].array.get() : nullptr;
}

/// True if the value is the same for all elements of the base that a mask of `masked` axes selects.
bool is_same_for_all(const Operand& value, const NodeRef& base, std::size_t masked) {
  if (value.array() == nullptr) return true;
  const ir::Shape& shape = Access::node(*value.array(), value.where())->shape;
  const std::size_t rest = base->shape.size() - masked;
  const std::size_t varying = shape.size() - std::min(shape.size(), rest);
  return std::all_of(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(varying),
                     [](ir::Dim extent) { return extent == ir::Dim(1); });
}

bool matches_leading_axes(const Array& mask, const NodeRef& base, const SourceLocation& site) {
  const ir::Shape& shape = Access::node(mask, site)->shape;
  return shape.size() <= base->shape.size() &&
         std::equal(shape.begin(), shape.end(), base->shape.begin());
}

/// The value where a mask of the leading axes is true, the base elsewhere.
NodeRef choose_by(const NodeRef& mask, const NodeRef& value, const NodeRef& base,
                  const Site& site) {
  ir::Shape expanded = mask->shape;
  expanded.resize(base->shape.size(), ir::Dim(1));
  const NodeRef chosen = frontend::reshape_to(mask, std::move(expanded), site);
  return record(Op::select, {chosen, value, base}, site);
}

Array write_mask(const NodeRef& base, const NodeRef& mask, const Operand& value, const Site& site) {
  const ir::Shape rest(base->shape.begin() + static_cast<std::ptrdiff_t>(mask->shape.size()),
                       base->shape.end());
  const NodeRef element = fit(value_for(base, value), rest, base, site);
  return Access::make(choose_by(mask, element, base, site));
}

}  // namespace

IndexItem::IndexItem(const Array& index, SourceLocation where)
    : kind(Kind::array), array(std::make_shared<const Array>(index)), where(where) {}

SliceBound::SliceBound(const Array& array) : array_(std::make_shared<const Array>(array)) {}

IndexItem::IndexItem(const ArraySlice& range, SourceLocation where)
    : kind(Kind::slice),
      slice{range.start.value(), range.stop.value(), range.step},
      start(range.start.array()),
      stop(range.stop.array()),
      where(where) {}

IndexItem index_list(const std::vector<std::int64_t>& places, SourceLocation where) {
  IndexItem item(array(places, {static_cast<std::int64_t>(places.size())}, where), where);
  if (!places.empty()) {
    const auto [least, greatest] = std::minmax_element(places.begin(), places.end());
    item.bounds.emplace(*least, *greatest);
  }
  return item;
}

Array Array::index(const std::vector<IndexItem>& items, SourceLocation where) const {
  const NodeRef node = Access::node(*this, where);
  if (const Array* const mask = only_mask(items)) {
    if (NodeRef selected = frontend::elements_where(node, *mask, where))
      return Access::make(std::move(selected));
  }
  const Region region = frontend::region_of(node, items, where);
  const NodeRef part = frontend::sliced(node, region, where);
  if (region.indexed.empty()) return Access::make(part);
  return Access::make(frontend::take_at(part, region.indexed, region.together, where));
}

Array Array::operator()(const IndexItem& a, const IndexItem& b, const IndexItem& c,
                        const IndexItem& d, const IndexItem& e, const IndexItem& f,
                        const IndexItem& g, const IndexItem& h) const {
  return index(present({a, b, c, d, e, f, g, h}), a.where);
}

IndexedArray Array::at(std::vector<IndexItem> items, SourceLocation where) {
  return {*this, std::move(items), where};
}

IndexedArray Array::at(const IndexItem& a, const IndexItem& b, const IndexItem& c,
                       const IndexItem& d, const IndexItem& e, const IndexItem& f,
                       const IndexItem& g, const IndexItem& h) {
  return {*this, present({a, b, c, d, e, f, g, h}), a.where};
}

IndexedArray& IndexedArray::operator=(const Operand& value) {
  const NodeRef base = Access::node(base_, where_);
  const Array* const mask = only_mask(items_);
  const bool chooses = mask != nullptr && matches_leading_axes(*mask, base, where_) &&
                       is_same_for_all(value, base, static_cast<std::size_t>(mask->ndim()));
  base_ = chooses ? write_mask(base, Access::node(*mask, where_), value, where_)
                  : write_region(base, items_, value, where_);
  return *this;
}

IndexedArray& IndexedArray::operator=(const IndexedArray& value) {
  const Array read = value;
  return *this = Operand(read, where_);
}

/// If a mask is the only subscript and the value is the same for all selected elements, the whole
/// array is combined and the mask selects the result. This needs no evaluation.
template <class Combine>
IndexedArray& IndexedArray::update(const Operand& value, Combine combine) {
  const NodeRef base = Access::node(base_, where_);
  const Array* const mask = only_mask(items_);
  const bool chooses = mask != nullptr && matches_leading_axes(*mask, base, where_) &&
                       is_same_for_all(value, base, static_cast<std::size_t>(mask->ndim()));
  const Array before = chooses ? base_ : static_cast<Array>(*this);
  const Array after =
      frontend::in_place("at", before, combine(Operand(before, where_), value), where_);
  if (!chooses) return *this = Operand(after, where_);
  base_ = Access::make(
      choose_by(Access::node(*mask, where_), Access::node(after, where_), base, where_));
  return *this;
}

IndexedArray& IndexedArray::operator+=(const Operand& value) { return update(value, add); }
IndexedArray& IndexedArray::operator-=(const Operand& value) { return update(value, subtract); }
IndexedArray& IndexedArray::operator*=(const Operand& value) { return update(value, multiply); }
IndexedArray& IndexedArray::operator/=(const Operand& value) { return update(value, divide); }

IndexedArray::operator Array() const { return base_.index(items_, where_); }

}  // namespace heddle
