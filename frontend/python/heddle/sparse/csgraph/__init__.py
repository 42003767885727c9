"""Graphs as sparse matrices, with the names of scipy.sparse.csgraph.

An element in row i and column j is an edge from i to j. Laplacians, weak components and
floyd_warshall are computed on the device. Other searches are sequential: they copy the graph to the
host, and raise TraceError inside jit.
"""

from heddle.sparse.csgraph._components import connected_components
from heddle.sparse.csgraph._dense import construct_dist_matrix, csgraph_from_dense, csgraph_to_dense
from heddle.sparse.csgraph._laplacian import laplacian
from heddle.sparse.csgraph._paths import (NegativeCycleError, bellman_ford, dijkstra, floyd_warshall,
                                          johnson, shortest_path)
from heddle.sparse.csgraph._traversal import (breadth_first_order, breadth_first_tree, depth_first_order,
                                              depth_first_tree, minimum_spanning_tree, reconstruct_path,
                                              reverse_cuthill_mckee)

__all__ = ["NegativeCycleError", "bellman_ford", "breadth_first_order", "breadth_first_tree",
           "connected_components", "construct_dist_matrix", "csgraph_from_dense", "csgraph_to_dense", "depth_first_order", "depth_first_tree", "dijkstra", "floyd_warshall",
           "johnson", "laplacian", "minimum_spanning_tree", "reconstruct_path", "reverse_cuthill_mckee",
           "shortest_path"]
