#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "heddle/array.h"
#include "heddle/fields.h"
#include "heddle/sparse.h"

// Graphs whose edges are the stored elements of a square sparse matrix, with the names and the
// meaning of scipy.sparse.csgraph. An element in row i and column j is an edge from i to j. For an
// undirected graph, pass a matrix that has each edge in both directions.
//
// These searches are sequential: the graph is copied to the host, and the results are on the
// current device. Indices are not checked, see check(). All throw ShapeError for a matrix that is
// not square, and TraceError inside a trace.

namespace heddle::sparse::csgraph {

/// Of each source and node the distance, f64, infinite where there is no path, and the node before
/// it on a shortest path, i32, -9999 where there is none. Both are [sources, nodes].
struct Paths {
  Array distances, predecessors;
};

HEDDLE_STRUCT(Paths, distances, predecessors)

/// Distances from the nearest of several sources, and which that is, i32, -9999 without a path:
/// each is [nodes].
struct NearestPaths {
  Array distances, predecessors, sources;
};

HEDDLE_STRUCT(NearestPaths, distances, predecessors, sources)

constexpr double no_limit = std::numeric_limits<double>::infinity();

/// Shortest paths from sources, 1-d integers, by Dijkstra's algorithm, for weights that are not
/// negative. Nodes that are further away than `limit` count as not reached. IndexError for a source
/// that is not a node.
Paths dijkstra(const Csr& a, const Array& sources, double limit = no_limit,
               SourceLocation where = SourceLocation::current());
NearestPaths nearest(const Csr& a, const Array& sources, double limit = no_limit,
                     SourceLocation where = SourceLocation::current());
/// The same for weights of any sign: by the algorithm of Bellman and Ford, and by that of Johnson,
/// which is faster for many sources. nullopt if a cycle has a negative length; for johnson anywhere
/// in the graph, for bellman_ford where a source leads to it.
std::optional<Paths> bellman_ford(const Csr& a, const Array& sources,
                                  SourceLocation where = SourceLocation::current());
std::optional<Paths> johnson(const Csr& a, const Array& sources,
                             SourceLocation where = SourceLocation::current());

/// Nodes in the order of a search, i32, and the node from which each node [nodes] was found, i32,
/// -9999 for the first one and where none leads.
struct Traversal {
  Array order, predecessors;
};

HEDDLE_STRUCT(Traversal, order, predecessors)

/// The nodes in reach of one, breadth or depth first; neighbours in the order of their elements.
/// IndexError for a start that is not a node.
Traversal breadth_first_order(const Csr& a, std::int64_t start,
                              SourceLocation where = SourceLocation::current());
Traversal depth_first_order(const Csr& a, std::int64_t start,
                            SourceLocation where = SourceLocation::current());

/// Which elements are edges of a spanning tree of least weight, of each component one: bool [nnz].
/// Directions do not count. Of equal weights the first elements are taken.
Array minimum_spanning_tree(const Csr& a, SourceLocation where = SourceLocation::current());

/// An order of the nodes, i32, in which the elements of a symmetric matrix are near to the
/// diagonal, by the algorithm of Cuthill and McKee, reversed.
Array reverse_cuthill_mckee(const Csr& a, SourceLocation where = SourceLocation::current());

}  // namespace heddle::sparse::csgraph
