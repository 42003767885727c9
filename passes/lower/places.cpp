#include "passes/lower/places.h"

#include <algorithm>
#include <iterator>

#include "heddle/error.h"

#include "passes/groups/index_maps.h"
#include "passes/groups/per_element.h"
#include "passes/groups/rotation.h"

namespace heddle::passes {

namespace {

bool is_subset(const Guard& a, const Guard& b) {
  return std::includes(b.begin(), b.end(), a.begin(), a.end());
}

Guard both(const Guard& a, const Guard& b) {
  Guard result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

}  // namespace

Places::Places(const Graph& graph, IndexSpace& space, const Group& group,
               const std::vector<bool>& stored)
    : graph_(graph), space_(space), group_(group), stored_(stored) {
  for (const ValueId member : group.members) members_.insert(index_of(member));
}

bool Places::is_load(ValueId node) const {
  if (graph_.op(node) == ir::Op::parameter) return !graph_.attributes(node).scalar;
  return stored_[index_of(node)] && !members_.contains(index_of(node));
}

bool Places::is_unrolled(ValueId node) const {
  return std::ranges::find(group_.unrolled, node) != group_.unrolled.end();
}

std::uint32_t Places::add_root(ValueId node, const IndexMap& map) {
  roots_.push_back(find_or_add(node, map));
  return roots_.back();
}

std::uint32_t Places::find_or_add(ValueId node, IndexMap map) {
  while (read_through_view(node, map)) {
  }
  // Values that addresses and guards depend on come before the value instance that uses them.
  std::vector<std::uint32_t> indices;
  for (const Index& index : map) add_indices(index, indices);
  std::string key = std::to_string(index_of(node));
  for (const Index& index : map) key += ';' + text_of(index);
  if (const auto found = place_ids_.find(key); found != place_ids_.end()) return found->second;

  Place place{node, std::move(map), {}, std::move(indices), {}};
  const ir::Op op = graph_.op(node);
  const bool computed = !is_load(node) && op != ir::Op::parameter && op != ir::Op::constant;
  if (computed && !members_.contains(index_of(node)))
    throw InternalError("lower: a value is neither stored nor part of the group that uses it");
  if (computed && op == ir::Op::concatenate) {
    add_concatenate(place);
  } else if (computed && op == ir::Op::slice_update) {
    add_slice_update(place);
  } else if (computed && is_unrolled(node)) {
    const ValueId operand = graph_.operands(node)[0];
    for (IndexMap& element : unrolled_maps(graph_, node, place.map))
      place.operands.push_back({find_or_add(operand, std::move(element)), {}});
  } else if (computed) {
    // An operand that is read as a whole is in memory, so it gets no value instance.
    for (std::size_t k = 0; k < graph_.operands(node).size(); ++k) {
      if (!reads_whole(graph_, node, k)) place.operands.push_back({use(node, k, place.map), {}});
    }
  }
  const auto id = static_cast<std::uint32_t>(places_.size());
  places_.push_back(std::move(place));
  place_ids_.emplace(std::move(key), id);
  return id;
}

bool Places::read_through_view(ValueId& node, IndexMap& map) {
  const std::optional<Rotation> rotation = is_load(node) ? std::nullopt : rotation_of(graph_, node);
  if (rotation) {
    map = rotated_map(space_, *rotation, map);
    node = rotation->array;
    return true;
  }
  const std::optional<std::size_t> source = source_of(node, map);
  if (!source) return false;
  map = operand_map(space_, graph_, node, *source, map);
  node = graph_.operands(node)[*source];
  return true;
}

// Applies to views, and to concatenations and updates of which it is known which operand the
// element at `map` comes from.
std::optional<std::size_t> Places::source_of(ValueId node, const IndexMap& map) const {
  if (is_load(node)) return std::nullopt;
  const ir::Op op = graph_.op(node);
  if (ir::is_view(op) || op == ir::Op::gather) return 0;
  return only_source(space_, graph_, node, map);
}

void Places::add_indices(const Index& index, std::vector<std::uint32_t>& places) {
  for (const IndexTerm& term : index.terms) {
    if (!space_.atom(term.atom).by_value) continue;
    const Atom atom = space_.atom(term.atom);  // a copy, as find_or_add may move atoms
    if (atom.kind != Atom::Kind::gathered) {
      add_indices(atom.numerator, places);
      continue;
    }
    if (!index_places_.contains(term.atom))
      index_places_.emplace(term.atom, find_or_add(ValueId(atom.value), atom.map));
    places.push_back(index_places_.at(term.atom));
  }
}

std::uint32_t Places::use(ValueId node, std::size_t k, const IndexMap& map) {
  return find_or_add(graph_.operands(node)[k],
                     operand_map(space_, graph_, node, k, map, group_.inner));
}

void Places::add_concatenate(Place& place) {
  const auto axis = static_cast<std::size_t>(graph_.attributes(place.node).axes[0]);
  Dim begin;
  for (std::size_t k = 0; k < graph_.operands(place.node).size(); ++k) {
    const Dim end = begin + graph_.shape(graph_.operands(place.node)[k])[axis];
    const std::uint32_t inside = intern({place.map[axis], begin, end, 1});
    place.operands.push_back({use(place.node, k, place.map), {inside}});
    begin = end;
  }
}

void Places::add_slice_update(Place& place) {
  const ir::Attributes& attributes = graph_.attributes(place.node);
  Guard inside;
  for (std::size_t axis = 0; axis < place.map.size(); ++axis) {
    const Dim step = attributes.steps[axis], extent = attributes.shape[axis];
    if (extent == graph_.shape(place.node)[axis] && step.is_unit()) continue;
    const auto [begin, end, step_size] = updated_range(graph_, place.node, axis);
    if (step_size.is_unit() && is_within(space_, place.map[axis], begin, end)) continue;
    inside = both(inside, {intern({place.map[axis], begin, end, step_size})});
  }
  const bool keeps_some_of_base = !inside.empty();
  place.operands.push_back({use(place.node, 1, place.map), std::move(inside)});
  if (keeps_some_of_base) place.operands.push_back({use(place.node, 0, place.map), {}});
}

std::uint32_t Places::intern(Condition condition) {
  std::string key = text_of(condition.index) + '[' + condition.begin.to_string() + ',' +
                    condition.end.to_string() + ')' + condition.step.to_string();
  const auto [entry, is_new] =
      condition_ids_.try_emplace(std::move(key), static_cast<std::uint32_t>(conditions_.size()));
  if (is_new) conditions_.push_back(std::move(condition));
  return entry->second;
}

void Places::meet(Demand& demand, const Guard& guard, bool loosened) {
  if (!demand.reached) {
    demand = {guard, true, loosened};
  } else if (demand.guard == guard) {
    demand.loosened &= loosened;
  } else if (is_subset(guard, demand.guard)) {
    demand = {guard, true, loosened};
  } else if (!is_subset(demand.guard, guard)) {
    Guard shared;
    std::set_intersection(guard.begin(), guard.end(), demand.guard.begin(), demand.guard.end(),
                          std::back_inserter(shared));
    demand = {std::move(shared), true, true};
  }
}

void Places::settle() {
  std::vector<Demand> demands(places_.size());
  for (const std::uint32_t root : roots_) meet(demands[root], {}, false);
  for (std::size_t i = places_.size(); i-- > 0;) {
    Place& place = places_[i];
    Demand& demand = demands[i];
    // A reduction or scan reads its whole row, wherever its result is used.
    const ir::Op op = graph_.op(place.node);
    const bool everywhere = (ir::is_reduction(op) && !is_unrolled(place.node)) || ir::is_scan(op);
    for (const Place::Use& use : place.operands) {
      meet(demands[use.place], both(everywhere ? Guard{} : demand.guard, use.inside),
           demand.loosened && !everywhere);
    }
    for (const std::uint32_t index : place.indices)
      meet(demands[index], demand.guard, demand.loosened);
    place.guard = std::move(demand.guard);
    if (demand.loosened && is_load(place.node)) place.guard = both(place.guard, bounds(place));
  }
}

// Outside its guard, a quotient or remainder may have a negative numerator, and then its value is
// not in the atom's range. So the range is only trusted for sums of loops.
Guard Places::bounds(const Place& load) {
  const ir::Shape& shape = graph_.shape(load.node);
  Guard guard;
  for (std::size_t axis = 0; axis < load.map.size(); ++axis) {
    const Index& index = load.map[axis];
    const bool is_sum_of_loops = std::all_of(
        index.terms.begin(), index.terms.end(),
        [&](const IndexTerm& term) { return space_.atom(term.atom).kind == Atom::Kind::loop; });
    if (is_sum_of_loops && space_.in_range(index, shape[axis])) continue;
    guard = both(guard, {intern({index, 0, shape[axis], 1})});
  }
  return guard;
}

}  // namespace heddle::passes
