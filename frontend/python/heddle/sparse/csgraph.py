"""Graphs as sparse matrices, with the names of scipy.sparse.csgraph."""

import heddle as hd
from heddle import _heddle
from heddle.sparse._base import CLASSES, as_sparse, issparse
from heddle.sparse._inputs import is_scipy
from heddle.sparse.linalg._operators import aslinearoperator

_sparse = _heddle._sparse

__all__ = ["connected_components", "laplacian"]


def laplacian(csgraph, normed=False, return_diag=False, use_out_degree=False, *, copy=True, form="array",
              dtype=None, symmetrized=False):
    """The Laplacian of a graph, whose edges are the elements of a square matrix, sparse or dense:
    scipy.sparse.csgraph.laplacian.

    It is D - W: D has the sums of W's columns (with use_out_degree, of rows) on its diagonal, W is the
    matrix without its diagonal. normed scales rows and columns by the square roots of D; symmetrized
    takes the matrix and its conjugate transpose together. form is "array" for a matrix of the kind of
    the graph (a sparse one is CSR), "function" for a function of a vector or matrix, "lo" for a
    LinearOperator. With return_diag the result is (laplacian, diagonal): D, or its square roots, 1 for
    those that are 0. The graph is never changed, whatever `copy` is. bool becomes float64, and so do
    integers if normed. Raises ValueError for a matrix that is not square and for another form.

    >>> hd.sparse.csgraph.laplacian(hd.ones((3, 3))).tolist()
    """
    if form not in ("array", "function", "lo"):
        raise ValueError(f"laplacian: form must be 'array', 'function' or 'lo', not {form!r}")
    is_sparse = issparse(csgraph) or is_scipy(csgraph)
    graph = as_sparse(csgraph) if is_sparse else hd.asarray(csgraph)
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise ValueError(f"laplacian: the graph must be square, not {graph.shape}")
    if graph.dtype.kind == "b" or normed and graph.dtype.kind in "iu":
        graph = graph.astype(hd.float64)
    if symmetrized:
        graph = graph + graph.T.conj()
    degree = hd.asarray(graph.sum(axis=1 if use_out_degree else 0)).reshape(-1) - graph.diagonal()
    diagonal, scale = degree, None
    if normed:
        isolated = degree == 0
        scale = hd.where(isolated, hd.ones_like(degree), hd.sqrt(degree))
        diagonal = (~isolated).astype(degree.dtype)
    dtype = graph.dtype if dtype is None else dtype
    made = (_sparse_laplacian if is_sparse else _dense_laplacian)(graph, diagonal, scale).astype(dtype)
    result = made if form == "array" else aslinearoperator(made)
    if form == "function":
        result = result.dot
    return (result, (degree if scale is None else scale).astype(dtype)) if return_diag else result


def _dense_laplacian(graph, diagonal, scale):
    graph = graph if scale is None else graph / scale / scale[:, None]
    return hd.where(hd.eye(graph.shape[0], dtype=hd.bool), diagonal[:, None], -graph)


def _sparse_laplacian(graph, diagonal, scale):
    graph = graph.tocoo()
    row, col = graph.row, graph.col
    data = graph.data if scale is None else graph.data / scale[row] / scale[col]
    # The diagonal's own elements become 0, and its values follow as elements of the same places.
    data = hd.concatenate([hd.where(row == col, hd.zeros_like(data), -data), diagonal.astype(data.dtype)])
    nodes = hd.arange(graph.shape[0]).astype(row.dtype)
    places = hd.concatenate([row, nodes]), hd.concatenate([col, nodes])
    return CLASSES["coo", graph._is_array]((data, places), shape=graph.shape).tocsr()


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
