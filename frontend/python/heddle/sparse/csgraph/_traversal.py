"""Searches, trees and orders."""

import heddle as hd
from heddle import _heddle
from heddle.sparse._base import as_sparse, issparse
from heddle.sparse._inputs import is_scipy
from heddle.sparse.csgraph._graphs import both_ways, compressed, graph_of, on_device_of
from heddle.sparse.csgraph._paths import start_of

_sparse = _heddle._sparse


def _order(name, search, csgraph, i_start, directed, return_predecessors):
    graph = graph_of(name, csgraph)
    node = start_of(name, graph, i_start)
    order, before = on_device_of(graph, search((graph if directed else both_ways(graph))._rows_parts,
                                               node))
    return (order, before) if return_predecessors else order


def breadth_first_order(csgraph, i_start, directed=True, return_predecessors=True):
    """The nodes in reach of one, breadth first: scipy.sparse.csgraph.breadth_first_order. The result is
    (order, predecessors), int32: of each node the one from which it was found, -9999 for the first and
    for those that were not; without return_predecessors only the order. Unless `directed`, edges lead
    both ways. The search is sequential and runs on the host. Raises ValueError for a matrix that is
    not square, and a start that is not a node.

    >>> hd.sparse.csgraph.breadth_first_order([[0, 1, 1], [0, 0, 0], [0, 1, 0]], 0)
    """
    return _order("breadth_first_order", _sparse.breadth_first_order, csgraph, i_start, directed,
                  return_predecessors)


def depth_first_order(csgraph, i_start, directed=True, return_predecessors=True):
    """The nodes in reach of one, depth first: scipy.sparse.csgraph.depth_first_order. Arguments and
    results as breadth_first_order.

    >>> hd.sparse.csgraph.depth_first_order([[0, 1, 1], [0, 0, 0], [0, 1, 0]], 0)
    """
    return _order("depth_first_order", _sparse.depth_first_order, csgraph, i_start, directed,
                  return_predecessors)


def breadth_first_tree(csgraph, i_start, directed=True):
    """The edges by which breadth_first_order finds nodes, as compressed rows:
    scipy.sparse.csgraph.breadth_first_tree.

    >>> hd.sparse.csgraph.breadth_first_tree([[0, 1, 1], [0, 0, 0], [0, 1, 0]], 0).toarray()
    """
    return reconstruct_path(csgraph, breadth_first_order(csgraph, i_start, directed)[1], directed)


def depth_first_tree(csgraph, i_start, directed=True):
    """The edges by which depth_first_order finds nodes, as compressed rows:
    scipy.sparse.csgraph.depth_first_tree.

    >>> hd.sparse.csgraph.depth_first_tree([[0, 1, 1], [0, 0, 0], [0, 1, 0]], 0).toarray()
    """
    return reconstruct_path(csgraph, depth_first_order(csgraph, i_start, directed)[1], directed)


def reconstruct_path(csgraph, predecessors, directed=True):
    """The tree that predecessors [n] describe, as compressed rows of float64, with the weights of the
    graph: scipy.sparse.csgraph.reconstruct_path. Unless `directed`, the weight of an edge is the lesser
    one of its two directions (of a stored 0 it is 0; SciPy gives infinity). Evaluates, and waits for the number of edges. Raises ValueError for a
    matrix that is not square, and another number of predecessors.

    >>> hd.sparse.csgraph.reconstruct_path([[0, 7, 8], [0, 0, 0], [0, 0, 0]], [-9999, 0, 0]).toarray()
    """
    graph = graph_of("reconstruct_path", csgraph).copy()
    graph.sum_duplicates()
    before = hd.asarray(predecessors)
    n = graph._extents[0]
    if before.shape != (n,):
        raise ValueError(f"reconstruct_path: predecessors have the shape {before.shape}, but there are {n} "
                         "nodes")
    nodes = hd.nonzero(before >= 0)[0]
    before = before[nodes].astype(hd.int64)
    weights = _weights(graph, before, nodes)
    if not directed:
        back = _weights(graph, nodes, before)
        weights = hd.where(weights == 0, back, hd.where(back == 0, weights, hd.minimum(weights, back)))
    order = hd.argsort(before)
    indptr = hd.searchsorted(before[order], hd.arange(n + 1))
    return compressed(graph, weights[order], nodes[order].astype(hd.int32), indptr.astype(hd.int32))


def _weights(graph, rows, columns):
    return _sparse.elements(graph._rows_parts, rows, columns).astype(hd.float64)


def minimum_spanning_tree(csgraph, overwrite=False):
    """The edges of a spanning tree of least weight, of each component one, as compressed rows of
    float64: scipy.sparse.csgraph.minimum_spanning_tree.

    Directions do not count. Of equal weights the first elements are taken. Edges of weight 0 connect,
    but are not stored. The search is sequential and runs on the host; overwrite is ignored. Raises
    ValueError for a matrix that is not square.

    >>> hd.sparse.csgraph.minimum_spanning_tree([[0, 1, 5], [0, 0, 2], [0, 0, 0]]).toarray()
    """
    graph = graph_of("minimum_spanning_tree", csgraph)
    graph = graph.astype(hd.float64)
    taken, = on_device_of(graph, [_sparse.minimum_spanning_tree(graph._rows_parts)])
    data, indices, indptr, *_ = _sparse.keep(graph._rows_parts, taken & (graph.data != 0))
    return compressed(graph, data, indices.astype(hd.int32), indptr.astype(hd.int32))


def reverse_cuthill_mckee(graph, symmetric_mode=False):
    """An order of rows and columns, of the dtype of the indices, that brings the elements of a matrix near to its diagonal, by
    the algorithm of Cuthill and McKee: scipy.sparse.csgraph.reverse_cuthill_mckee.

    Unless the structure is known to be symmetric (symmetric_mode), that of graph + graph.T counts. Of
    nodes of equal degree the first one begins, where SciPy's order depends on the machine. The
    search is sequential and runs on the host. Raises TypeError for what is not sparse, ValueError for
    a matrix that is not square.

    >>> hd.sparse.csgraph.reverse_cuthill_mckee(hd.sparse.eye(3, format="csr")).tolist()
    """
    if not (issparse(graph) or is_scipy(graph)):
        raise TypeError("reverse_cuthill_mckee: the graph must be sparse")
    graph = graph_of("reverse_cuthill_mckee", as_sparse(graph), unweighted=True)
    index = graph.indices.dtype
    graph = graph if symmetric_mode else graph + graph.T.tocsr()
    order = on_device_of(graph, [_sparse.reverse_cuthill_mckee(graph._rows_parts)])[0]
    return order.astype(index)
