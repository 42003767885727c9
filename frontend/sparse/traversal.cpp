#include <algorithm>
#include <numeric>
#include <utility>

#include "heddle/creation.h"
#include "heddle/csgraph.h"

#include "frontend/sparse/host_graph.h"

namespace heddle::sparse::csgraph {

namespace {

/// Nodes in the order in which they were found.
struct Found {
  std::vector<std::int32_t> order, predecessors;
  std::vector<bool> seen;

  explicit Found(const HostGraph& graph)
      : predecessors(at(graph.nodes()), no_node), seen(at(graph.nodes())) {}

  void add(std::int64_t node, std::int64_t from) {
    seen[at(node)] = true;
    order.push_back(static_cast<std::int32_t>(node));
    predecessors[at(node)] = static_cast<std::int32_t>(from);
  }
  Traversal made(const SourceLocation& where) const {
    return {array(order, where), array(predecessors, where)};
  }
};

/// The nodes by their number of neighbours, stably.
std::vector<std::int64_t> by_degree(const HostGraph& graph) {
  std::vector<std::int64_t> nodes(at(graph.nodes()));
  std::iota(nodes.begin(), nodes.end(), std::int64_t{0});
  std::ranges::stable_sort(nodes, {}, [&](std::int64_t node) {
    return graph.indptr[at(node) + 1] - graph.indptr[at(node)];
  });
  return nodes;
}

}  // namespace

Traversal breadth_first_order(const Csr& a, std::int64_t start, SourceLocation where) {
  const HostGraph graph = host_graph("breadth_first_order", a, Weights::ignored, where);
  check_node("breadth_first_order", start, graph, where);
  Found found(graph);
  found.add(start, no_node);
  for (std::size_t i = 0; i < found.order.size(); ++i) {
    const std::int64_t node = found.order[i];
    for (const std::int64_t next : graph.neighbours(node))
      if (!found.seen[at(next)]) found.add(next, node);
  }
  return found.made(where);
}

Traversal depth_first_order(const Csr& a, std::int64_t start, SourceLocation where) {
  const HostGraph graph = host_graph("depth_first_order", a, Weights::ignored, where);
  check_node("depth_first_order", start, graph, where);
  Found found(graph);
  found.add(start, no_node);
  // The nodes from the start to the current one, with the edge that is next.
  std::vector<std::pair<std::int64_t, std::int64_t>> path{{start, graph.indptr[at(start)]}};
  while (!path.empty()) {
    auto& [node, edge] = path.back();
    if (edge == graph.indptr[at(node) + 1]) {
      path.pop_back();
      continue;
    }
    const std::int64_t next = graph.indices[at(edge++)];
    if (found.seen[at(next)]) continue;
    found.add(next, node);
    path.emplace_back(next, graph.indptr[at(next)]);
  }
  return found.made(where);
}

Array reverse_cuthill_mckee(const Csr& a, SourceLocation where) {
  const HostGraph graph = host_graph("reverse_cuthill_mckee", a, Weights::ignored, where);
  const std::vector<std::int64_t> nodes = by_degree(graph);
  std::vector<std::int64_t> rank(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) rank[at(nodes[i])] = static_cast<std::int64_t>(i);
  Found found(graph);
  std::size_t done = 0;
  for (const std::int64_t start : nodes) {
    if (found.seen[at(start)]) continue;
    found.add(start, no_node);
    for (; done < found.order.size(); ++done) {
      const std::int64_t node = found.order[done];
      const std::size_t first = found.order.size();
      for (const std::int64_t next : graph.neighbours(node))
        if (!found.seen[at(next)]) found.add(next, node);
      const auto added = std::ranges::subrange(
          found.order.begin() + static_cast<std::ptrdiff_t>(first), found.order.end());
      std::ranges::sort(added, {}, [&](std::int32_t next) { return rank[at(next)]; });
    }
  }
  std::ranges::reverse(found.order);
  return array(found.order, where);
}

}  // namespace heddle::sparse::csgraph
