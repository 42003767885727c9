#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/groups/group.h"
#include "passes/groups/index.h"

namespace heddle::passes {

/// begin <= index < end and (index - begin) % step == 0.
struct Condition {
  Index index;
  Dim begin, end;
  Dim step = 1;
};

/// Conditions that all hold, as sorted positions in Places::conditions. An empty one always holds.
using Guard = std::vector<std::uint32_t>;

/// A node at one of the index maps where a group evaluates it: one instruction of the kernel.
struct Place {
  /// An operand, whose value is only used where `inside` holds. Of a slice_update the value comes
  /// first, and the base only where it is seen.
  struct Use {
    std::uint32_t place;
    Guard inside;
  };
  ValueId node{};
  IndexMap map;
  std::vector<Use> operands;
  std::vector<std::uint32_t> indices;  ///< places of the values that `map` depends on
  Guard guard;                         ///< where the value is used, or more
};

/// All places of a group, operands before their users, and where each of them is used. Arithmetic
/// is total, so it runs unguarded and once however many guards it is used under; only loads, which
/// must stay inside their arrays, wait for their guard.
class Places {
 public:
  /// `stored[v]`: value v is in memory once its group has run.
  Places(const Graph& graph, IndexSpace& space, const Group& group,
         const std::vector<bool>& stored);

  /// The place whose value is asked for at `map`, views resolved. It holds for every iteration.
  std::uint32_t add_root(ValueId node, const IndexMap& map);
  /// Settles the guards of all places; no root may be added afterwards.
  void settle();

  /// Read from memory: a parameter, or what another group stores.
  bool is_load(ValueId node) const;
  const std::vector<Place>& all() const { return places_; }
  const Condition& condition(std::uint32_t id) const { return conditions_[id]; }
  /// The place of the index that a `gathered` atom of some place's map stands for.
  std::uint32_t index_place(AtomId gathered) const { return index_places_.at(gathered); }

 private:
  /// Where a place is used. When two guards of which neither implies the other have met, what they
  /// share says less than either, and a load has to look at its own bounds as well.
  struct Demand {
    Guard guard;
    bool reached = false, loosened = false;
  };

  std::uint32_t find_or_add(ValueId node, IndexMap map);
  std::uint32_t use(ValueId node, std::size_t k, const IndexMap& map);
  void add_indices(const Index& index, std::vector<std::uint32_t>& places);
  void add_concatenate(Place& place);
  void add_slice_update(Place& place);
  std::uint32_t intern(Condition condition);
  Guard bounds(const Place& load);
  static void meet(Demand& demand, const Guard& guard, bool loosened);

  const Graph& graph_;
  IndexSpace& space_;
  const Group& group_;
  const std::vector<bool>& stored_;
  std::unordered_set<std::uint32_t> members_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> roots_;
  std::vector<Condition> conditions_;
  std::unordered_map<std::string, std::uint32_t> place_ids_, condition_ids_;
  std::unordered_map<AtomId, std::uint32_t> index_places_;
};

}  // namespace heddle::passes
