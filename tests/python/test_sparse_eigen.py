"""Eigenvalues and singular values of heddle.sparse.linalg, against SciPy and NumPy."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import scipy_sparse, sparse

theirs = pytest.importorskip("scipy.sparse.linalg")
scipy_linalg = pytest.importorskip("scipy.linalg")
ours = sparse.linalg
N = 100
DTYPES = ["float32", "float64", "complex64", "complex128"]
WHICH = ["LM", "SM", "LA", "SA", "BE"]


def hermitian(dtype="float64", n=N, shift=0.0):
    """A Hermitian matrix with values of both signs that are apart from each other at both ends."""
    generator = np.random.default_rng(0)
    made = generator.standard_normal((n, n)) * (generator.random((n, n)) < 0.05)
    if np.dtype(dtype).kind == "c":
        made = made * (1 + 0.5j)
    made = made + made.conj().T + np.diag(np.linspace(-9, 11, n) + shift)
    return scipy_sparse.csr_array(made.astype(dtype))


def chosen(matrix, k, which):
    values = np.linalg.eigvalsh(matrix.toarray().astype(
        "complex128" if matrix.dtype.kind == "c" else "float64"))
    n = values.size
    order = {"LM": np.argsort(-abs(values)), "SM": np.argsort(abs(values)), "LA": np.arange(n)[::-1],
             "SA": np.arange(n), "BE": np.stack([np.arange(n)[::-1], np.arange(n)], 1).ravel()}[which]
    return np.sort(values[order[:k]])


def check_pairs(matrix, values, vectors, dtype, factor=2e3):
    """Real values that increase, and orthonormal eigenvectors."""
    values, vectors = hd.asnumpy(values), hd.asnumpy(vectors)
    unit = np.finfo(dtype).eps * factor
    assert vectors.dtype == np.dtype(dtype) and values.dtype == np.zeros(0, dtype).real.dtype
    np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(values.size), atol=unit)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=unit * 20)
    assert (np.diff(values) >= 0).all()


@pytest.mark.parametrize("dtype, which", [*(("float64", which) for which in WHICH), ("float32", "LM"),
                                          ("complex64", "SA"), ("complex128", "SM"), ("complex128", "LA")])
def test_eigsh(dtype, which):
    matrix = hermitian(dtype, shift=10 if which == "SM" else 0)
    w, x = ours.eigsh(sparse.csr_array(matrix), k=4, which=which)
    check_pairs(matrix, w, x, dtype)
    np.testing.assert_allclose(hd.asnumpy(w), chosen(matrix, 4, which), atol=np.finfo(dtype).eps * 2e3)


@pytest.mark.parametrize("which", WHICH)
def test_order_without_vectors(which):
    # SciPy misses the value 0.
    matrix = scipy_sparse.diags_array(np.arange(-20.0, 30) + 0.25)
    got = ours.eigsh(sparse.dia_array(matrix), 4, which=which, return_eigenvectors=False)
    wanted = theirs.eigsh(matrix, 4, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(hd.asnumpy(got), wanted, atol=1e-10)


def test_options_of_eigsh():
    matrix = hermitian()
    a, wanted = sparse.csr_array(matrix), chosen(hermitian(), 3, "LA")
    start = np.random.default_rng(1).standard_normal(N)
    for options in ({"v0": start}, {"v0": hd.asarray(start)[:, None]}, {"ncv": 8}, {"ncv": N},
                    {"tol": 1e-10}, {"maxiter": 500}, {"rng": 3}, {"rng": np.random.default_rng(3)}):
        w, x = ours.eigsh(a, k=3, which="LA", **options)
        check_pairs(matrix, w, x, "float64", 1e6 if "tol" in options else 2e3)
        np.testing.assert_allclose(hd.asnumpy(w), wanted, atol=1e-8)
    first, second = (ours.eigsh(a, k=3)[1].tolist() for _ in range(2))
    assert first == second
    for given in (matrix, matrix.toarray(), ours.aslinearoperator(a),
                  ours.LinearOperator((N, N), lambda v: a @ v, dtype="float64")):
        np.testing.assert_allclose(hd.asnumpy(ours.eigsh(given, k=3, which="LA")[0]), wanted, atol=1e-9)
    integers = sparse.diags_array(np.arange(30), dtype="int64")
    np.testing.assert_allclose(hd.asnumpy(ours.eigsh(integers, 2)[0]), [28, 29])


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_values_next_to_sigma(dtype):
    matrix = hermitian(dtype)
    w, x = ours.eigsh(sparse.csr_array(matrix), k=4, sigma=0.3)
    check_pairs(matrix, w, x, dtype)
    all_values = np.linalg.eigvalsh(matrix.toarray())
    wanted = np.sort(all_values[np.argsort(abs(all_values - 0.3))[:4]])
    np.testing.assert_allclose(hd.asnumpy(w), wanted, atol=np.finfo(dtype).eps * 1e3)


def test_operators_with_sigma():
    matrix = scipy_sparse.diags_array(np.arange(1.0, 51))
    inverse = ours.LinearOperator((50, 50), lambda v: v / (hd.arange(1.0, 51) - 7.2), dtype="float64")
    operator = ours.aslinearoperator(sparse.dia_array(matrix))
    w = ours.eigsh(operator, 2, sigma=7.2, OPinv=inverse, return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(hd.asnumpy(w)), [7, 8])
    with pytest.raises(ValueError, match="OPinv"):
        ours.eigsh(operator, 2, sigma=7.2)
    with pytest.raises(TypeError, match="less than 50"):
        ours.eigsh(operator, 50)


@pytest.mark.parametrize("n", [13, 30])
def test_values_that_are_there_many_times(n):
    # The first vectors span an invariant subspace: the iteration goes on outside of it.
    w, x = ours.eigsh(sparse.eye_array(n), k=6)
    check_pairs(np.eye(n), w, x, "float64")
    np.testing.assert_allclose(hd.asnumpy(w), 1)
    w, x = ours.eigsh(sparse.csr_array((n, n)), k=2)
    np.testing.assert_array_equal(hd.asnumpy(w), 0)
    check_pairs(np.zeros((n, n)), w, x, "float64")
    projection = np.diag(np.arange(n) % 3 == 0).astype("float64")
    w, x = ours.eigsh(sparse.csr_array(projection), k=4)
    check_pairs(projection, w, x, "float64")
    np.testing.assert_allclose(hd.asnumpy(w), 1)


RING = scipy_sparse.diags_array([1.0] * 4, offsets=[1, -1, 99, -99], shape=(100, 100))
FIVE_TIMES = scipy_sparse.diags_array(np.repeat(np.arange(1.0, 101), 5))
# 11 values, each many times: less than there are vectors in the basis.
ELEVEN = scipy_sparse.diags_array(np.random.default_rng(2).choice(np.arange(-13.0, 9, 2), 256))


@pytest.mark.parametrize("matrix, k, options", [
    (RING, 5, {"which": "LA"}), (FIVE_TIMES, 12, {"tol": 1e-4}), (FIVE_TIMES, 8, {"sigma": 50.2}),
    (ELEVEN, 3, {"which": "BE"})])
def test_no_copy_of_a_value_is_missed(matrix, k, options):
    # From one vector alone, Lanczos iterations find other values instead of copies.
    w, x = ours.eigsh(sparse.csr_array(matrix), k, **options)
    if "sigma" in options:
        wanted = np.sort(50.2 + chosen(scipy_sparse.csr_array(matrix - 50.2 * np.eye(500)), k, "SM"))
    else:
        wanted = chosen(matrix, k, options.get("which", "LM"))
    np.testing.assert_allclose(hd.asnumpy(w), wanted, atol=1e-10 if "tol" not in options else 1e-3)
    if "tol" not in options:
        check_pairs(matrix, w, x, "float64")


def test_no_copy_is_missed_in_jit_and_float32():
    function = hd.jit(lambda a: ours.eigsh(a, k=5, which="LA", return_eigenvectors=False))
    for dtype in ("float32", "float64"):
        got = function(sparse.csr_array(RING.astype(dtype)))
        np.testing.assert_allclose(hd.asnumpy(got), chosen(RING, 5, "LA"), atol=200 * np.finfo(dtype).eps)


def test_eigsh_in_jit():
    matrix = hermitian()
    function = hd.jit(lambda a: ours.eigsh(a, k=2, which="LA", return_eigenvectors=False) * 2)
    np.testing.assert_allclose(hd.asnumpy(function(sparse.csr_array(matrix))),
                               2 * chosen(matrix, 2, "LA"), rtol=1e-9)


def test_values_that_do_not_converge():
    matrix = sparse.diags_array(np.linspace(1.0, 1.01, 400))
    with pytest.raises(ours.ArpackNoConvergence, match="of 6 eigenvalues converged") as caught:
        ours.eigsh(matrix, k=6, maxiter=2)
    assert isinstance(caught.value, RuntimeError) and isinstance(caught.value, ours.ArpackError)
    count = caught.value.eigenvalues.shape[0]
    assert count < 6 and caught.value.eigenvectors.shape == (400, count)


@pytest.mark.parametrize("broken", [lambda a: (a * float("nan"), {}),
                                    lambda a: (a, {"v0": np.zeros(400)})])
def test_nan_ends_the_iteration(broken):
    matrix, options = broken(sparse.diags_array(np.arange(1.0, 401)).tocsr())
    with pytest.raises((ours.ArpackNoConvergence, hd.LinAlgError)):
        ours.eigsh(matrix, k=2, **options)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(60, 40), (40, 60)])
def test_svds(dtype, shape):
    generator = np.random.default_rng(2)
    matrix = generator.standard_normal(shape) * (generator.random(shape) < 0.2)
    matrix = (matrix * (1 + 0.5j) if np.dtype(dtype).kind == "c" else matrix).astype(dtype)
    u, s, vh = map(hd.asnumpy, ours.svds(sparse.csr_array(matrix), 3))
    unit = np.finfo(dtype).eps * 2e3
    assert u.dtype == vh.dtype == np.dtype(dtype) and u.shape[1] == vh.shape[0] == 3
    np.testing.assert_allclose(s, np.linalg.svd(matrix)[1][:3][::-1], rtol=unit)
    np.testing.assert_allclose(matrix @ vh.conj().T, u * s, atol=unit * 10)
    np.testing.assert_allclose(u.conj().T @ u, np.eye(3), atol=unit)
    np.testing.assert_allclose(vh @ vh.conj().T, np.eye(3), atol=unit)


def test_options_of_svds():
    matrix = np.diag(np.arange(1.0, 31))[:, :25]
    a = sparse.csr_array(matrix)
    np.testing.assert_allclose(hd.asnumpy(ours.svds(a, 2, return_singular_vectors=False)), [24, 25])
    np.testing.assert_allclose(hd.asnumpy(ours.svds(a, 2, which="SM")[1]), [1, 2])
    u, s, vh = ours.svds(a, 2, return_singular_vectors="u")
    assert vh is None and u.shape == (30, 2)
    u, s, vh = ours.svds(a, 2, return_singular_vectors="vh", v0=np.ones(25), ncv=10, tol=1e-8)
    assert u is None and vh.shape == (2, 25)
    operator = ours.aslinearoperator(a)
    np.testing.assert_allclose(hd.asnumpy(ours.svds(operator, 2)[1]), [24, 25])


def test_greatest_singular_value_as_norm():
    matrix = hermitian().toarray()[:, :30]
    np.testing.assert_allclose(float(ours.norm(sparse.csc_array(matrix), 2)), np.linalg.norm(matrix, 2))
    row = np.arange(4.0)[None]
    np.testing.assert_allclose(float(ours.norm(sparse.csr_array(row), 2)), np.linalg.norm(row, 2))


@pytest.mark.parametrize("dtype, largest, general", [
    ("float32", True, False), ("float64", True, True), ("float64", False, False),
    ("complex64", False, True), ("complex128", True, False)])
def test_lobpcg(dtype, largest, general):
    matrix = hermitian(dtype)
    second = scipy_sparse.diags_array(1 + np.random.default_rng(3).random(N).astype(dtype)).tocsr()
    x0 = np.random.default_rng(4).standard_normal((N, 3)).astype(dtype)
    tol = 1e-2 if dtype in ("float32", "complex64") else 1e-7
    w, x = ours.lobpcg(sparse.csr_array(matrix), hd.asarray(x0), tol=tol, largest=largest, maxiter=200,
                       B=sparse.csr_array(second) if general else None)
    b = second.toarray() if general else np.eye(N)
    values = scipy_linalg.eigh(matrix.toarray(), b, eigvals_only=True)
    w, x = hd.asnumpy(w), hd.asnumpy(x)
    assert x.dtype == np.dtype(dtype) and w.dtype == x.real.dtype
    np.testing.assert_allclose(w, values[::-1][:3] if largest else values[:3], atol=tol)
    np.testing.assert_allclose(x.conj().T @ b @ x, np.eye(3), atol=1e3 * np.finfo(dtype).eps)
    assert np.linalg.norm(matrix @ x - b @ x * w, axis=0).max() <= 1.1 * tol


def test_options_of_lobpcg():
    diagonal = np.arange(1.0, 101)
    a = sparse.dia_array(scipy_sparse.diags_array(diagonal))
    x0 = np.random.default_rng(5).standard_normal((100, 3))
    found = {}
    for name, options in {"plain": {}, "Y": {"Y": np.eye(100, 3)},
                          "M": {"M": lambda x: x / hd.asarray(diagonal)[:, None]}}.items():
        found[name] = hd.asnumpy(ours.lobpcg(a, x0, largest=False, tol=1e-7, maxiter=150, **options)[0])
    np.testing.assert_allclose(found["plain"], [1, 2, 3])
    np.testing.assert_allclose(found["M"], [1, 2, 3])
    np.testing.assert_allclose(found["Y"], [4, 5, 6])
    w, x, values, norms = ours.lobpcg(lambda x: a @ x, x0, tol=1e-3, maxiter=60, retLambdaHistory=True,
                                      retResidualNormsHistory=True)
    assert len(values) == len(norms) > 3 and values[0].shape == norms[-1].shape == (3,)
    assert hd.max(norms[-1]) < 1e-3 < hd.max(norms[0])
    # As many vectors as there are.
    np.testing.assert_allclose(hd.asnumpy(ours.lobpcg(np.diag([3.0, 1, 2]), np.eye(3))[0]), [3, 2, 1])
    with pytest.warns(UserWarning, match="norms of the residuals"):
        ours.lobpcg(a, x0, maxiter=1, tol=1e-10)


def test_steps_of_lobpcg():
    # No more than SciPy takes, and some.
    matrix = hermitian(shift=10)
    x0 = np.random.default_rng(6).standard_normal((N, 3))
    ours_took, they_took = (
        len(each.lobpcg(given, x0, tol=1e-6, maxiter=200, largest=False, retResidualNormsHistory=True)[2])
        for each, given in ((ours, sparse.csr_array(matrix)), (theirs, matrix)))
    assert ours_took <= 1.2 * they_took + 3


@pytest.mark.parametrize("function, error, message", [
    (lambda a: ours.eigsh(a[:5], 2), ValueError, "A must be square"),
    (lambda a: ours.eigsh(a, 0), ValueError, "k must be greater than 0"),
    (lambda a: ours.eigsh(a, 10), TypeError, "less than 10"),
    (lambda a: ours.eigsh(a, 2, which="XX"), ValueError, "which must be one of"),
    (lambda a: ours.eigsh(a, 2, ncv=2), ValueError, "ncv must be greater than k"),
    (lambda a: ours.eigsh(a, 2, ncv=11), ValueError, "at most 10; it is 11"),
    (lambda a: ours.eigsh(a, 2, tol=-1), ValueError, "tol is -1"),
    (lambda a: ours.eigsh(a, 2, maxiter=0), ValueError, "maxiter must be positive"),
    (lambda a: ours.eigsh(a, 2, v0=np.ones(9)), ValueError, r"v0 has the shape \(9,\)"),
    (lambda a: ours.eigsh(a, 2, v0=1j * np.ones(10)), hd.DTypeError, "v0 is complex128"),
    (lambda a: ours.eigsh(a, 2, M=a), NotImplementedError, "M"),
    (lambda a: ours.eigsh(a, 2, OPinv=a), ValueError, "OPinv needs sigma"),
    (lambda a: ours.svds(a, 10), ValueError, "k is 10"),
    (lambda a: ours.svds(a, 2, which="LA"), ValueError, "which"),
    (lambda a: ours.svds(a, 2, solver="x"), ValueError, "solver"),
    (lambda a: ours.svds(a, 2, return_singular_vectors="x"), ValueError, "return_singular_vectors"),
    (lambda a: ours.lobpcg(a, np.ones(10)), ValueError, "X must have two axes"),
    (lambda a: ours.lobpcg(a, np.ones((9, 1))), ValueError, r"A has the shape \(10, 10\)"),
    (lambda a: ours.lobpcg(a, np.ones((10, 2))), ValueError, "columns of X are linearly dependent"),
    (lambda a: ours.lobpcg(a, np.eye(10, 2), Y=np.ones((10, 2))), ValueError, "columns of Y"),
    (lambda a: ours.lobpcg(a, np.eye(10, 2), Y=np.ones(10)), ValueError, "Y has the shape"),
    (lambda a: ours.lobpcg(a, np.eye(10, 2), B=np.eye(9)), ValueError, "B has the shape")])
def test_failing_input(function, error, message):
    with pytest.raises(error, match=message):
        function(sparse.csr_array(np.diag(np.arange(1.0, 11))))


def test_all_values_of_a_dense_matrix():
    with pytest.warns(RuntimeWarning):
        w, x = ours.eigsh(np.diag([3.0, 1.0, 2.0]), k=3)
    np.testing.assert_allclose(hd.asnumpy(w), [1, 2, 3])


@pytest.mark.parametrize("scale", [1e-300, 1e-60, 1e160])
def test_values_of_any_size(scale):
    values = np.concatenate([np.ones(3), np.linspace(0, 0.5, 30)])
    vectors, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((33, 33)))
    got = ours.eigsh(hd.asarray((vectors * (scale * values)) @ vectors.T), k=3, return_eigenvectors=False)
    np.testing.assert_allclose(hd.asnumpy(got) / scale, np.ones(3), rtol=1e-13)
