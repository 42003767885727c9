"""Factorisations of heddle.sparse.linalg, and what is solved with them, against SciPy."""

import subprocess
import sys

import numpy as np
import pytest

import heddle as hd
from sparse_cases import scipy_sparse, sparse

theirs = pytest.importorskip("scipy.sparse.linalg")
ours = sparse.linalg
N = 60
DTYPES = ["float32", "float64", "complex64", "complex128"]


def general(dtype="float64", seed=0):
    """A matrix that is not symmetric, and needs pivots."""
    generator = np.random.default_rng(seed)
    made = generator.standard_normal((N, N)) * (generator.random((N, N)) < 0.08)
    made += np.roll(np.diag(generator.uniform(2, 3, N)), 3, axis=0)
    if np.dtype(dtype).kind == "c":
        made = made * (1 + 0.5j)
    return scipy_sparse.csc_array(made.astype(dtype))


def right_side(dtype="float64", shape=(N,)):
    made = np.random.default_rng(1).standard_normal(shape)
    return (made * (1 - 2j) if np.dtype(dtype).kind == "c" else made).astype(dtype)


def close(got, wanted, dtype, factor=1e4):
    found = hd.asnumpy(got)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    unit = np.finfo(dtype).eps * factor
    np.testing.assert_allclose(found, wanted, rtol=unit, atol=unit * np.abs(wanted).max())


@pytest.mark.parametrize("dtype", DTYPES)
def test_spsolve(dtype):
    matrix = general(dtype)
    for shape in ((N,), (N, 1), (N, 3)):
        b = right_side(dtype, shape)
        close(ours.spsolve(sparse.csc_array(matrix), hd.asarray(b)), theirs.spsolve(matrix, b), dtype)
    close(ours.spsolve(sparse.csr_array(matrix), b), theirs.spsolve(matrix.tocsr(), b), dtype)


