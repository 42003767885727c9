"""The Laplacian of a graph."""

import heddle as hd
from heddle.sparse._base import CLASSES, as_sparse, issparse
from heddle.sparse._inputs import is_scipy
from heddle.sparse.linalg._operators import aslinearoperator


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
