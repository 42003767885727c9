"""Shortest paths."""

import operator
import warnings

import heddle as hd
from heddle import _heddle
from heddle.sparse.csgraph._graphs import both_ways, graph_of, on_device_of

_sparse = _heddle._sparse
_NO_NODE = -9999
_NO_LIMIT = float("inf")


class NegativeCycleError(Exception):
    """A cycle has a negative length, so that there are no shortest paths:
    scipy.sparse.csgraph.NegativeCycleError."""


def _prepared(name, csgraph, directed, unweighted, on_host=True):
    if on_host and _sparse.is_tracing():
        raise _heddle.TraceError(f"{name}: the search runs on the host with the values of the graph, which "
                                 "are unknown inside a trace; search outside of the jitted function or "
                                 "loop, or use floyd_warshall")
    graph = graph_of(name, csgraph, unweighted)
    return graph if directed else both_ways(graph)


def _sources(name, graph, indices):
    """The sources as a vector, and the shape of the results' leading axes. Negative indices count from
    the end. Raises ValueError for others that are not nodes."""
    n = graph._extents[0]
    if indices is None:
        return hd.arange(n), (n,)
    indices = hd.asarray(indices)
    if indices.dtype.kind not in "iu":
        raise _heddle.DTypeError(f"{name}: indices are integers, not {indices.dtype}")
    nodes = indices.reshape(-1).astype(hd.int64)
    nodes = hd.where(nodes < 0, nodes + n, nodes)
    if nodes.size and bool(hd.any((nodes < 0) | (nodes >= n))):
        raise ValueError(f"{name}: indices out of range 0...{n}")
    return nodes, indices.shape


def _result(graph, found, lead, return_predecessors):
    distances, predecessors = (each.reshape((*lead, graph._extents[0]))
                               for each in on_device_of(graph, found))
    return (distances, predecessors) if return_predecessors else distances


def _checked_cycles(name, found):
    if found is None:
        raise NegativeCycleError(f"{name}: a cycle has a negative length")
    return found


def _any_negative(graph):
    return graph.nnz > 0 and bool(hd.any(graph.data < 0))


def dijkstra(csgraph, directed=True, indices=None, return_predecessors=False, unweighted=False,
             limit=_NO_LIMIT, min_only=False):
    """The lengths of the shortest paths from nodes to all nodes, by Dijkstra's algorithm:
    scipy.sparse.csgraph.dijkstra.

    csgraph is a square matrix, sparse or dense, of weights that are not negative. Unless `directed`,
    edges lead both ways. The result is float64, [n, n], or for sources `indices` of that shape and
    [n] more: infinity where there is no path, or none up to `limit`. With return_predecessors it is
    (distances, predecessors): the node before each on its path, int32, -9999 where there is none. With
    min_only the distances [n] are those from the nearest source, and the result is (distances,
    predecessors, sources). unweighted counts edges. The search is sequential and runs on the host.
    Raises ValueError for a matrix that is not square, indices out of range and a negative limit; warns
    of negative weights.

    >>> hd.sparse.csgraph.dijkstra([[0, 1, 5], [0, 0, 2], [0, 0, 0]], indices=0).tolist()
    """
    graph = _prepared("dijkstra", csgraph, directed, unweighted)
    if not limit >= 0:
        raise ValueError(f"dijkstra: limit must not be negative, but is {limit}")
    if _any_negative(graph):
        warnings.warn("dijkstra: the graph has negative weights, so results may be wrong; use johnson or "
                      "bellman_ford", UserWarning, stacklevel=2)
    nodes, lead = _sources("dijkstra", graph, indices)
    if not min_only:
        return _result(graph, _sparse.dijkstra(graph._rows_parts, nodes, float(limit)), lead,
                       return_predecessors)
    found = on_device_of(graph, _sparse.nearest(graph._rows_parts, nodes, float(limit)))
    return found if return_predecessors else found[0]


def bellman_ford(csgraph, directed=True, indices=None, return_predecessors=False, unweighted=False):
    """The lengths of shortest paths for weights of any sign, by the algorithm of Bellman and Ford:
    scipy.sparse.csgraph.bellman_ford. Arguments and results as dijkstra. Raises NegativeCycleError if
    a source leads to a cycle of negative length.

    >>> hd.sparse.csgraph.bellman_ford([[0, 4, 5], [0, 0, 0], [0, -2, 0]], indices=0).tolist()
    """
    graph = _prepared("bellman_ford", csgraph, directed, unweighted)
    nodes, lead = _sources("bellman_ford", graph, indices)
    found = _checked_cycles("bellman_ford", _sparse.bellman_ford(graph._rows_parts, nodes))
    return _result(graph, found, lead, return_predecessors)


