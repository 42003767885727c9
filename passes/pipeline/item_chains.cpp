#include "passes/pipeline/item_chains.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "passes/calls/lowering.h"
#include "passes/pipeline/item_plan.h"
#include "passes/plan/analyze.h"
#include "passes/plan/families.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

/// Positions count groups in the order in which they run.
using Position = std::size_t;

class Chains {
 public:
  Chains(const LowerContext& context, const Grouping& grouping, const ir::Target& target,
         bool strict, bool fuse)
      : context_(context),
        graph_(context.graph),
        groups_(grouping.groups),
        target_(target),
        strict_(strict),
        fuses_(fuse),
        plans_(groups_.size()),
        taken_(groups_.size()) {}

  std::unordered_map<std::size_t, ItemChain> run() {
    std::unordered_map<std::size_t, ItemChain> chains;
    for (Position position = 0; position < groups_.size(); ++position)
      calls_.push_back(item_of(at(position)));
    if (std::ranges::none_of(calls_, &std::optional<ItemCall>::has_value)) return chains;
    find_uses();
    for (Position position = 0; position < groups_.size(); ++position) {
      if (taken_[position] || !calls_[position]) continue;
      ItemChain chain = chain_from(position);
      const std::size_t last = chain.groups.back();
      chains.emplace(last, std::move(chain));
    }
    return chains;
  }

 private:
  const Group& at(Position position) const { return groups_[index_at(position)]; }
  std::size_t index_at(Position position) const { return groups_.size() - 1 - position; }

  std::optional<ItemCall> item_of(const Group& group) const {
    if (!group.library || group.epilogue || computes_nothing(graph_, group.root))
      return std::nullopt;
    return item_call(graph_, group.root, target_);
  }

  void find_uses() {
    for (Position position = 0; position < groups_.size(); ++position) {
      const Group& group = at(position);
      for (const ValueId value : group.stored) makers_[index_of(value)] = position;
      for (const ValueId value : values_read(position)) readers_[index_of(value)].insert(position);
    }
    for (const ValueId output : graph_.outputs) outputs_.insert(index_of(output));
  }

  std::vector<ValueId> values_read(Position position) {
    const Group& group = at(position);
    if (computes_nothing(graph_, group.root)) return {};
    std::vector<ValueId> values;
    if (group.library) {
      const ValueId call = group.epilogue ? group.epilogue->product : group.root;
      values = arrays_read(graph_, call, {target_, strict_});
      if (group.epilogue && group.epilogue->residual) values.push_back(*group.epilogue->residual);
      if (group.epilogue && group.epilogue->bias) values.push_back(*group.epilogue->bias);
      return values;
    }
    plans_[position] = lower(context_, group);
    for (const KernelOperand& operand : plans_[position]->operands) {
      if (!operand.written) values.push_back(operand.value);
    }
    if (group.in_place) values.push_back(graph_.operands(group.root)[0]);
    return values;
  }

  ItemChain chain_from(Position start) {
    ItemPlan plan(context_, target_);
    members_.clear();
    Position position = start;
    plan.open_call(at(position).root, *calls_[position]);
    std::optional<std::size_t> held;  // the operand that the previous phase left in the item
    while (true) {
      add_operands(plan, position, held);
      plan.run_call();
      take(position);
      const std::vector<Position> users = take_users(plan, position);
      store_results(plan, position, users);
      for (std::size_t i = 0; i + 1 < users.size(); ++i) plan.use_results(*plans_[users[i]]);
      if (users.empty()) break;
      const Position user = users.back();
      const std::optional<Position> next = next_call(plan, user);
      if (!next) {
        plan.use_results(*plans_[user]);
        break;
      }
      held = operand_of(*next, at(user).stored.front());
      plan.continue_with(at(*next).root, *calls_[*next], *held, *plans_[user]);
      position = *next;
    }
    ItemChain chain;
    std::ranges::sort(members_);
    for (const Position member : members_) chain.groups.push_back(index_at(member));
    chain.plan = plan.finish();
    return chain;
  }

