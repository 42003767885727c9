#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "heddle/creation.h"
#include "heddle/csgraph.h"

#include "frontend/sparse/host_graph.h"

namespace heddle::sparse::csgraph {

namespace {

/// Sets of nodes that are connected.
class Forest {
 public:
  explicit Forest(std::int64_t nodes) : parents_(at(nodes)) {
    std::iota(parents_.begin(), parents_.end(), std::int64_t{0});
  }
  /// Connects two nodes. False if they were connected already.
  bool connect(std::int64_t a, std::int64_t b) {
    a = root(a);
    b = root(b);
    parents_[at(a)] = b;
    return a != b;
  }

 private:
  std::int64_t root(std::int64_t node) {
    while (parents_[at(node)] != node) {
      parents_[at(node)] = parents_[at(parents_[at(node)])];
      node = parents_[at(node)];
    }
    return node;
  }

  std::vector<std::int64_t> parents_;
};

}  // namespace

Array minimum_spanning_tree(const Csr& a, SourceLocation where) {
  const HostGraph graph = host_graph("minimum_spanning_tree", a, Weights::read, where);
  const std::size_t count = graph.indices.size();
  std::vector<std::int64_t> rows(count), order(count);
  for (std::int64_t node = 0; node < graph.nodes(); ++node) {
    for (std::int64_t edge = graph.indptr[at(node)]; edge < graph.indptr[at(node) + 1]; ++edge)
      rows[at(edge)] = node;
  }
  std::iota(order.begin(), order.end(), std::int64_t{0});
  // NaN comes last, so that this is an order.
  std::ranges::stable_sort(order, [&](std::int64_t i, std::int64_t j) {
    const double x = graph.weights[at(i)], y = graph.weights[at(j)];
    return x < y || (y != y && x == x);
  });
  Forest forest(graph.nodes());
  std::vector<std::uint8_t> taken(count);
  for (const std::int64_t edge : order)
    taken[at(edge)] = forest.connect(rows[at(edge)], graph.indices[at(edge)]) ? 1 : 0;
  return array(taken, where).astype(DType::boolean, where);
}

}  // namespace heddle::sparse::csgraph
