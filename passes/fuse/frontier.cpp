#include "passes/fuse/frontier.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <unordered_map>

#include "passes/groups/node_orders.h"
#include "passes/groups/per_element.h"
#include "passes/groups/rotation.h"
#include "passes/plan/families.h"

namespace heddle::passes {

namespace {

/// The value below a chain of views.
ValueId viewed(const Graph& graph, ValueId value) {
  for (;;) {
    if (const std::optional<Rotation> rotation = rotation_of(graph, value)) {
      value = rotation->array;
    } else if (ir::is_view(graph.op(value))) {
      value = graph.operands(value)[0];
    } else {
      return value;
    }
  }
}

/// Whether a kernel can compute the op element by element, whatever else it contains.
bool is_computed(const Graph& graph, ValueId value) {
  const ir::Op op = graph.op(value);
  return is_per_element(graph, value) || op == ir::Op::iota || op == ir::Op::gather ||
         op == ir::Op::concatenate || op == ir::Op::slice_update;
}

}  // namespace

/// Simulates a group that takes in one node after another, in reverse order of `order`.
class FrontierFinder::Growth {
 public:
  Growth(FrontierFinder& finder, const Order& order, const std::vector<bool>& is_output,
         const ReadingOf& reading)
      : finder_(finder),
        graph_(finder.graph_),
        order_(order),
        is_output_(is_output),
        reading_(reading) {}

  Frontier run(const Group& group) {
    for (const ValueId member : group.members) values_[index_of(member)].joined = 0;
    for (const ValueId member : group.members) read_operands(member, 1);
    operations_ = group.operations;
    consider();
    while (!open_.empty()) {
      const auto [number, value] = open_.top();
      if (operations_ + operations_of(value) > max_operations) return at(by_operations_);
      if (loads_ > max_operands) return at(by_operands_);
      open_.pop();
      join(ValueId(value));
      consider();
    }
    return at({0, step_});
  }

 private:
  /// The group stops a sixteenth below the limits. A few nodes that join later, as siblings, then
  /// need no second fusion barrier.
  static constexpr int margin = 16;
  static constexpr int never = std::numeric_limits<int>::max();
  struct Value {
    int seen = never, joined = never;  ///< step numbers
    int maps = 0;
    bool from_memory = false, computed = false;
  };

  struct Least {
    double bytes = std::numeric_limits<double>::max();
    int step = -1;
    void offer(double crossing, int at) {
      if (crossing <= bytes) bytes = crossing, step = at;
    }
  };

  int operations_of(std::uint32_t value) {
    return values_[value].maps * passes::operations_of(graph_, ValueId(value), finder_.target_);
  }

  void join(ValueId node) {
    Value& value = values_[index_of(node)];
    value.joined = ++step_;
    operations_ += operations_of(index_of(node));
    crossing_ -= cost(node);
    read_operands(node, value.maps);
  }

  void read_operands(ValueId user, int maps) {
    for (const ValueId operand : graph_.operands(user)) {
      const ValueId value = viewed(graph_, operand);
      read(value, maps);
      const bool last = order_.first_users[index_of(value)] == order_.numbers[index_of(user)];
      if (last && values_[index_of(value)].from_memory) crossing_ -= bytes(value);
    }
  }

  // Assumes that all views of a value read it at the same index map. Only the group itself
  // (Reading::maps) knows of further index maps.
  void read(ValueId id, int maps) {
    Value& value = values_[index_of(id)];
    if (value.joined != never) return;
    const bool is_new = value.seen == never;
    value.maps = std::max(value.maps, maps);
    if (!is_new) return;
    value.seen = step_;
    const ir::Op op = graph_.op(id);
    if (op == ir::Op::constant || (op == ir::Op::parameter && graph_.attributes(id).scalar)) return;
    const Reading known = reading_(id);
    value.maps = std::max(value.maps, known.maps);
    value.from_memory = known.from_memory || !is_computed(graph_, id);
    if (value.from_memory) {
      ++loads_;
      crossing_ += bytes(id);
    } else {
      value.computed = true;
      open_.emplace(order_.numbers[index_of(id)], index_of(id));
      crossing_ += cost(id);
    }
  }

