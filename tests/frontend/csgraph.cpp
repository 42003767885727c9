// heddle/csgraph.h; tests/python/test_sparse_csgraph.py holds the same functions to SciPy.
#include <vector>

#include "against_numpy.h"

namespace heddle::test {
namespace {

namespace sp = hd::sparse;
namespace graphs = hd::sparse::csgraph;

constexpr double none = -1;  // in place of infinity
constexpr std::int32_t no_node = -9999;

/// Edges 0 -> 1 (7), 0 -> 2 (2), 2 -> 1 (4) and 1 -> 3 (weight); node 4 is alone.
sp::Csr graph(double weight = 1) {
  return {hd::array<double>({7, 2, weight, 4}),
          hd::array<std::int32_t>({1, 2, 3, 1}),
          hd::array<std::int32_t>({0, 2, 3, 4, 4, 4}),
          {5, 5},
          true,
          true};
}

Array finite(const Array& distances) { return hd::where(hd::isinf(distances), none, distances); }

Array nodes(const std::vector<std::int64_t>& list) { return hd::array(list); }

TEST_CASE("shortest paths") {
  const Array sources = nodes({0, 2});
  for (const graphs::Paths& paths :
       {graphs::dijkstra(graph(), sources), *graphs::bellman_ford(graph(), sources),
        *graphs::johnson(graph(), sources)}) {
    check<double>(finite(paths.distances), {2, 5}, {0, 6, 2, 7, none, none, 4, 0, 5, none});
    check<std::int32_t>(paths.predecessors, {2, 5},
                        {no_node, 2, 0, 1, no_node, no_node, 2, no_node, 1, no_node});
  }
  check<double>(finite(graphs::dijkstra(graph(), nodes({0}), 6).distances), {1, 5},
                {0, 6, 2, none, none});
  const graphs::NearestPaths nearest = graphs::nearest(graph(), nodes({2, 3}));
  check<double>(finite(nearest.distances), {5}, {none, 4, 0, 0, none});
  check<std::int32_t>(nearest.sources, {5}, {no_node, 2, 2, 3, no_node});
  check<std::int32_t>(nearest.predecessors, {5}, {no_node, 2, no_node, no_node, no_node});
}

TEST_CASE("negative lengths") {
  check<double>(finite(graphs::johnson(graph(-9), nodes({0}))->distances), {1, 5},
                {0, 6, 2, -3, none});
  const sp::Csr cycle{hd::array<double>({1, -2}),
                      hd::array<std::int32_t>({1, 0}),
                      hd::array<std::int32_t>({0, 1, 2, 2}),
                      {3, 3}};
  CHECK_FALSE(graphs::johnson(cycle, nodes({2})).has_value());
  CHECK_FALSE(graphs::bellman_ford(cycle, nodes({0})).has_value());
  CHECK(graphs::bellman_ford(cycle, nodes({2})).has_value());  // which leads to no cycle
}

TEST_CASE("searches, trees and orders of graphs") {
  const graphs::Traversal breadth = graphs::breadth_first_order(graph(), 0);
  check<std::int32_t>(breadth.order, {4}, {0, 1, 2, 3});
  check<std::int32_t>(breadth.predecessors, {5}, {no_node, 0, 0, 1, no_node});
  const graphs::Traversal depth = graphs::depth_first_order(graph(), 0);
  check<std::int32_t>(depth.order, {4}, {0, 1, 3, 2});
  check<std::int32_t>(depth.predecessors, {5}, {no_node, 0, 0, 1, no_node});
  CHECK(graphs::minimum_spanning_tree(graph()).to_vector<bool>() ==
        std::vector<bool>{false, true, true, true});
  const Array order = graphs::reverse_cuthill_mckee(graph());
  CHECK(hd::sort(order).to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("what is no graph, and no node") {
  sp::Csr wide = graph();
  wide.shape = {5, 6};
  CHECK_THROWS_AS(graphs::dijkstra(wide, nodes({0})), ShapeError);
  CHECK_THROWS_AS(graphs::minimum_spanning_tree(wide), ShapeError);
  CHECK_THROWS_AS(graphs::reverse_cuthill_mckee(wide), ShapeError);
  CHECK_THROWS_AS(graphs::johnson(graph(), nodes({5})), IndexError);
  CHECK_THROWS_AS(graphs::breadth_first_order(graph(), -1), IndexError);
  CHECK_THROWS_AS(graphs::depth_first_order(graph(), 5), IndexError);
  const auto search =
      hd::jit([](const sp::Csr& a) { return graphs::breadth_first_order(a, 0).order; });
  CHECK_THROWS_AS(search(graph()), TraceError);
}

}  // namespace
}  // namespace heddle::test
