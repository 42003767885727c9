"""Connected components."""

import heddle as hd
from heddle import _heddle
from heddle.sparse._base import as_sparse

_sparse = _heddle._sparse


def connected_components(csgraph, directed=True, connection="weak", return_labels=True):
    """The connected components of a graph, whose edges are the stored elements of a square matrix:
    scipy.sparse.csgraph.connected_components.

    The result is the number of components and for each node its component, int32; without
    return_labels, only the number. Weak components are numbered by their first nodes. For them labels
    spread along edges, and jump, until nothing changes: one loop on the device. Strong components of
    a directed graph are numbered as SciPy numbers them, in an order in which each comes after those
    that it leads to. Their search is sequential and runs on the host. Raises ValueError for a matrix
    that is not square and for another connection.

    >>> hd.sparse.csgraph.connected_components(hd.sparse.eye(3))
    """
    graph = as_sparse(csgraph)
    if graph._extents[0] != graph._extents[1]:
        raise ValueError(f"connected_components: the graph must be square, not {graph.shape}")
    if str(connection).lower() not in ("weak", "strong"):
        raise ValueError("connected_components: connection must be 'weak' or 'strong', not "
                         f"{connection!r}")
    if graph._extents[0] == 0:
        return (0, hd.zeros(0, dtype=hd.int32)) if return_labels else 0
    graph = graph.tocsr()
    if directed and str(connection).lower() == "strong":
        labels = hd.asarray(_sparse.strong_components(graph._rows_parts), device=graph.device)
        count = int(hd.max(labels)) + 1
    else:
        count, labels = _weak_components(graph)
    return (count, labels) if return_labels else count


def _weak_components(graph):
    ways = (graph._rows_parts, graph._columns_parts)
    n = graph._extents[0]
    nodes = hd.arange(n)

    def step(state):
        labels = state["labels"]
        least = labels
        for _, indices, indptr, *_ in ways:
            if indices.shape[0]:
                # n where a node has no neighbours.
                least = hd.minimum(least, _sparse.segment_min(labels[indices], indptr, n))
        least = least[least]
        return {"labels": least[least], "changed": hd.any(least != labels)}

    state = {"labels": nodes, "changed": hd.asarray(True)}
    roots = hd.while_loop(lambda state: state["changed"], step, state)["labels"]
    numbers = hd.cumsum(roots == nodes) - 1
    return int(numbers[-1]) + 1, numbers[roots].astype(hd.int32)
