"""heddle.sparse: functions that make matrices, and files, against SciPy."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import FORMATS, KINDS, both, numbers, same, scipy_sparse, sparse

A, B = numbers((3, 3), density=0.7), np.array([[1.0, 0], [0, 2]])
CALLS = {
    "eye": lambda m, a, b: m.eye(3),
    "eye k": lambda m, a, b: m.eye(3, 4, k=1),
    "eye csr": lambda m, a, b: m.eye(3, format="csr"),
    "eye csc": lambda m, a, b: m.eye(4, 3, k=-1, dtype="float32", format="csc"),
    "eye coo": lambda m, a, b: m.eye(3, format="coo", dtype="complex64"),
    "eye_array": lambda m, a, b: m.eye_array(3, k=-1),
    "identity": lambda m, a, b: m.identity(3),
    "identity of integers": lambda m, a, b: m.identity(3, dtype="int32", format="coo"),
    "diags of numbers": lambda m, a, b: m.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(4, 4)),
    "diags": lambda m, a, b: m.diags([[1.0, 2, 3]], [1]),
    "one diagonal": lambda m, a, b: m.diags([1.0, 2, 3]),
    "diags_array": lambda m, a, b: m.diags_array([[1.0, 2, 3], [4.0, 5]], offsets=[0, 1]),
    "diags csr": lambda m, a, b: m.diags([[1.0, 2, 3], [4.0, 5]], [0, -1], dtype="float32",
                                         format="csr"),
    "diags 3 x 5": lambda m, a, b: m.diags([[1.0, 2, 3], [4.0, 5, 6]], [0, 2], shape=(3, 5)),
    "spdiags": lambda m, a, b: m.spdiags([[1.0, 2, 3, 4], [5.0, 6, 7, 8]], [0, -1], 4, 4),
    "spdiags csr": lambda m, a, b: m.spdiags([[1.0, 2, 3]], [1], 3, 3, format="csr"),
    "kron": lambda m, a, b: m.kron(a, b, format="csr"),
    "kron coo": lambda m, a, b: m.kron(b, a, format="coo"),
    "kronsum": lambda m, a, b: m.kronsum(a, b),
    "hstack": lambda m, a, b: m.hstack([a, a]),
    "hstack csc": lambda m, a, b: m.hstack([a.tocsc(), a.tocsc()]),
    "hstack dtype": lambda m, a, b: m.hstack([a, a], dtype="float32"),
    "vstack": lambda m, a, b: m.vstack([a, a]),
    "vstack mixed": lambda m, a, b: m.vstack([a.tocoo(), a]),
    "vstack format": lambda m, a, b: m.vstack([a, a], format="csc"),
    "bmat": lambda m, a, b: m.bmat([[a, None], [None, b]]),
    "bmat csr": lambda m, a, b: m.bmat([[a, a], [None, a]], format="csr"),
    "block_array": lambda m, a, b: m.block_array([[a, None], [None, b]], format="csc"),
    "block_diag": lambda m, a, b: m.block_diag([a, b, [[1.0, 2.0]]]),
    "tril": lambda m, a, b: m.tril(a),
    "tril k": lambda m, a, b: m.tril(a, -1, format="csr"),
    "triu": lambda m, a, b: m.triu(a),
    "triu k": lambda m, a, b: m.triu(a, k=1, format="csc"),
    "empty block": lambda m, a, b: m.block_diag([a, m.csr_array((2, 0))]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", CALLS.values(), ids=CALLS)
def test_builders(function, kind):
    a, b = both("csr", kind, A), both("csr", kind, B)
    same(function(sparse, a[1], b[1]), function(scipy_sparse, a[0], b[0]))


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32", "bool"])
def test_dtypes_of_builders(dtype):
    a = both("csr", "array", numbers((3, 3), dtype))
    for name in ("kron", "hstack", "block_diag", "tril"):
        arguments = {"kron": lambda x: (x, x, "coo"), "tril": lambda x: (x,)}.get(
            name, lambda x: ([x, x],))
        same(getattr(sparse, name)(*arguments(a[1])), getattr(scipy_sparse, name)(*arguments(a[0])))


def test_find():
    expected, got = both("csr", "array", numbers((4, 6)))
    for found, right in zip(sparse.find(got), scipy_sparse.find(expected)):
        same(found, right)
    for found, right in zip(sparse.find(numbers((4, 6))), scipy_sparse.find(numbers((4, 6)))):
        same(found, right)


@pytest.mark.parametrize("format", ["coo", "csr", "csc"])
def test_random(format):
    made = sparse.random(20, 30, density=0.25, format=format, rng=3)
    assert (made.shape, made.nnz, made.format) == ((20, 30), 150, format)
    again = sparse.random(20, 30, density=0.25, format=format, rng=3)
    np.testing.assert_array_equal(hd.asnumpy(made.toarray()), hd.asnumpy(again.toarray()))
    values = hd.asnumpy(made.data)
    assert values.min() >= 0 and values.max() < 1 and abs(values.mean() - 0.5) < 0.1
    assert made.count_nonzero() == 150


def test_random_arguments():
    assert sparse.rand(5, 5, 0.4).dtype == hd.float64
    assert isinstance(sparse.random_array((5, 5), density=0.2), sparse.coo_array)
    assert sparse.random(5, 5, density=0, rng=1).nnz == 0
    assert sparse.random(5, 5, density=1, dtype="float32", rng=1).dtype == hd.float32
    made = sparse.random(5, 5, density=1, rng=1, data_rvs=lambda n: np.full(n, 2.0))
    assert hd.asnumpy(made.toarray()).tolist() == [[2.0] * 5] * 5
    large = sparse.random(10**5, 10**5, density=1e-8, rng=hd.random.default_rng(2))
    assert large.nnz == 100 and large.tocsr().has_canonical_format
    with pytest.raises(ValueError, match="density"):
        sparse.random(5, 5, density=1.5)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS + ["bsr"])
def test_files(tmp_path, format, kind, compressed):
    expected, got = both(format, kind, numbers((4, 6)))
    sparse.save_npz(tmp_path / "ours.npz", got, compressed)
    scipy_sparse.save_npz(tmp_path / "theirs.npz", expected, compressed)
    read = scipy_sparse.load_npz(tmp_path / "ours.npz")
    assert type(read) is type(expected)
    np.testing.assert_array_equal(read.toarray(), expected.toarray())
    for name in ("ours.npz", "theirs.npz"):
        same(sparse.load_npz(tmp_path / name), expected)


def test_files_that_are_not_matrices(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    with pytest.raises(ValueError, match="does not hold"):
        sparse.load_npz(tmp_path / "other.npz")


@pytest.mark.parametrize("make, text", [
    (lambda: sparse.hstack([np.eye(2), np.eye(3)]), r"blocks\[0,1\] has 3 rows, but 2 are expected"),
    (lambda: sparse.vstack([np.eye(2), np.eye(3)]), r"blocks\[1,0\] has 3 columns"),
    (lambda: sparse.bmat([[None, np.eye(2)], [None, np.eye(2)]]), r"blocks\[:,0\] are all None"),
    (lambda: sparse.bmat([[np.eye(2)], []]), "equal length"),
    (lambda: sparse.diags([[1.0, 2], [1.0, 2, 3]], [0, 1]), "diagonal 1 has 3 elements"),
    (lambda: sparse.diags([[1.0, 2], [1.0]], [0]), "2 diagonals, but 1 offsets"),
    (lambda: sparse.kronsum(np.ones((2, 3)), np.eye(2)), "square"),
    (lambda: sparse.eye(-1), "negative")])
def test_failing_builders(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_formats_that_are_missing_say_what_to_do():
    with pytest.raises(AttributeError, match="scipy.sparse.lil_matrix"):
        sparse.lil_matrix  # noqa: B018
    with pytest.raises(AttributeError, match=r"x.get\(\).todok\(\)"):
        sparse.eye_array(3).todok()
    assert not hasattr(sparse.eye_array(3), "tolil") and not hasattr(sparse, "dok_array")


def test_axes_in_another_order():
    dense = numbers((3, 5))
    matrix, theirs = sparse.csr_array(dense), scipy_sparse.csr_array(dense)
    for axes in (None, (1, 0), (0, 1), (-1, 0)):
        same(sparse.permute_dims(matrix, axes), scipy_sparse.permute_dims(theirs, axes).tocoo())
    same(sparse.swapaxes(matrix, 0, -1), scipy_sparse.swapaxes(theirs, 0, -1))
    np.testing.assert_array_equal(hd.asnumpy(sparse.matrix_transpose(matrix).toarray()), dense.T)
    for bad in (lambda: sparse.permute_dims(matrix, (0, 0)), lambda: sparse.permute_dims(matrix, (0, 2)),
                lambda: sparse.swapaxes(matrix, 0, 2), lambda: sparse.matrix_transpose(sparse.coo_array([1.0, 2]))):
        with pytest.raises(ValueError):
            bad()


def test_categories_of_warnings_are_scipys():
    for name in ("SparseWarning", "SparseEfficiencyWarning"):
        assert getattr(sparse, name) is getattr(scipy_sparse, name)
