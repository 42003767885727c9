"""Graphs as dense matrices, and distances along known paths."""

import math

import heddle as hd
from heddle.sparse._base import CLASSES
from heddle.sparse.csgraph._graphs import graph_of


def _is_square(name, x):
    if x.ndim != 2 or x.shape[0] != x.shape[1]:
        raise ValueError(f"{name}: the graph must be square, not {x.shape}")


def csgraph_from_dense(graph, null_value=0, nan_null=True, infinity_null=True):
    """The graph of a dense matrix as compressed rows of float64: scipy.sparse.csgraph.csgraph_from_dense.
    Elements that are null_value are no edges, nor are NaN and infinities unless nan_null and
    infinity_null are false. With null_value=None zeros are edges. Evaluates, and waits for the number of
    edges. Raises ValueError for a matrix that is not square.

    >>> hd.sparse.csgraph.csgraph_from_dense([[0, 7], [float("inf"), 0]]).nnz
    """
    x = hd.asarray(graph).astype(hd.float64)
    _is_square("csgraph_from_dense", x)
    edges = hd.ones_like(x, dtype=hd.bool)
    if null_value is not None:
        nan_null, infinity_null = nan_null or math.isnan(null_value), infinity_null or math.isinf(null_value)
        edges = x != null_value if math.isfinite(null_value) else edges
    edges = edges & ~hd.isnan(x) if nan_null else edges
    edges = edges & ~hd.isinf(x) if infinity_null else edges
    rows, columns = hd.nonzero(edges)
    return CLASSES["coo", True]((x[rows, columns], (rows.astype(hd.int32), columns.astype(hd.int32))),
                                shape=x.shape).tocsr()


def csgraph_to_dense(csgraph, null_value=0):
    """The graph as a dense matrix of float64, with null_value where there is no edge:
    scipy.sparse.csgraph.csgraph_to_dense. Of several edges the least one counts; stored zeros are
    edges. Raises ValueError for a matrix that is not square.

    >>> hd.sparse.csgraph.csgraph_to_dense(hd.sparse.eye_array(2), float("inf")).tolist()
    """
    graph = graph_of("csgraph_to_dense", csgraph).tocoo()
    n = graph._extents[0]
    least = hd.full((n, n), float("inf"))
    hd.minimum.at(least, (graph.row, graph.col), graph.data.astype(hd.float64))
    there = hd.zeros((n, n), dtype=hd.bool)
    there[graph.row, graph.col] = True
    return hd.where(there, least, float(null_value))


def construct_dist_matrix(graph, predecessors, directed=True, null_value=float("inf")):
    """The lengths [n, n] of the paths that predecessors [n, n] describe, as shortest_path returns them:
    scipy.sparse.csgraph.construct_dist_matrix. null_value where there is no path. Unless `directed`, an
    edge leads both ways, with the lesser weight. Raises ValueError for shapes that do not fit.

    >>> roads = [[0, 7], [0, 0]]
    >>> hd.sparse.csgraph.construct_dist_matrix(roads, [[-9999, 0], [-9999, -9999]]).tolist()
    """
    weights = csgraph_to_dense(graph, float("inf"))
    weights = weights if directed else hd.minimum(weights, weights.T)
    before = hd.asarray(predecessors)
    n = weights.shape[0]
    if before.shape != (n, n):
        raise ValueError(f"construct_dist_matrix: predecessors have the shape {before.shape}, but there are "
                         f"{n} nodes")
    nodes, known = hd.arange(n), before >= 0
    # Each path is known up to a node; its length doubles in each step, until the node is the first one.
    at = hd.where(known, before, nodes).astype(hd.int64)
    lengths = hd.where(known, weights[at, nodes], hd.zeros_like(weights))
    for _ in range(max(n - 1, 0).bit_length()):
        lengths = lengths + hd.take_along_axis(lengths, at, axis=1)
        at = hd.take_along_axis(at, at, axis=1)
    return hd.where(known | (nodes[:, None] == nodes), lengths, float(null_value))
