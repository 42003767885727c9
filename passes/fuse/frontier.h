#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "passes/groups/cost.h"
#include "passes/groups/group.h"

namespace heddle::passes {

/// What becomes of a group.
struct Frontier {
  /// Where it is cut, if it would outgrow a kernel: the values that it reads from memory rather
  /// than compute.
  std::vector<ValueId> values;
  double bytes = 0;               ///< written and read because of the cut
  std::vector<ValueId> computed;  ///< the nodes that it will likely compute
};

/// Finds frontiers by growing a group ahead of time, as far as the limits of families.h allow, in
/// each of the orders of node_orders.h, backwards. At every step the group is one that can be made.
/// Of those that use at least half of what the limit allows, the last is taken into which the
/// fewest bytes go. The work is bounded by the size of one kernel.
class FrontierFinder {
 public:
  FrontierFinder(const Graph& graph, const std::vector<Recomputation>& recomputations,
                 const ir::Target& target);

  /// What the group is known to do with a value.
  struct Reading {
    bool from_memory = false;  ///< it is or will be in memory whatever the group does
    int maps = 1;              ///< places at which the group evaluates it, as far as is known
  };
  using ReadingOf = std::function<Reading(ValueId)>;

  /// `is_output` says which values are stored in any case.
  Frontier find(const Group& group, const std::vector<bool>& is_output, const ReadingOf& reading);

  /// Steps of all growths so far.
  std::size_t work() const { return work_; }

 private:
  /// Numbers of the nodes, operands before users, and the least number among a value's users.
  struct Order {
    std::vector<std::uint32_t> numbers, first_users;
  };
  class Growth;

  Order order_of(std::vector<std::uint32_t> numbers) const;
  const std::vector<Order>& orders();

  const Graph& graph_;
  const std::vector<Recomputation>& recomputations_;
  const ir::Target& target_;
  const ir::Rates rates_;
  std::vector<Order> orders_;  ///< made when first asked for
  std::size_t work_ = 0;
};

}  // namespace heddle::passes
