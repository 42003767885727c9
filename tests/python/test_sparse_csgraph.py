"""Searches of heddle.sparse.csgraph, against SciPy."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import scipy_sparse, sparse

theirs = pytest.importorskip("scipy.sparse.csgraph")
ours = sparse.csgraph
N = 30


def graph(seed=0, density=0.08, n=N, low=1, dtype="float64"):
    """Few edges of small integers, so that some nodes are not in reach, and sums are exact."""
    generator = np.random.default_rng(seed)
    made = generator.integers(low, 9, (n, n)) * (generator.random((n, n)) < density)
    return scipy_sparse.csr_array(made.astype(dtype))


def without_negative_cycles(seed=0):
    """Weights of both signs: heights are added to weights that are not negative."""
    made = graph(seed).tocoo()
    height = np.random.default_rng(seed + 1).integers(-9, 9, N)
    return scipy_sparse.csr_array((made.data + height[made.row] - height[made.col],
                                   (made.row, made.col)), shape=made.shape)


def same(got, wanted):
    got = hd.asnumpy(got)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_array_equal(got, wanted)


def check_paths(given, distances, before, count=N, directed=True):
    """Each node is behind the one before it, by the least edge between them."""
    weights = np.full((N, N), np.inf)
    rows = given.tocoo()
    np.minimum.at(weights, (rows.row, rows.col), rows.data)
    weights = weights if directed else np.minimum(weights, weights.T)
    for i in range(count):
        for node in range(N):
            last = before[i, node]
            if last == -9999:
                assert distances[i, node] in (0, np.inf)
            else:
                assert distances[i, node] == distances[i, last] + weights[last, node]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("method", ["D", "BF", "J", "FW", "auto"])
def test_paths(method, directed):
    for seed in range(3):
        given = graph(seed)
        distances, before = ours.shortest_path(sparse.csr_array(given), method, directed,
                                               return_predecessors=True)
        wanted, expected = theirs.shortest_path(given, method, directed, return_predecessors=True)
        same(distances, wanted)
        found = hd.asnumpy(before)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found == -9999, expected == -9999)
        check_paths(given, wanted, found, N, directed)
        unweighted = ours.shortest_path(sparse.csr_array(given), method, directed, unweighted=True)
        same(unweighted, theirs.shortest_path(given, method, directed, unweighted=True))


@pytest.mark.parametrize("method", ["BF", "J", "FW", "auto"])
def test_negative_weights(method):
    for seed in range(3):
        given = without_negative_cycles(seed)
        assert (given.data < 0).any()
        distances, before = ours.shortest_path(sparse.csr_array(given), method, return_predecessors=True)
        wanted = theirs.shortest_path(given, method)
        same(distances, wanted)
        check_paths(given, wanted, hd.asnumpy(before))
    cycle = sparse.csr_array(np.array([[0.0, 1, 0], [0, 0, -3], [1, 0, 0]]))
    with pytest.raises(ours.NegativeCycleError):
        ours.shortest_path(cycle, method)


@pytest.mark.parametrize("function", ["dijkstra", "bellman_ford", "johnson"])
def test_sources(function):
    given = graph(5)
    mine, other = getattr(ours, function), getattr(theirs, function)
    for indices in (3, -1, [4, 0, 4], np.array([[1, 2], [3, -30]]), []):
        got = mine(sparse.csr_array(given), indices=hd.asarray(indices, dtype="int64"))
        # SciPy takes neither several axes nor none.
        flat = np.asarray(indices, dtype="int64").reshape(-1)
        wanted = other(given, indices=flat) if flat.size else np.zeros((0, N))
        same(got, wanted.reshape(*np.shape(indices), N))


def test_options_of_dijkstra():
    given = graph(6)
    a = sparse.csr_array(given)
    for limit in (0, 5, 11.5):
        same(ours.dijkstra(a, limit=limit), theirs.dijkstra(given, limit=limit))
    distances, before, nearest = ours.dijkstra(a, indices=[2, 9, 17], min_only=True,
                                               return_predecessors=True)
    wanted, _, _ = theirs.dijkstra(given, indices=[2, 9, 17], min_only=True, return_predecessors=True)
    same(distances, wanted)
    same(ours.dijkstra(a, indices=[2, 9, 17], min_only=True), wanted)
    check_paths(given, wanted[None], hd.asnumpy(before)[None], 1)
    every = theirs.dijkstra(given, indices=[2, 9, 17])
    for node, source in enumerate(hd.asnumpy(nearest)):
        assert np.isinf(wanted[node]) if source == -9999 else (
            every[[2, 9, 17].index(source), node] == wanted[node])
    with pytest.warns(UserWarning, match="negative weights"):
        ours.dijkstra(without_negative_cycles())


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "bool"])
def test_dtypes_of_weights(dtype):
    given = graph(7, dtype=dtype)
    for function in ("dijkstra", "floyd_warshall"):
        same(getattr(ours, function)(sparse.csc_array(given)), getattr(theirs, function)(given))
    made = ours.minimum_spanning_tree(sparse.csr_array(given))
    assert made.dtype == hd.float64 and float(made.sum()) == theirs.minimum_spanning_tree(given).sum()


def test_edges_of_special_weights():
    # Stored zeros and duplicates are edges; of a dense matrix zeros, inf and NaN are none.
    parts = ([0.0, 3, 1, 4], [1, 2, 2, 2], [0, 2, 4, 4])
    for function in (ours.dijkstra, ours.bellman_ford, ours.johnson, ours.floyd_warshall):
        for directed in (True, False):
            made = function(sparse.csr_array(parts, shape=(3, 3)), directed=directed)
            np.testing.assert_array_equal(hd.asnumpy(made)[0], [0, 0, 1])
    dense = np.array([[0, np.inf, 3], [np.nan, 0, 1], [2, 0, 0]])
    same(ours.dijkstra(dense), theirs.dijkstra(dense))
    assert ours.dijkstra(sparse.csr_array((0, 0))).shape == (0, 0)
    assert ours.floyd_warshall(sparse.csr_array((0, 0))).shape == (0, 0)


def test_floyd_warshall_in_jit():
    given = graph(8)
    function = hd.jit(lambda a: ours.floyd_warshall(a) * 2)
    same(function(sparse.csr_array(given)), 2 * theirs.floyd_warshall(given))
    cycle = sparse.csr_array(np.array([[0.0, 1, 0], [0, 0, -3], [1, 0, 0]]))
    assert hd.any(hd.diagonal(function(cycle)) < 0)
    with pytest.raises(hd.TraceError, match="dijkstra"):
        hd.jit(lambda a: ours.dijkstra(a, indices=0))(sparse.csr_array(given))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", ["breadth_first", "depth_first"])
def test_searches(name, directed):
    for seed in range(4):
        given = graph(seed, density=0.06)
        for start in (0, 7):
            got = getattr(ours, name + "_order")(sparse.csr_array(given), start, directed)
            wanted = getattr(theirs, name + "_order")(given, start, directed)
            for mine, other in zip(got, wanted):
                same(mine, other)
            tree = getattr(ours, name + "_tree")(sparse.csr_array(given), start, directed)
            expected = getattr(theirs, name + "_tree")(given, start, directed)
            assert type(tree) is sparse.csr_array
            same(tree.toarray(), expected.toarray())
    order = getattr(ours, name + "_order")(sparse.csr_matrix(given), 0, return_predecessors=False)
    same(order, getattr(theirs, name + "_order")(given, 0, return_predecessors=False))


def test_reconstructed_paths():
    given = graph(3)
    before = theirs.dijkstra(given, directed=False, indices=1, return_predecessors=True)[1]
    made = ours.reconstruct_path(sparse.csr_array(given), before, directed=False)
    same(made.toarray(), theirs.reconstruct_path(given, before, directed=False).toarray())


@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_spanning_trees(kind):
    for seed in range(4):
        given = graph(seed, density=0.1)
        # Distinct weights, so that the tree is unique.
        given.data = np.random.default_rng(seed).permutation(given.nnz) + 1.0
        made = ours.minimum_spanning_tree(getattr(sparse, "csr_" + kind)(given))
        assert type(made).__name__ == "csr_" + kind
        same(made.toarray(), theirs.minimum_spanning_tree(given).toarray())
    dense = np.array([[0, 2.0, 2], [0, 0, 2], [0, 0, 0]])
    assert ours.minimum_spanning_tree(dense).sum() == 4


def bandwidth(matrix, order):
    turned = matrix.toarray()[order][:, order].nonzero()
    return abs(turned[0] - turned[1]).max()


def test_reverse_cuthill_mckee():
    generator = np.random.default_rng(0)
    line = scipy_sparse.diags_array([1.0, 1, 1], offsets=[0, 1, -1], shape=(N, N)).toarray()
    mixed = generator.permutation(N)
    given = scipy_sparse.csr_array(line[mixed][:, mixed])
    for options in ({}, {"symmetric_mode": True}):
        order = hd.asnumpy(ours.reverse_cuthill_mckee(sparse.csr_array(given), **options))
        assert order.dtype == np.int32 and sorted(order) == list(range(N))
        assert bandwidth(given, order) == 1
    for seed in range(4):
        given = graph(seed)
        order = hd.asnumpy(ours.reverse_cuthill_mckee(sparse.csc_array(given)))
        assert sorted(order) == list(range(N))
        wanted = theirs.reverse_cuthill_mckee(given)
        assert bandwidth(given, order) <= 1.2 * bandwidth(given, wanted) + 2


@pytest.mark.parametrize("function, error, message", [
    (lambda a: ours.dijkstra(a[:2]), ValueError, "must be square"),
    (lambda a: ours.dijkstra(a, indices=4), ValueError, r"out of range 0\.\.\.4"),
    (lambda a: ours.johnson(a, indices=-5), ValueError, "out of range"),
    (lambda a: ours.bellman_ford(a, indices=0.5), hd.DTypeError, "indices are integers"),
    (lambda a: ours.dijkstra(a, limit=-1), ValueError, "limit must not be negative"),
    (lambda a: ours.dijkstra(a * 1j), hd.DTypeError, "weights are real"),
    (lambda a: ours.shortest_path(a, "X"), ValueError, "method must be"),
    (lambda a: ours.shortest_path(a, "FW", indices=0), ValueError, "takes no indices"),
    (lambda a: ours.breadth_first_order(a, 4), ValueError, "i_start is 4"),
    (lambda a: ours.depth_first_order(a, -1), ValueError, "i_start is -1"),
    (lambda a: ours.breadth_first_tree(a[:, :2], 0), ValueError, "must be square"),
    (lambda a: ours.reconstruct_path(a, [0, 0]), ValueError, r"shape \(2,\)"),
    (lambda a: ours.minimum_spanning_tree(a[:2]), ValueError, "must be square"),
    (lambda a: ours.reverse_cuthill_mckee(a.toarray()), TypeError, "must be sparse"),
    (lambda a: ours.reverse_cuthill_mckee(a[:2]), ValueError, "must be square")])
def test_failing_input(function, error, message):
    with pytest.raises(error, match=message):
        function(sparse.csr_array(np.eye(4)))


DENSE = np.array([[0, 7, np.inf, 2], [np.nan, 0, 3, 0], [1, 0, 0, -np.inf], [4, 0, 1, 0]])


@pytest.mark.parametrize("options", [
    {}, {"null_value": 7}, {"nan_null": False, "infinity_null": False}, {"null_value": np.inf, "infinity_null": False},
    {"null_value": np.nan, "nan_null": False}, {"null_value": None}])
def test_graphs_of_dense_matrices(options):
    made, right = ours.csgraph_from_dense(DENSE, **options), theirs.csgraph_from_dense(DENSE, **options)
    for name in ("data", "indices", "indptr"):
        same(getattr(made, name), getattr(right, name))
    with pytest.raises(ValueError, match="square"):
        ours.csgraph_from_dense(np.ones((2, 3)), **options)


@pytest.mark.parametrize("null", [0, -1, np.inf])
def test_dense_matrices_of_graphs(null):
    parts = ([2.0, 3, 1, 0, 5], [1, 1, 2, 0, 1], [0, 3, 4, 5])  # one element twice, and a stored 0
    np.testing.assert_array_equal(
        hd.asnumpy(ours.csgraph_to_dense(sparse.csr_array(parts, shape=(3, 3)), null)),
        theirs.csgraph_to_dense(scipy_sparse.csr_array(parts, shape=(3, 3)), null))
    with pytest.raises(ValueError, match="square"):
        ours.csgraph_to_dense(sparse.csr_array((2, 3)), null)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("n", [1, 2, 13])
def test_distances_of_paths(n, directed):
    dense = np.random.default_rng(n).integers(1, 9, (n, n)) * (np.random.default_rng(1).random((n, n)) < 0.25) * 1.0
    distances, before = ours.shortest_path(dense, directed=directed, return_predecessors=True)
    found = ours.construct_dist_matrix(sparse.csr_array(dense), before, directed)
    np.testing.assert_array_equal(hd.asnumpy(found), hd.asnumpy(distances))
    found = ours.construct_dist_matrix(dense, before, directed, null_value=-1)
    np.testing.assert_array_equal(hd.asnumpy(found), theirs.construct_dist_matrix(
        dense, hd.asnumpy(before), directed, null_value=-1))
    with pytest.raises(ValueError, match="predecessors have the shape"):
        ours.construct_dist_matrix(dense, before[0], directed)


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_dtypes_of_indices(index):
    matrix = scipy_sparse.csr_array(np.eye(4, k=1) + np.eye(4, k=-1))
    matrix = scipy_sparse.csr_array((matrix.data, matrix.indices.astype(index), matrix.indptr.astype(index)))
    assert ours.minimum_spanning_tree(sparse.csr_array(matrix)).indices.dtype == hd.int32
    for symmetric in (True, False):
        order = ours.reverse_cuthill_mckee(sparse.csr_array(matrix), symmetric)
        assert order.dtype.name == theirs.reverse_cuthill_mckee(matrix, symmetric).dtype.name
