"""Exponentials and inverses of heddle.sparse.linalg, against the dense exponential and SciPy."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import scipy_sparse, sparse

theirs = pytest.importorskip("scipy.sparse.linalg")
scipy_linalg = pytest.importorskip("scipy.linalg")
ours = sparse.linalg
N = 40


def matrix(dtype="float64", scale=1.0):
    generator = np.random.default_rng(0)
    made = scale * generator.standard_normal((N, N)) * (generator.random((N, N)) < 0.1)
    return (made * (1 + 0.5j) if np.dtype(dtype).kind == "c" else made).astype(dtype)


def right_side(dtype="float64", shape=(N,)):
    return np.random.default_rng(1).standard_normal(shape).astype(dtype)


def exponential(a, b, t=1.0):
    return scipy_linalg.expm(t * a.astype("complex128" if a.dtype.kind == "c" else "float64")) @ b


def close(got, wanted, dtype):
    found = hd.asnumpy(got)
    assert found.dtype == np.dtype(dtype) and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=0, atol=3e3 * np.finfo(dtype).eps * np.abs(wanted).max())


@pytest.mark.parametrize("scale", [0.001, 1, 4])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_one_time(dtype, scale):
    a, b = matrix(dtype, scale), right_side(dtype)
    close(ours.expm_multiply(sparse.csr_array(a), hd.asarray(b)), exponential(a, b), dtype)


def test_matrices_and_right_sides():
    a = matrix()
    for shape in ((N, 1), (N, 3)):
        b = right_side(shape=shape)
        close(ours.expm_multiply(sparse.csc_array(a), b), exponential(a, b), "float64")
    close(ours.expm_multiply(a, b), exponential(a, b), "float64")
    close(ours.expm_multiply(scipy_sparse.dia_array(a), scipy_sparse.csr_array(b)), exponential(a, b),
          "float64")
    # A large multiple of the identity is taken out by its trace.
    shifted = sparse.csr_array(a + 100 * np.eye(N))
    close(ours.expm_multiply(shifted, b), np.exp(100) * exponential(a, b), "float64")
    close(ours.expm_multiply(sparse.csr_array(a), b, traceA=3.0), exponential(a, b), "float64")
    ones = ours.expm_multiply(sparse.eye(3, dtype="int32"), [1, 1, 1])
    np.testing.assert_allclose(hd.asnumpy(ones), np.e)
    np.testing.assert_array_equal(hd.asnumpy(ours.expm_multiply(sparse.csr_array((3, 3)), hd.ones(3))), 1)


@pytest.mark.parametrize("interval", [(0.1, 0.7, 5, True), (0, 1, 3, False), (1.5, -0.5, 4), (0.5, 0.5, 1)])
def test_intervals(interval):
    # SciPy returns NaN for intervals that go back, and takes no single point.
    a, b = matrix(), right_side(shape=(N, 2))
    times = np.linspace(*interval[:3], endpoint=interval[3] if len(interval) > 3 else True)
    wanted = np.stack([exponential(a, b, t) for t in times])
    close(ours.expm_multiply(sparse.csr_array(a), b, *interval), wanted, "float64")


def test_shape_of_a_default_interval():
    a, b = matrix(), right_side()
    got, wanted = ours.expm_multiply(sparse.csr_array(a), b, 0, 1), theirs.expm_multiply(
        scipy_sparse.csr_array(a), b, 0, 1)
    close(got, wanted, "float64")


def test_in_jit():
    a, b = matrix(), right_side()
    function = hd.jit(lambda a, b: 2 * ours.expm_multiply(a, b))
    close(function(sparse.csr_array(a), hd.asarray(b)), 2 * exponential(a, b), "float64")
    close(function(sparse.csr_array(4 * a), hd.asarray(b)), 2 * exponential(4 * a, b), "float64")


@pytest.mark.parametrize("dtype, scale", [("float32", 1), ("float64", 0.001), ("float64", 0.05),
                                          ("float64", 0.2), ("float64", 0.5), ("float64", 1),
                                          ("float64", 8), ("complex128", 1)])
def test_exponential(dtype, scale):
    a = matrix(dtype, scale)
    made = ours.expm(sparse.csr_array(a))
    assert type(made) is sparse.csc_array
    close(made.toarray(), exponential(a, np.eye(N)), dtype)


def test_kinds_of_inverses_and_exponentials():
    a = matrix() + 4 * np.eye(N)
    for given in (sparse.csr_matrix(a), sparse.coo_array(a), scipy_sparse.csc_array(a)):
        made = ours.inv(given)
        assert type(made).__name__ == ("csc_matrix" if given.__class__.__name__ == "csr_matrix"
                                       else "csc_array")
        close(made.toarray(), np.linalg.inv(a), "float64")
    close(ours.inv(sparse.diags([2, 4])).toarray(), np.diag([0.5, 0.25]), "float64")
    close(ours.expm(sparse.csr_matrix((3, 3), dtype="int64")).toarray(), np.eye(3), "float64")
    assert ours.expm(sparse.csr_array((0, 0))).shape == (0, 0)
    with pytest.raises(RuntimeError, match="singular"):
        ours.inv(sparse.csr_array((3, 3)))


@pytest.mark.parametrize("function, error, message", [
    (lambda a: ours.inv(a[:2]), ValueError, "inv: A must be square"),
    (lambda a: ours.inv(a.toarray()), TypeError, "must be a sparse matrix"),
    (lambda a: ours.expm(a[:2]), ValueError, "expm: A must be square"),
    (lambda a: ours.expm(a.toarray()), TypeError, "must be a sparse matrix"),
    (lambda a: ours.expm(a * float("inf")), ValueError, "not finite"),
    (lambda a: hd.jit(ours.expm)(a), hd.TraceError, ""),
    (lambda a: ours.expm_multiply(a[:2], hd.ones(2)), ValueError, "A must be square"),
    (lambda a: ours.expm_multiply(a, hd.ones(3)), ValueError, r"A \(4, 4\) and B \(3,\)"),
    (lambda a: ours.expm_multiply(a, hd.ones(4), start=0), ValueError, "both start and stop"),
    (lambda a: ours.expm_multiply(a, hd.ones(4), 0, 1, 0), ValueError, "num must be at least 1"),
    (lambda a: ours.expm_multiply(ours.aslinearoperator(a), hd.ones(4)), TypeError, "must be a matrix")])
def test_failing_input(function, error, message):
    with pytest.raises(error, match=message):
        function(sparse.csr_array(np.eye(4)))


@pytest.mark.parametrize("value", [0.25, 30.0])
def test_one_element_stays_sparse(value):
    one = sparse.csr_array([[value]])
    for function, wanted in ((ours.expm, np.exp(value)), (ours.inv, 1 / value)):
        got = function(one)
        assert sparse.issparse(got) and got.shape == (1, 1)
        np.testing.assert_allclose(hd.asnumpy(got.toarray()), [[wanted]], rtol=1e-13)
    assert ours.inv(sparse.csr_array((0, 0))).shape == (0, 0)