def johnson(csgraph, directed=True, indices=None, return_predecessors=False, unweighted=False):
    """The lengths of shortest paths for weights of any sign, by Johnson's algorithm, which is faster
    than bellman_ford for many sources: scipy.sparse.csgraph.johnson. Arguments and results as dijkstra.
    Raises NegativeCycleError if there is a cycle of negative length.

    >>> hd.sparse.csgraph.johnson([[0, 4, 5], [0, 0, 0], [0, -2, 0]]).tolist()
    """
    graph = _prepared("johnson", csgraph, directed, unweighted)
    nodes, lead = _sources("johnson", graph, indices)
    found = _checked_cycles("johnson", _sparse.johnson(graph._rows_parts, nodes))
    return _result(graph, found, lead, return_predecessors)


def floyd_warshall(csgraph, directed=True, return_predecessors=False, unweighted=False, overwrite=False):
    """The lengths of the shortest paths between all nodes, for weights of any sign, by the algorithm of
    Floyd and Warshall: scipy.sparse.csgraph.floyd_warshall. Arguments and results as dijkstra.

    It takes n steps of n * n work, in one loop on the device. overwrite is ignored. Raises
    NegativeCycleError if there is a cycle of negative length; inside jit, some distances from a node
    to itself are negative then.

    >>> hd.sparse.csgraph.floyd_warshall([[0, 4, 5], [0, 0, 0], [0, -2, 0]]).tolist()
    """
    graph = _prepared("floyd_warshall", csgraph, directed, unweighted, False).tocoo()
    n = graph._extents[0]
    nodes = hd.arange(n)
    diagonal = nodes[:, None] == nodes
    start = hd.where(diagonal, 0.0, hd.full((n, n), float("inf")))
    hd.minimum.at(start, (graph.row, graph.col), graph.data.astype(hd.float64))
    before = hd.where(hd.isinf(start) | diagonal, _NO_NODE, nodes[:, None]).astype(hd.int32)

    def step(k, state):
        distances, before = state
        way = distances[:, k][:, None] + distances[k]
        shorter = way < distances
        return hd.where(shorter, way, distances), hd.where(shorter, before[k], before)

    distances, before = hd.fori_loop(0, n, step, (start, before))
    if not _sparse.is_tracing() and n and bool(hd.any(hd.diagonal(distances) < 0)):
        raise NegativeCycleError("floyd_warshall: a cycle has a negative length")
    return (distances, before) if return_predecessors else distances


def shortest_path(csgraph, method="auto", directed=True, return_predecessors=False, unweighted=False,
                  overwrite=False, indices=None):
    """The lengths of shortest paths: scipy.sparse.csgraph.shortest_path. `method` is "D" (dijkstra),
    "BF" (bellman_ford), "J" (johnson), "FW" (floyd_warshall), or "auto": "D", and "J" if weights are
    negative. Other arguments and results as dijkstra. Raises ValueError for another method, and for
    indices with "FW".

    >>> hd.sparse.csgraph.shortest_path([[0, 1, 5], [0, 0, 2], [0, 0, 0]]).tolist()
    """
    functions = {"D": dijkstra, "BF": bellman_ford, "J": johnson}
    if method == "auto":
        csgraph = graph_of("shortest_path", csgraph, unweighted)
        method = "J" if _any_negative(csgraph) else "D"
    if method == "FW":
        if indices is not None:
            raise ValueError("shortest_path: method 'FW' finds the paths from all nodes, it takes no indices")
        return floyd_warshall(csgraph, directed, return_predecessors, unweighted)
    if method not in functions:
        raise ValueError("shortest_path: method must be 'auto', 'FW', 'D', 'BF' or 'J', not "
                         f"{method!r}")
    return functions[method](csgraph, directed, indices, return_predecessors, unweighted)


def start_of(name, graph, i_start):
    """A node as an integer. Raises ValueError if there is no such node."""
    node, n = operator.index(i_start), graph._extents[0]
    if not 0 <= node < n:
        raise ValueError(f"{name}: i_start is {node}, but there are nodes 0...{n}")
    return node
