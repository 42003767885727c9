#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "heddle/creation.h"
#include "heddle/csgraph.h"

#include "frontend/sparse/host_graph.h"

namespace heddle::sparse::csgraph {

namespace {

/// Shortest paths to all nodes.
struct Tree {
  std::vector<double> distances;
  std::vector<std::int32_t> predecessors, sources;

  explicit Tree(const HostGraph& graph)
      : distances(at(graph.nodes()), no_limit),
        predecessors(distances.size(), no_node),
        sources(distances.size(), no_node) {}
};

using Entry = std::pair<double, std::int64_t>;
using Queue = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

/// Dijkstra's algorithm. A node is in the queue once for each distance that was found for it; all
/// but the least are skipped.
Tree search(const HostGraph& graph, std::span<const std::int64_t> sources, double limit) {
  Tree tree(graph);
  Queue queue;
  for (const std::int64_t source : sources) {
    tree.distances[at(source)] = 0;
    tree.sources[at(source)] = static_cast<std::int32_t>(source);
    queue.emplace(0.0, source);
  }
  std::vector<bool> done(tree.distances.size());
  while (!queue.empty()) {
    const auto [distance, node] = queue.top();
    queue.pop();
    if (done[at(node)]) continue;
    done[at(node)] = true;
    for (std::int64_t edge = graph.indptr[at(node)]; edge < graph.indptr[at(node) + 1]; ++edge) {
      const std::int64_t next = graph.indices[at(edge)];
      const double way = distance + graph.weights[at(edge)];
      if (done[at(next)] || !(way < tree.distances[at(next)]) || way > limit) continue;
      tree.distances[at(next)] = way;
      tree.predecessors[at(next)] = static_cast<std::int32_t>(node);
      tree.sources[at(next)] = tree.sources[at(node)];
      queue.emplace(way, next);
    }
  }
  return tree;
}

/// Takes shorter ways along all edges until there are none: at most once a node. False if there
/// still are some then, so that a cycle has a negative length.
bool relax(const HostGraph& graph, Tree& tree) {
  bool changed = true;
  for (std::int64_t turn = 0; changed; ++turn) {
    if (turn > graph.nodes()) return false;
    changed = false;
    for (std::int64_t node = 0; node < graph.nodes(); ++node) {
      const double distance = tree.distances[at(node)];
      if (distance == no_limit) continue;
      for (std::int64_t edge = graph.indptr[at(node)]; edge < graph.indptr[at(node) + 1]; ++edge) {
        const std::int64_t next = graph.indices[at(edge)];
        if (!(distance + graph.weights[at(edge)] < tree.distances[at(next)])) continue;
        tree.distances[at(next)] = distance + graph.weights[at(edge)];
        tree.predecessors[at(next)] = static_cast<std::int32_t>(node);
        changed = true;
      }
    }
  }
  return true;
}

std::vector<std::int64_t> nodes_of(const char* name, const Array& sources, const HostGraph& graph,
                                   const SourceLocation& where) {
  std::vector<std::int64_t> nodes = sources.to_vector<std::int64_t>(where);
  for (const std::int64_t node : nodes) check_node(name, node, graph, where);
  return nodes;
}

/// The rows of a result.
class Rows {
 public:
  void add(const Tree& tree) {
    distances_.insert(distances_.end(), tree.distances.begin(), tree.distances.end());
    predecessors_.insert(predecessors_.end(), tree.predecessors.begin(), tree.predecessors.end());
    ++count_;
  }
  Paths made(const HostGraph& graph, const SourceLocation& where) const {
    const Shape shape{count_, graph.nodes()};
    return {array(distances_, shape, where), array(predecessors_, shape, where)};
  }

 private:
  std::vector<double> distances_;
  std::vector<std::int32_t> predecessors_;
  std::int64_t count_ = 0;
};

}  // namespace

Paths dijkstra(const Csr& a, const Array& sources, double limit, SourceLocation where) {
  const HostGraph graph = host_graph("dijkstra", a, Weights::read, where);
  Rows rows;
  for (const std::int64_t source : nodes_of("dijkstra", sources, graph, where))
    rows.add(search(graph, std::span(&source, 1), limit));
  return rows.made(graph, where);
}

NearestPaths nearest(const Csr& a, const Array& sources, double limit, SourceLocation where) {
  const HostGraph graph = host_graph("dijkstra", a, Weights::read, where);
  const Tree tree = search(graph, nodes_of("dijkstra", sources, graph, where), limit);
  return {array(tree.distances, where), array(tree.predecessors, where),
          array(tree.sources, where)};
}

std::optional<Paths> bellman_ford(const Csr& a, const Array& sources, SourceLocation where) {
  const HostGraph graph = host_graph("bellman_ford", a, Weights::read, where);
  Rows rows;
  for (const std::int64_t source : nodes_of("bellman_ford", sources, graph, where)) {
    Tree tree(graph);
    tree.distances[at(source)] = 0;
    if (!relax(graph, tree)) return std::nullopt;
    rows.add(tree);
  }
  return rows.made(graph, where);
}

std::optional<Paths> johnson(const Csr& a, const Array& sources, SourceLocation where) {
  HostGraph graph = host_graph("johnson", a, Weights::read, where);
  // With the distances from a node beside the graph, which has edges of length 0 to all others, no
  // edge is negative: weight + from - to.
  Tree all(graph);
  all.distances.assign(all.distances.size(), 0);
  if (!relax(graph, all)) return std::nullopt;
  const std::vector<double>& height = all.distances;
  for (std::int64_t node = 0; node < graph.nodes(); ++node) {
    for (std::int64_t edge = graph.indptr[at(node)]; edge < graph.indptr[at(node) + 1]; ++edge)
      graph.weights[at(edge)] += height[at(node)] - height[at(graph.indices[at(edge)])];
  }
  Rows rows;
  for (const std::int64_t source : nodes_of("johnson", sources, graph, where)) {
    Tree tree = search(graph, std::span(&source, 1), no_limit);
    for (std::size_t node = 0; node < height.size(); ++node)
      tree.distances[node] += height[node] - height[at(source)];
    rows.add(tree);
  }
  return rows.made(graph, where);
}

}  // namespace heddle::sparse::csgraph