def test_dtypes_and_formats_of_spsolve():
    matrix, b = general(), right_side()
    wanted = theirs.spsolve(matrix, b)
    for format in ("coo", "csr", "bsr", "dia"):
        close(ours.spsolve(sparse.csc_array(matrix).asformat(format), b), wanted, "float64")
    close(ours.spsolve(matrix, b), wanted, "float64")
    close(ours.spsolve(matrix.toarray(), b), wanted, "float64")
    assert ours.spsolve(general("float32"), right_side("float32")).dtype == hd.float32
    assert ours.spsolve(general("float32"), b).dtype == hd.float64
    assert ours.spsolve(general("float32"), right_side("complex128")).dtype == hd.complex128
    integers = sparse.csr_array(np.asarray([[2, 1], [0, 4]]))
    np.testing.assert_array_equal(hd.asnumpy(ours.spsolve(integers, [4, 8])), [1.0, 2.0])
    # Elements that are stored twice add up.
    twice = sparse.csc_array(([1.0, 1.0, 4.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    np.testing.assert_array_equal(hd.asnumpy(ours.spsolve(twice, [4.0, 8.0])), [2.0, 2.0])


@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "csr_matrix"])
def test_sparse_right_sides(kind):
    matrix = getattr(scipy_sparse, kind)(general())
    b = scipy_sparse.random_array((N, 300), density=0.02, rng=np.random.default_rng(2), format="csc")
    got = ours.spsolve(getattr(sparse, kind)(matrix), sparse.csc_array(b))
    wanted = theirs.spsolve(matrix, b)
    assert type(got).__name__ == type(wanted).__name__ and got.shape == wanted.shape
    np.testing.assert_allclose(hd.asnumpy(got.toarray()), wanted.toarray(), rtol=1e-10, atol=1e-10)
    column = ours.spsolve(getattr(sparse, kind)(matrix), sparse.csc_array(b[:, :1]))
    close(column, theirs.spsolve(matrix, b[:, :1]), "float64")


@pytest.mark.parametrize("dtype", DTYPES)
def test_splu(dtype):
    matrix = general(dtype)
    got, wanted = ours.splu(sparse.csc_array(matrix)), theirs.splu(matrix)
    assert got.shape == wanted.shape and got.nnz == wanted.nnz and got.dtype == hd.asarray(
        np.zeros(0, dtype)).dtype
    for name in ("L", "U"):
        factor = getattr(got, name)
        assert factor.format == "csc"
        np.testing.assert_array_equal(hd.asnumpy(factor.toarray()), getattr(wanted, name).toarray())
    for name in ("perm_r", "perm_c"):
        np.testing.assert_array_equal(hd.asnumpy(getattr(got, name)), getattr(wanted, name))
    for trans in "NTH":
        for shape in ((N,), (N, 3)):
            b = right_side(dtype, shape)
            close(got.solve(hd.asarray(b), trans), wanted.solve(b, trans), dtype)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_solutions_on_the_device(dtype, trans):
    matrix = general(dtype)
    factors, wanted = ours.splu(sparse.csc_array(matrix)), theirs.splu(matrix)
    solve = hd.jit(lambda b: 2 * factors.solve(b, trans))
    for shape in ((N,), (N, 3)):
        b = right_side(dtype, shape)
        close(solve(hd.asarray(b)), 2 * wanted.solve(b, trans), dtype)
        close(solve(hd.asarray(3 * b)), 6 * wanted.solve(b, trans), dtype)


def structures():
    """Matrices from one level of many rows to as many levels as rows."""
    n = 100
    line = scipy_sparse.diags_array([-np.ones(n - 1), np.full(n, 4.0), -np.ones(n - 1)],
                                    offsets=[-1, 0, 1]).tocsr()
    few, eye = line[:10, :10], scipy_sparse.eye_array(10)
    tree = scipy_sparse.csr_array((np.ones(n), (np.arange(n), np.arange(n) // 2)), shape=(n, n))
    return {"dense": np.random.default_rng(3).standard_normal((n, n)) + 20 * np.eye(n),
            "diagonal": scipy_sparse.diags_array(np.arange(1.0, n + 1)), "line": line,
            "one": line[:1, :1], "tree": tree + tree.T + 4 * scipy_sparse.eye_array(n),
            "grid": scipy_sparse.kron(few, eye) + scipy_sparse.kron(eye, few)}


@pytest.mark.parametrize("name", structures())
def test_levels(name):
    matrix = scipy_sparse.csc_array(structures()[name])
    b = np.arange(1.0, matrix.shape[0] + 1)
    factors = ours.splu(sparse.csc_array(matrix))
    close(hd.jit(factors.solve)(hd.asarray(b)), theirs.splu(matrix).solve(b), "float64")


def test_factors_in_loops_and_as_preconditioners():
    matrix = general()
    a, factors = sparse.csr_array(matrix), ours.spilu(sparse.csc_array(matrix), drop_tol=1e-3)
    preconditioner = ours.LinearOperator((N, N), factors.solve, dtype="float64")
    x, info = ours.gmres(a, right_side(), M=preconditioner, rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(matrix @ hd.asnumpy(x), right_side(), rtol=1e-7, atol=1e-7)
    exact = ours.splu(a)
    power = hd.fori_loop(0, 3, lambda i, x: exact.solve(x), hd.asarray(right_side()))
    close(power, np.linalg.matrix_power(np.linalg.inv(matrix.toarray()), 3) @ right_side(), "float64", 1e6)


def test_spilu_and_options():
    matrix = general()
    for options in ({}, {"drop_tol": 0.1, "fill_factor": 2}, {"permc_spec": "NATURAL"}):
        got, wanted = (each.spilu(given, **options)
                       for each, given in ((ours, sparse.csc_array(matrix)), (theirs, matrix)))
        close(got.solve(right_side()), wanted.solve(right_side()), "float64")
    got = ours.splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=0.5, options={"Equil": False})
    wanted = theirs.splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=0.5, options={"Equil": False})
    np.testing.assert_array_equal(hd.asnumpy(got.perm_r), wanted.perm_r)


def test_factorized():
    matrix = general()
    solve, wanted = ours.factorized(sparse.csc_array(matrix)), theirs.factorized(matrix)
    close(solve(hd.asarray(right_side())), wanted(right_side()), "float64")


@pytest.mark.parametrize("singular", [np.zeros((3, 3)), np.diag([1.0, 0.0, 2.0]), np.ones((3, 3))])
def test_singular_matrices(singular):
    for function in (ours.splu, ours.factorized):
        for error in (hd.LinAlgError, RuntimeError):
            with pytest.raises(error, match="singular"):
                function(sparse.csc_array(singular))
    assert ours.MatrixRankWarning is theirs.MatrixRankWarning
    with pytest.warns(theirs.MatrixRankWarning):
        x = ours.spsolve(sparse.csc_array(singular), hd.ones(3))
    assert np.isnan(hd.asnumpy(x)).all() and x.dtype == hd.float64
    with pytest.raises(RuntimeError):
        ours.spsolve(sparse.csc_array(singular), sparse.csc_array(np.ones((3, 2))))


@pytest.mark.parametrize("function, error, message", [
    (lambda a: ours.spsolve(a[:2], hd.ones(2)), ValueError, r"A must be square, not \(2, 4\)"),
    (lambda a: ours.splu(a[:2]), ValueError, "splu: A must be square"),
    (lambda a: ours.spilu(a[:2]), ValueError, "spilu: A must be square"),
    (lambda a: ours.factorized(a[:2]), ValueError, "factorized: A must be square"),
    (lambda a: ours.spsolve(a, hd.ones(3)), ValueError, r"A \(4, 4\) and b \(3,\)"),
    (lambda a: ours.spsolve(a, hd.ones((4, 1, 1))), ValueError, "b"),
    (lambda a: ours.spsolve(a, sparse.eye(3)), ValueError, "incompatible"),
    (lambda a: ours.splu(a).solve(hd.ones(3)), ValueError, r"A \(4, 4\) and b \(3,\)"),
    (lambda a: ours.splu(a).solve(hd.ones(4), "X"), ValueError, "trans must be"),
    (lambda a: ours.splu(a).solve(hd.ones(4, dtype=hd.complex128)), hd.DTypeError, "complex128"),
    (lambda a: ours.splu(a.astype("float32")).solve(hd.ones(4)), hd.DTypeError, "float64"),
    (lambda a: hd.jit(lambda a, b: ours.spsolve(a, b))(a, hd.ones(4)), hd.TraceError, "host"),
    (lambda a: hd.jit(lambda a, b: ours.splu(a).solve(b))(a, hd.ones(4)), hd.TraceError, "host")])
def test_failing_input(function, error, message):
    with pytest.raises(error, match=message):
        function(sparse.csc_array(np.eye(4) * 2))


def test_without_scipy():
    program = """
import sys
sys.modules["scipy"] = None
import heddle as hd
try:
    hd.sparse.linalg.splu(hd.sparse.eye(3, format="csc"))
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "needs SciPy" in done.stdout


@pytest.mark.parametrize("solver", ["cg", "bicgstab", "gmres", "minres"])
def test_factors_as_preconditioners(solver):
    # On a CPU the loop goes step by step, with values: SuperLU solves faster than a recorded loop.
    line, one = scipy_sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(16, 16)), scipy_sparse.eye_array(16)
    reference = scipy_sparse.csc_array(scipy_sparse.kron(line, one) + scipy_sparse.kron(one, line))
    a, b = sparse.csc_array(reference), np.random.default_rng(3).random(256)
    factors, calls = ours.spilu(sparse.csc_array(reference.multiply(abs(reference) > 2)), drop_tol=0.1), []

    def solve(v):
        calls.append(1)
        return factors.solve(v)

    preconditioner = ours.LinearOperator(a.shape, solve)
    function = getattr(ours, solver)
    x, info = function(a, hd.asarray(b), M=preconditioner, rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(reference @ x.get(), b, atol=1e-6)
    on_cpu = hd.device() == "cpu"
    assert (len(calls) > 5) == on_cpu
    calls.clear()
    jitted, _ = hd.jit(lambda b: function(a, b, M=preconditioner, rtol=1e-10))(hd.asarray(b))
    assert len(calls) <= 5  # traced
    np.testing.assert_allclose(jitted.get(), x.get(), atol=1e-6)
