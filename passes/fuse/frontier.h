#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "passes/groups/cost.h"
#include "passes/groups/group.h"

namespace heddle::passes {

/// The predicted growth of a group.
struct Frontier {
  /// Fusion barrier, if the group would exceed a kernel's limits: the values that it reads from
  /// memory instead of computing them.
  std::vector<ValueId> values;
  double bytes = 0;               ///< written and read because of the barrier
  std::vector<ValueId> computed;  ///< the nodes that the group will probably compute
};

/// Finds frontiers by simulating the growth of a group, up to the limits in families.h, once for
/// each order of node_orders.h, in reverse. After each step, the simulated group is a valid group.
/// Among the steps at which the group uses at least half of a limit, the finder takes the one where
/// the fewest bytes cross the frontier (the last such step). The work is bounded by the size of one
/// kernel.
class FrontierFinder {
 public:
  FrontierFinder(const Graph& graph, const std::vector<Recomputation>& recomputations,
                 const ir::Target& target);

  /// How the group reads a value, as far as known.
  struct Reading {
    bool from_memory = false;  ///< it is or will be in memory, whatever the group does
    int maps = 1;              ///< number of index maps at which the group evaluates it
  };
  using ReadingOf = std::function<Reading(ValueId)>;

  /// `is_output[v]`: value v is stored in any case.
  Frontier find(const Group& group, const std::vector<bool>& is_output, const ReadingOf& reading);

  /// Total number of simulated steps.
  std::size_t work() const { return work_; }

 private:
  /// A number for each node, operands before users, and for each value the smallest number of its
  /// users.
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
  std::vector<Order> orders_;  ///< created on first use
  std::size_t work_ = 0;
};

}  // namespace heddle::passes