  double bytes(ValueId value) const {
    return static_cast<double>(estimated_elements(graph_.shape(value))) *
           static_cast<double>(size_of(graph_.dtype(value)));
  }

  /// Whether the value should be computed on both sides of a fusion barrier instead of being
  /// stored.
  bool is_cheap(ValueId value) const {
    return duplicating_pays(finder_.recomputations_[index_of(value)], graph_.dtype(value), 2,
                            finder_.rates_);
  }

  /// Bytes moved if the value is on the other side of the barrier: it is written and read, or
  /// recomputed from what is read.
  double cost(ValueId value) const {
    if (is_cheap(value)) {
      return static_cast<double>(estimated_elements(graph_.shape(value))) *
             finder_.recomputations_[index_of(value)].bytes;
    }
    return is_output_[index_of(value)] ? bytes(value) : 2 * bytes(value);
  }

  /// Records the step if the fewest bytes cross the frontier so far, and the group has at least
  /// half of its maximum size.
  void consider() {
    ++finder_.work_;
    const bool fits = loads_ + static_cast<int>(open_.size()) <= max_operands &&
                      loads_ <= max_operands - max_operands / margin &&
                      operations_ <= max_operations - max_operations / margin;
    if (open_.empty() || !fits) return;
    if (operations_ >= max_operations / 2) by_operations_.offer(crossing_, step_);
    if (loads_ >= max_operands / 2) by_operands_.offer(crossing_, step_);
  }

  Frontier at(const Least& best) const {
    Frontier result;
    if (best.step < 0) return result;
    for (const auto& [index, value] : values_) {
      const bool was_open = value.computed && value.seen <= best.step && value.joined > best.step;
      if (was_open && !is_cheap(ValueId(index))) result.values.push_back(ValueId(index));
      if (value.computed && value.joined <= best.step) result.computed.push_back(ValueId(index));
    }
    std::ranges::sort(result.values);
    result.bytes = best.bytes;
    return result;
  }

  FrontierFinder& finder_;
  const Graph& graph_;
  const Order& order_;
  const std::vector<bool>& is_output_;
  const ReadingOf& reading_;
  std::unordered_map<std::uint32_t, Value> values_;
  std::priority_queue<std::pair<std::uint32_t, std::uint32_t>> open_;  ///< order number, value
  int operations_ = 0, loads_ = 0, step_ = 0;
  double crossing_ = 0;
  Least by_operations_, by_operands_;
};

FrontierFinder::FrontierFinder(const Graph& graph, const std::vector<Recomputation>& recomputations,
                               const ir::Target& target)
    : graph_(graph),
      recomputations_(recomputations),
      target_(target),
      rates_(ir::capabilities_of(target).rates) {}

FrontierFinder::Order FrontierFinder::order_of(std::vector<std::uint32_t> numbers) const {
  Order order{std::move(numbers), {}};
  order.first_users.assign(graph_.size(), std::numeric_limits<std::uint32_t>::max());
  for (std::size_t i = graph_.size(); i-- > 0;) {
    const auto user = ValueId(i);
    const std::uint32_t number =
        ir::is_view(graph_.op(user)) ? order.first_users[i] : order.numbers[i];
    for (const ValueId operand : graph_.operands(user)) {
      std::uint32_t& first = order.first_users[index_of(operand)];
      first = std::min(first, number);
    }
  }
  return order;
}

const std::vector<FrontierFinder::Order>& FrontierFinder::orders() {
  if (orders_.empty()) {
    orders_.push_back(order_of(number_as_recorded(graph_)));
    orders_.push_back(order_of(number_depth_first(graph_)));
    orders_.push_back(order_of(number_by_level(graph_)));
  }
  return orders_;
}

Frontier FrontierFinder::find(const Group& group, const std::vector<bool>& is_output,
                              const ReadingOf& reading) {
  std::optional<Frontier> best;
  for (const Order& order : orders()) {
    Frontier one = Growth(*this, order, is_output, reading).run(group);
    if (one.values.empty() && !one.computed.empty()) return one;
    if (!best || best->values.empty() || (!one.values.empty() && one.bytes < best->bytes))
      best = std::move(one);
  }
  return *best;
}

}  // namespace heddle::passes
