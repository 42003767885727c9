#include "passes/groups/node_orders.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "passes/groups/cost.h"

namespace heddle::passes {

namespace {

/// For each node, the length of the longest path of nodes that leads to it.
std::vector<std::uint32_t> heights_of(const Graph& graph) {
  std::vector<std::uint32_t> heights(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (const ValueId operand : graph.operands(ValueId(i)))
      heights[i] = std::max(heights[i], heights[index_of(operand)] + 1);
  }
  return heights;
}

double bytes_of(const Graph& graph, ValueId value) {
  return static_cast<double>(estimated_elements(graph.shape(value))) *
         static_cast<double>(size_of(graph.dtype(value)));
}

bool is_computed(const Graph& graph, ValueId value) {
  return graph.op(value) != ir::Op::parameter && graph.op(value) != ir::Op::constant;
}

}  // namespace

std::vector<std::uint32_t> number_as_recorded(const Graph& graph) {
  std::vector<std::uint32_t> numbers(graph.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<std::uint32_t> number_depth_first(const Graph& graph) {
  const std::size_t count = graph.size();
  const std::vector<std::uint32_t> heights = heights_of(graph);
  std::vector<std::uint32_t> numbers(count);
  struct Visit {
    ValueId node;
    std::vector<ValueId> operands;  ///< operands still to visit, the first one last
  };
  std::vector<bool> entered(count);
  std::vector<Visit> stack;
  std::uint32_t next = 0;
  const auto enter = [&](ValueId node) {
    if (entered[index_of(node)]) return;
    entered[index_of(node)] = true;
    const auto operands = graph.operands(node);
    Visit visit{node, {operands.begin(), operands.end()}};
    std::ranges::reverse(visit.operands);
    std::ranges::stable_sort(visit.operands, {},
                             [&](ValueId operand) { return heights[index_of(operand)]; });
    stack.push_back(std::move(visit));
  };
  const auto finish = [&](ValueId root) {
    enter(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.operands.empty()) {
        numbers[index_of(top.node)] = next++;
        stack.pop_back();
        continue;
      }
      const ValueId operand = top.operands.back();
      top.operands.pop_back();
      enter(operand);
    }
  };
  for (const ValueId output : graph.outputs) finish(output);
  for (std::size_t i = 0; i < count; ++i) finish(ValueId(i));
  return numbers;
}

std::vector<std::uint32_t> number_by_level(const Graph& graph) {
  const std::size_t count = graph.size();
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> levels = heights_of(graph), first_users(count, none),
                             last_users(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const ValueId operand : graph.operands(ValueId(i)))
      last_users[index_of(operand)] = std::max(last_users[index_of(operand)], levels[i]);
  }
  for (std::size_t i = count; i-- > 0;) {
    const auto node = ValueId(i);
    const auto operands = graph.operands(node);
    if (first_users[i] != none && first_users[i] - 1 > levels[i]) {
      const std::uint32_t later = first_users[i] - 1;
      double kept_alive = 0;
      for (const ValueId operand : operands) {
        if (is_computed(graph, operand) && last_users[index_of(operand)] < later)
          kept_alive += bytes_of(graph, operand);
      }
      if (kept_alive <= bytes_of(graph, node)) levels[i] = later;
    }
    for (const ValueId operand : operands) {
      std::uint32_t& first = first_users[index_of(operand)];
      first = std::min(first, levels[i]);
      std::uint32_t& last = last_users[index_of(operand)];
      last = std::max(last, levels[i]);
    }
  }
  std::vector<std::uint32_t> sorted(count), numbers(count);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::ranges::stable_sort(sorted, {}, [&](std::uint32_t i) { return levels[i]; });
  for (std::uint32_t i = 0; i < count; ++i) numbers[sorted[i]] = i;
  return numbers;
}

}  // namespace heddle::passes