  void add_operands(ItemPlan& plan, Position position, std::optional<std::size_t> held) {
    const std::vector<ValueId> arrays = arrays_read(graph_, at(position).root, {target_, strict_});
    std::map<Position, std::size_t> made;  // arrays of a group
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      if (k == held) continue;
      const bool once = std::ranges::count(arrays, arrays[k]) == 1;
      const std::optional<Position> maker =
          once ? fusible_maker(arrays[k], position) : std::nullopt;
      if (maker && plan.make_operand(k, making(*maker, arrays[k]))) {
        ++made[*maker];
      } else {
        plan.load_operand(k, arrays[k]);
      }
    }
    for (const auto& [maker, count] : made) {
      if (count == at(maker).stored.size()) take(maker);
    }
  }

  /// The plan of a group for one of the arrays that it makes.
  KernelPlan making(Position maker, ValueId array) const {
    KernelPlan plan = *plans_[maker];
    std::erase_if(plan.stores,
                  [&](const Store& store) { return plan.operands[store.operand].value != array; });
    return plan;
  }

  /// The operand of the call at `position` that the array holds.
  std::size_t operand_of(Position position, ValueId array) const {
    const std::vector<ValueId> arrays = arrays_read(graph_, at(position).root, {target_, strict_});
    return static_cast<std::size_t>(std::ranges::find(arrays, array) - arrays.begin());
  }

  void take(Position position) {
    taken_[position] = true;
    members_.push_back(position);
  }

  bool is_elementwise(Position position) const {
    if (taken_[position] || !plans_[position] || at(position).in_place) return false;
    const KernelPlan& plan = *plans_[position];
    return plan.inner.empty() && plan.reductions.empty() &&
           std::ranges::none_of(plan.stores,
                                [](const Store& one) { return one.combine || one.by_value; });
  }

  /// Whether groups can move from one position to a later one: nothing in between writes in place.
  bool can_move(Position from, Position to) const {
    for (Position between = from + 1; between < to; ++between) {
      if (at(between).in_place) return false;
    }
    return true;
  }

  /// The elementwise group that makes `array`, if only the call at `user` needs what it makes.
  std::optional<Position> fusible_maker(ValueId array, Position user) const {
    const auto maker = makers_.find(index_of(array));
    if (!fuses_ || maker == makers_.end() || !is_elementwise(maker->second) ||
        !can_move(maker->second, user))
      return std::nullopt;
    const bool alone = std::ranges::all_of(at(maker->second).stored, [&](ValueId made) {
      const auto readers = readers_.find(index_of(made));
      return !outputs_.contains(index_of(made)) && readers != readers_.end() &&
             readers->second == std::set{user};
    });
    return alone ? std::optional(maker->second) : std::nullopt;
  }

  /// Takes the elementwise groups that read results of the call, in order.
  std::vector<Position> take_users(const ItemPlan& plan, Position call) {
    std::set<Position> all;
    for (const ValueId result : at(call).stored) {
      const auto readers = readers_.find(index_of(result));
      if (readers != readers_.end()) all.insert(readers->second.begin(), readers->second.end());
    }
    std::vector<Position> users;
    if (plan.in_parts() && (all.size() > 1 || is_output(call))) return users;
    std::size_t arrays = plan.arrays();
    for (const Position one : all) {
      if (!fuses_ || !is_elementwise(one) || !can_move(call, one) || needed_before(one) ||
          reads_stored(one) || !plan.can_use(*plans_[one]) ||
          arrays + plans_[one]->operands.size() > max_operands)
        continue;
      arrays += plans_[one]->operands.size();
      take(one);
      users.push_back(one);
    }
    return users;
  }

  bool is_output(Position call) const {
    return std::ranges::any_of(at(call).stored,
                               [&](ValueId value) { return outputs_.contains(index_of(value)); });
  }

  bool is_member(Position position) const {
    return std::ranges::find(members_, position) != members_.end();
  }

  /// Whether an elementwise group reads an array that the chain stores, other than results of
  /// calls, which it finds in the item.
  bool reads_stored(Position user) const {
    return std::ranges::any_of(plans_[user]->operands, [&](const KernelOperand& operand) {
      const auto maker = makers_.find(index_of(operand.value));
      return !operand.written && maker != makers_.end() && is_member(maker->second) &&
             !calls_[maker->second];
    });
  }

  /// Whether a call reads an array that the chain stores, other than the one that is held, or that
  /// one twice.
  bool reads_more(Position call, ValueId held) const {
    const std::vector<ValueId> arrays = arrays_read(graph_, at(call).root, {target_, strict_});
    const auto stored = std::ranges::count_if(arrays, [&](ValueId array) {
      const auto maker = makers_.find(index_of(array));
      return maker != makers_.end() && is_member(maker->second);
    });
    return std::ranges::count(arrays, held) != 1 || stored != 1;
  }

  /// Whether a group outside of the chain reads what the chain stores, before `end`.
  bool needed_before(Position end) const {
    for (const Position member : members_) {
      for (const ValueId value : at(member).stored) {
        const auto readers = readers_.find(index_of(value));
        if (readers == readers_.end()) continue;
        const bool early = std::ranges::any_of(
            readers->second, [&](Position reader) { return reader < end && !is_member(reader); });
        if (early) return true;
      }
    }
    return false;
  }

  /// The call that is the only one to read the only array that the group at `user` makes.
  std::optional<Position> next_call(const ItemPlan& plan, Position user) const {
    const Group& group = at(user);
    if (group.stored.size() != 1 || outputs_.contains(index_of(group.stored.front())))
      return std::nullopt;
    const auto readers = readers_.find(index_of(group.stored.front()));
    if (readers == readers_.end() || readers->second.size() != 1) return std::nullopt;
    const Position next = *readers->second.begin();
    const std::optional<ItemCall>& item = calls_[next];
    const bool fits = item && !taken_[next] && can_move(user, next) && !needed_before(next) &&
                      !reads_more(next, group.stored.front()) &&
                      plan.can_continue(*plans_[user], at(next).root, *item,
                                        operand_of(next, group.stored.front()));
    return fits ? std::optional(next) : std::nullopt;
  }

  void store_results(ItemPlan& plan, Position call, const std::vector<Position>& users) const {
    for (const ValueId result : at(call).stored) {
      const auto readers = readers_.find(index_of(result));
      const bool elsewhere =
          outputs_.contains(index_of(result)) ||
          (readers != readers_.end() && std::ranges::any_of(readers->second, [&](Position one) {
             return std::ranges::find(users, one) == users.end();
           }));
      if (elsewhere) plan.store_result(result);
    }
  }

  const LowerContext& context_;
  const Graph& graph_;
  const std::vector<Group>& groups_;
  const ir::Target& target_;
  const bool strict_, fuses_;
  std::vector<std::optional<ItemCall>> calls_;    ///< by position
  std::vector<std::optional<KernelPlan>> plans_;  ///< of kernels, before they are scheduled
  std::vector<bool> taken_;
  std::vector<Position> members_;
  std::unordered_map<std::uint32_t, Position> makers_;
  std::unordered_map<std::uint32_t, std::set<Position>> readers_;
  std::set<std::uint32_t> outputs_;
};

}  // namespace

std::unordered_map<std::size_t, ItemChain> item_chains(const LowerContext& context,
                                                       const Grouping& grouping,
                                                       const ir::Target& target, bool strict,
                                                       bool fuse) {
  return Chains(context, grouping, target, strict, fuse).run();
}

}  // namespace heddle::passes
