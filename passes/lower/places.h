#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/groups/group.h"
#include "passes/groups/index.h"

namespace heddle::passes {

/// The condition begin <= index < end and (index - begin) % step == 0.
struct Condition {
  Index index;
  Dim begin, end;
  Dim step = 1;
};

/// A conjunction of conditions, as sorted indices into Places::conditions_. Empty: always true.
using Guard = std::vector<std::uint32_t>;

/// A value instance: a node evaluated at one index map. Becomes one instruction of the kernel.
struct Place {
  /// An operand, whose value is used only where `inside` holds. In a slice_update, the value comes
  /// first; the base comes second, unless the region covers it.
  struct Use {
    std::uint32_t place;
    Guard inside;
  };
  ValueId node{};
  IndexMap map;
  std::vector<Use> operands;
  std::vector<std::uint32_t> indices;  ///< value instances that `map` depends on
  Guard guard;                         ///< true wherever the value is used
};

/// All value instances of a group, operands before users, with their guards. Arithmetic cannot
/// fail, so it is computed once and without a guard. Only loads are guarded, because they must stay
/// inside their arrays.
class Places {
 public:
  /// `stored[v]`: value v is in memory after its group has run.
  Places(const Graph& graph, IndexSpace& space, const Group& group,
         const std::vector<bool>& stored);

  /// Adds the instance of `node` at `map`, with views resolved, as a value needed in every
  /// iteration.
  std::uint32_t add_root(ValueId node, const IndexMap& map);
  /// Computes the guards of all instances. No root may be added afterwards.
  void settle();

  /// Whether the node is read from memory: a parameter, or a value that another group stores.
  bool is_load(ValueId node) const;
  /// Whether the group computes the reduction as arithmetic on the elements of its row.
  bool is_unrolled(ValueId node) const;
  const std::vector<Place>& all() const { return places_; }
  const Condition& condition(std::uint32_t id) const { return conditions_[id]; }
  /// The instance of the index value that a `gathered` atom in some map stands for.
  std::uint32_t index_place(AtomId gathered) const { return index_places_.at(gathered); }

 private:
  /// The uses of an instance, combined. If two guards are incomparable, `guard` is their
  /// intersection, which is weaker than either; then `loosened` is set, and a load also checks its
  /// bounds at run time.
  struct Demand {
    Guard guard;
    bool reached = false, loosened = false;
  };

  std::uint32_t find_or_add(ValueId node, IndexMap map);
  /// Replaces a view, and the index map at which it is read, by its operand and the map of that.
  /// False if the node is no view.
  bool read_through_view(ValueId& node, IndexMap& map);
  /// The only operand that gives the value of the node at `map`, without a computation; null if
  /// there is none.
  std::optional<std::size_t> source_of(ValueId node, const IndexMap& map) const;
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
