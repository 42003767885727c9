"""What the searches take: square matrices, sparse or dense, as compressed rows."""

import heddle as hd
from heddle import _heddle
from heddle.sparse._base import CLASSES, as_sparse, issparse
from heddle.sparse._inputs import is_scipy


def graph_of(name, csgraph, unweighted=False):
    """The graph as compressed rows. Of a dense matrix, zeros and values that are not finite are no
    edges. Raises ValueError for a matrix that is not square, DTypeError for complex weights."""
    if not (issparse(csgraph) or is_scipy(csgraph)):
        dense = hd.asarray(csgraph)
        if dense.dtype.kind in "fc":
            dense = hd.where(hd.isfinite(dense), dense, hd.zeros_like(dense))
        csgraph = CLASSES["coo", True](dense)
    graph = as_sparse(csgraph).tocsr()
    if graph._extents[0] != graph._extents[1] or graph.ndim != 2:
        raise ValueError(f"{name}: the graph must be square, not {graph.shape}")
    if graph.dtype.kind == "c":
        raise _heddle.DTypeError(f"{name}: weights are real, not {graph.dtype}")
    return graph._with_data(hd.ones_like(graph.data, dtype=hd.float64)) if unweighted else graph


def compressed(graph, data, indices, indptr):
    """Compressed rows like those of a graph."""
    return CLASSES["csr", graph._is_array]((data, indices, indptr), shape=graph._extents)


def both_ways(graph):
    """The graph with each edge in both directions: of a node first its own edges, then those that
    lead to it."""
    there, back = graph, graph.T.tocsr()
    rows = [hd.searchsorted(each.indptr, hd.arange(each.nnz), side="right") - 1 for each in (there, back)]
    # Where the elements go: behind those of rows before, and in `back` those of the same row.
    there_at = hd.arange(there.nnz) + back.indptr[rows[0]]
    back_at = hd.arange(back.nnz) + there.indptr[rows[1] + 1]
    order = hd.argsort(hd.concatenate([there_at, back_at]))
    return compressed(graph, hd.concatenate([there.data, back.data])[order],
                      hd.concatenate([there.indices, back.indices])[order],
                      there.indptr + back.indptr)


def on_device_of(graph, arrays):
    return tuple(hd.asarray(each, device=graph.device) for each in arrays)
