"""Bandwidths, triangles, powers and estimated norms of sparse matrices, against SciPy."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import FORMATS, KINDS, numbers, scipy_sparse, sparse

theirs = pytest.importorskip("scipy.sparse.linalg")
ours = sparse.linalg
SHAPES = {"dense": numbers((5, 7)), "lower": np.tril(numbers((6, 6), density=1), -2),
          "upper": np.triu(numbers((4, 6), density=1)), "diagonal": np.eye(5)}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("form", FORMATS + ["bsr"])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_structure(form, shape):
    matrix = scipy_sparse.csr_array(SHAPES[shape]).asformat(form)
    for name in ("spbandwidth", "is_sptriangular"):
        found = getattr(ours, name)(getattr(sparse, form + "_array")(matrix))
        assert found == tuple(map(type(found[0]), getattr(theirs, name)(matrix)))
        assert all(type(each) in (bool, int) for each in found)
        with pytest.raises(TypeError, match="sparse"):
            getattr(ours, name)(np.eye(3))
    assert ours.spbandwidth(getattr(sparse, form + "_array")((3, 4))) == (0, 0)  # SciPy raises


def test_stored_zeros_count():
    matrix = scipy_sparse.csr_array((np.zeros(2), ([0, 2], [2, 1])), shape=(3, 3))
    assert ours.spbandwidth(sparse.csr_array(matrix)) == theirs.spbandwidth(matrix) == (1, 2)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_matrix_power(form, kind, dtype):
    dense = numbers((5, 5), dtype)
    matrix = getattr(sparse, f"{form}_{kind}")(dense)
    for power in (0, 1, 2, 5):
        found = ours.matrix_power(matrix, power)
        assert type(found).__name__.endswith(kind) and found.dtype.name == dtype
        np.testing.assert_array_equal(hd.asnumpy(found.toarray()), np.linalg.matrix_power(dense, power))
    assert ours.matrix_power(matrix, 1) is not matrix
    with pytest.raises(ValueError, match="negative"):
        ours.matrix_power(matrix, -1)
    with pytest.raises(TypeError, match="square"):
        ours.matrix_power(matrix[:2] if form != "dia" else sparse.dia_array((2, 3)), 2)


@pytest.mark.parametrize("dtype, n", [("int64", 1), ("float32", 7), ("float64", 60), ("complex128", 60)])
def test_onenormest(n, dtype):
    """A lower bound near the norm, with vectors that prove it."""
    ratios = []
    for seed in range(6):
        dense = numbers((n, n), dtype, seed) + np.eye(n, dtype=dtype)
        found, v, w = ours.onenormest(sparse.csr_array(dense), compute_v=True, compute_w=True)
        np.testing.assert_allclose(dense @ hd.asnumpy(v), hd.asnumpy(w), rtol=1e-5)
        np.testing.assert_allclose(found, np.abs(hd.asnumpy(w)).sum() / np.abs(hd.asnumpy(v)).sum(), rtol=1e-5)
        ratios.append(found / np.abs(dense).sum(axis=0).max())
    assert isinstance(found, float) and max(ratios) <= 1 + 1e-5
    assert min(ratios) >= 1 / 2 and np.mean(ratios) >= 0.8
    assert ours.onenormest(sparse.csr_array(dense)) == found


def test_onenormest_of_operators_and_options():
    dense = numbers((40, 40), density=1)
    inverse = np.linalg.inv(dense)
    operator = ours.LinearOperator((40, 40), lambda x: hd.asarray(inverse) @ x, lambda x: hd.asarray(inverse.T) @ x,
                                   dtype="float64")
    norm = np.linalg.norm(inverse, 1)
    for options in ({}, {"t": 1}, {"t": 5, "itmax": 1}, {"t": 40}):
        assert norm / 3 <= ours.onenormest(operator, **options) <= norm * (1 + 1e-9)
    assert ours.onenormest([[0.0, -3], [1, 0]]) == 3.0
    assert ours.onenormest(np.zeros((9, 9))) == 0.0
    for bad in (lambda: ours.onenormest(np.ones((2, 3))), lambda: ours.onenormest(np.eye(3), t=0)):
        with pytest.raises(ValueError):
            bad()
