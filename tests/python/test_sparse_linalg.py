"""heddle.sparse.linalg and csgraph, against SciPy."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import scipy_sparse, sparse

theirs = pytest.importorskip("scipy.sparse.linalg")
graphs = pytest.importorskip("scipy.sparse.csgraph")
ours = sparse.linalg
N = 20


def systems(dtype):
    """A positive definite matrix, one that is not symmetric, and a right side."""
    generator = np.random.default_rng(0)
    base = generator.standard_normal((N, N)) * (generator.random((N, N)) < 0.2)
    if np.dtype(dtype).kind == "c":
        base = base * (1 + 0.5j)
    definite = base @ base.conj().T + 5 * np.eye(N)
    return definite.astype(dtype), (base + 6 * np.eye(N)).astype(dtype), (
        generator.standard_normal(N).astype(dtype))


def check(name, matrix, b, dtype, **options):
    x, info = getattr(ours, name)(sparse.csr_array(matrix), hd.asarray(b), **options)
    right, wanted = getattr(theirs, name)(
        scipy_sparse.csr_array(matrix), b,
        **{key: value.get() if sparse.issparse(value) else value for key, value in options.items()})
    assert info == wanted and isinstance(info, int)
    assert x.dtype.name == right.dtype.name and x.shape == right.shape
    scale = np.finfo(dtype).eps * 1e4
    np.testing.assert_allclose(hd.asnumpy(x), right, rtol=scale, atol=scale * max(1, np.abs(right).max()))
    return hd.asnumpy(x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("name", ["cg", "bicgstab", "gmres", "cgs", "bicg", "qmr", "tfqmr"])
def test_solvers(name, dtype):
    definite, general, b = systems(dtype)
    matrix = definite if name == "cg" else general
    rtol = 1e-4 if dtype == "float32" else 1e-9
    x = check(name, matrix, b, dtype, rtol=rtol)
    assert np.linalg.norm(matrix @ x - b) <= 1.01 * rtol * np.linalg.norm(b)


@pytest.mark.parametrize("name", ["cg", "bicgstab", "gmres", "cgs", "minres"])
def test_solver_options(name):
    matrix, _, b = systems("float64")
    check(name, matrix, b, "float64", maxiter=2)
    check(name, matrix, b, "float64", x0=np.ones(N))
    check(name, matrix, b, "float64", M=sparse.csr_array(np.diag(1 / np.diag(matrix))))
    check(name, matrix, np.zeros(N), "float64")
    x, info = getattr(ours, name)(hd.asarray(matrix), hd.asarray(b)[:, None])
    assert x.shape == (N,) and info == 0
    # Integers are solved in float64; an operator is as good as a matrix.
    x, _ = getattr(ours, name)(sparse.eye(3, dtype="int32", format="csr"), [1, 2, 3])
    assert x.dtype == hd.float64
    operator = ours.LinearOperator((N, N), lambda v: hd.asarray(matrix) @ v, dtype="float64")
    np.testing.assert_allclose(hd.asnumpy(getattr(ours, name)(operator, b)[0]),
                               getattr(theirs, name)(matrix, b)[0], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["bicg", "qmr", "tfqmr"])
def test_options_of_solvers_with_shadows(name):
    _, matrix, b = systems("float64")
    check(name, matrix, b, "float64", maxiter=3)
    check(name, matrix, b, "float64", x0=np.ones(N))
    check(name, matrix, np.zeros(N), "float64")
    # SciPy's tfqmr mixes preconditioning from the left and from the right.
    M = sparse.csr_array(np.diag(1 / np.diag(matrix)) + 0.01 * np.eye(N, k=1))
    for options in ([{"M1": M}, {"M2": M}, {"M1": M, "M2": M}] if name == "qmr" else [{"M": M}]):
        x, info = getattr(ours, name)(sparse.csr_array(matrix), b, rtol=1e-9, **options)
        assert info == 0 and np.linalg.norm(matrix @ hd.asnumpy(x) - b) <= 1e-8 * np.linalg.norm(b)
    if name == "bicg":
        check(name, matrix, b, "float64", M=M)
    elif name == "qmr":  # SciPy takes operators, and both
        x, info = ours.qmr(matrix, b, M1=M, M2=M)
        right, wanted = theirs.qmr(matrix, b, **{each: theirs.aslinearoperator(M.get())
                                                 for each in ("M1", "M2")})
        assert info == wanted == 0
        np.testing.assert_allclose(hd.asnumpy(x), right, rtol=1e-9)
    with pytest.raises(ValueError, match="preconditioner"):
        getattr(ours, name)(matrix, b, **{"M2" if name == "qmr" else "M": np.eye(3)})
    with pytest.raises(ValueError, match="must be square"):
        getattr(ours, name)(matrix[:5], b)


@pytest.mark.parametrize("dtype,factors", [("float64", [1e-310, 1e-200, 1e160, 1e300]),
                                           ("float32", [1e-30, 1e30]), ("complex64", [1e-30, 1e30])])
def test_right_sides_whose_squares_are_out_of_range(dtype, factors):
    """x of a scaled b is the scaled x, with the same steps; so are residuals and what callbacks get."""
    definite, _, b = systems(dtype)
    matrix, loose = sparse.csr_array(definite), 1e-6 if dtype == "float64" else 1e-3
    names = ["cg", "minres", "lgmres", "lsqr", "bicgstab", "gmres", "cgs", "bicg", "qmr", "tfqmr", "gcrotmk",
             "lsmr"]
    for name in names[:{"float64": 12, "float32": 4, "complex64": 1}[dtype]]:
        solve = getattr(ours, name)
        plain = solve(matrix, b)
        for factor in factors:
            seen, given = [], (b * np.dtype(dtype).type(factor)).astype(dtype)
            keep = {} if name in ("lsqr", "lsmr") else {"callback": seen.append} if factor == 1e160 else {}
            made = solve(matrix, given, **keep)
            assert made[1] == plain[1], (name, factor)
            found = hd.asnumpy(made[0]).astype("complex256") / factor
            assert np.abs(found - hd.asnumpy(plain[0])).max() < loose * np.abs(b).max(), (name, factor)
            for x in seen[-1:] if name != "gmres" else []:
                assert 0.1 < np.abs(hd.asnumpy(x) / factor).max() / np.abs(hd.asnumpy(plain[0])).max() < 10
            if name in ("lsqr", "lsmr") and factor != 1e-310:
                assert abs(float(made[3]) / factor - float(plain[3])) < 1e-4
    # The first x and the absolute tolerance are not in other units.
    x, info = ours.cg(matrix, b * np.float32(1e-30), x0=b * np.float32(1e-30), atol=1e-3)
    assert info == 0
    np.testing.assert_array_equal(hd.asnumpy(x), b * np.float32(1e-30))


@pytest.mark.parametrize("name", ["gmres", "lgmres", "gcrotmk"])
def test_matrices_whose_squares_are_out_of_range(name):
    definite, _, b = systems("float64")
    for factor in (1e-200, 1e200):
        x, info = getattr(ours, name)(sparse.csr_array(definite * factor), b, rtol=1e-9)
        assert info == 0
        np.testing.assert_allclose(hd.asnumpy(x) * factor, np.linalg.solve(definite, b), rtol=1e-6)


def test_breakdowns():
    skew = np.array([[0.0, 1], [-1, 0]])
    for name, code in (("bicg", -11), ("qmr", -14), ("tfqmr", -1)):
        for module in (ours, theirs):
            assert getattr(module, name)(skew, np.array([1.0, 0]))[1] == code


@pytest.mark.parametrize("name", ["cg", "bicgstab", "minres", "bicg", "tfqmr"])
def test_callbacks(name):
    matrix, _, b = systems("float64")
    seen, wanted = [], []
    getattr(ours, name)(sparse.csr_array(matrix), b, callback=lambda x: seen.append(hd.asnumpy(x)))
    getattr(theirs, name)(matrix, b, callback=lambda x: wanted.append(x.copy()))
    assert len(seen) == len(wanted)
    np.testing.assert_allclose(seen[0], wanted[0], rtol=1e-9)


@pytest.mark.parametrize("kind", ["x", "pr_norm"])
def test_callbacks_of_gmres(kind):
    _, matrix, b = systems("float64")
    seen, wanted = [], []
    ours.gmres(sparse.csr_array(matrix), b, restart=4, callback_type=kind, callback=(
        lambda x: seen.append(hd.asnumpy(x) if kind == "x" else x)))
    theirs.gmres(matrix, b, restart=4, callback_type=kind, callback=lambda x: wanted.append(
        np.array(x)))
    assert len(seen) == len(wanted)
    np.testing.assert_allclose(seen, wanted, rtol=1e-6, atol=1e-9)


def test_solver_in_jit():
    matrix, _, b = systems("float64")
    solve = hd.jit(lambda a, b: ours.cg(a, b, rtol=1e-10)[0] * 2)
    np.testing.assert_allclose(hd.asnumpy(solve(sparse.csr_array(matrix), hd.asarray(b))),
                               2 * np.linalg.solve(matrix, b), rtol=1e-7)


@pytest.mark.parametrize("name", ["lsqr", "lsmr"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("options", [{}, {"damp": 0.5}, {"x0": np.ones(4)}], ids=["plain", "damp", "x0"])
@pytest.mark.parametrize("where", ["b", "A"])
def test_least_squares_of_values_that_are_not_finite(name, value, options, where):
    matrix = np.random.default_rng(8).random((6, 4))
    b = np.ones(6)
    if where == "b":
        b[2] = value
    else:
        matrix[2, 1] = value
    with np.errstate(all="ignore"):
        expected = getattr(theirs, name)(scipy_sparse.csr_array(matrix), b, **options)
    found = getattr(ours, name)(sparse.csr_array(matrix), hd.asarray(b), **options)
    np.testing.assert_array_equal(np.asarray(found[0]), expected[0])
    assert np.isnan(expected[0]).all()
    assert [int(x) for x in found[1:3]] == [int(x) for x in expected[1:3]]


@pytest.mark.parametrize("damp", [0.0, 0.5])
@pytest.mark.parametrize("name", ["lsqr", "lsmr"])
def test_least_squares(name, damp):
    generator = np.random.default_rng(1)
    matrix = generator.standard_normal((30, 10)) * (generator.random((30, 10)) < 0.5)
    b = generator.standard_normal(30)
    for a, right in ((matrix, b), (matrix.T, b[:10]), (matrix, np.zeros(30))):
        got = getattr(ours, name)(sparse.csr_array(a), hd.asarray(right), damp=damp)
        wanted = getattr(theirs, name)(scipy_sparse.csr_array(a), right, damp=damp)
        assert got[1:3] == wanted[1:3]
        for k, (found, expected) in enumerate(zip(got, wanted)):
            found = hd.asnumpy(found) if isinstance(found, hd.Array) else found
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9, err_msg=str(k))
    x0 = np.ones(10)
    np.testing.assert_allclose(hd.asnumpy(getattr(ours, name)(matrix, b, x0=x0)[0]),
                               getattr(theirs, name)(matrix, b, x0=x0)[0], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_triangular(lower, unit, dtype):
    generator = np.random.default_rng(2)
    matrix = generator.standard_normal((N, N)) * (generator.random((N, N)) < 0.3)
    matrix = (np.tril(matrix, -1) + 3 * np.eye(N)).astype(dtype)
    matrix = matrix if lower else matrix.T
    full = matrix - 2 * np.eye(N) if unit else matrix
    for b in (generator.standard_normal(N), generator.standard_normal((N, 2))):
        x = ours.spsolve_triangular(sparse.csr_array(matrix), b, lower=lower, unit_diagonal=unit)
        np.testing.assert_allclose(full @ hd.asnumpy(x), b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("ord", [None, "fro", 0, 1, -1, 2, 3, np.inf, -np.inf])
def test_norms(ord, axis):
    matrix = systems("float64")[1]
    if (axis is None and ord in (0, 3)) or (axis is not None and ord in ("fro", -1)):
        return
    got = ours.norm(sparse.csr_array(matrix), ord, axis)
    np.testing.assert_allclose(hd.asnumpy(got), theirs.norm(scipy_sparse.csr_array(matrix), ord, axis))


def test_operators():
    matrix = systems("complex128")[1]
    a, b = ours.aslinearoperator(sparse.csr_array(matrix)), ours.aslinearoperator(hd.asarray(matrix))
    x = np.arange(N) + 1j
    for one, right in ((a, matrix), (b, matrix), (a.H, matrix.conj().T), (a.T, matrix.T),
                       (a * 2, 2 * matrix), (a + b, 2 * matrix), (a @ b, matrix @ matrix),
                       (-a, -matrix), (a - b, 0 * matrix)):
        np.testing.assert_allclose(hd.asnumpy(one @ x), right @ x, rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(hd.asnumpy(one.rmatvec(x)), right.conj().T @ x, rtol=1e-12, atol=1e-9)
        assert one.shape == (N, N)
    np.testing.assert_allclose(hd.asnumpy(a.matmat(np.ones((N, 2)))), matrix @ np.ones((N, 2)))
    with pytest.raises(ValueError, match="dimension mismatch"):
        a.matvec(np.ones(3))
    with pytest.raises(TypeError, match="takes a matrix"):
        ours.aslinearoperator("matrix")
    with pytest.raises(NotImplementedError):
        ours.LinearOperator((2, 2), lambda x: x).rmatvec(np.ones(2))


@pytest.mark.parametrize("density", [0.0, 0.004, 0.01, 0.1])
def test_components(density):
    graph = scipy_sparse.random_array((150, 150), density=density, rng=np.random.default_rng(4)).tocsr()
    for directed in (True, False):
        count, labels = sparse.csgraph.connected_components(graph, directed=directed, connection="weak")
        wanted, expected = graphs.connected_components(graph, directed=directed, connection="weak")
        assert count == wanted and labels.dtype == hd.int32
        np.testing.assert_array_equal(hd.asnumpy(labels), expected)
    assert sparse.csgraph.connected_components(graph, return_labels=False) == wanted


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("symmetrized", [False, True])
@pytest.mark.parametrize("use_out_degree", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex128"])
def test_laplacian(normed, symmetrized, use_out_degree, dtype):
    rng = np.random.default_rng(6)
    graph = scipy_sparse.random_array((30, 30), density=0.1, rng=rng).tocsr() * 9
    graph.data = np.ceil(graph.data)
    graph = graph.astype(dtype)
    options = {"normed": normed, "symmetrized": symmetrized, "use_out_degree": use_out_degree}
    for given in (graph.tocoo(), graph.toarray(), scipy_sparse.csr_matrix(graph)):
        expected, wanted = graphs.laplacian(given.copy(), return_diag=True, **options)
        expected = expected if isinstance(expected, np.ndarray) else expected.toarray()
        ours, degrees = sparse.csgraph.laplacian(given, return_diag=True, **options)
        is_dense = isinstance(given, np.ndarray)
        assert isinstance(ours, hd.Array) == is_dense and str(ours.dtype) == str(expected.dtype)
        tolerance = 1e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(hd.asnumpy(ours if is_dense else ours.toarray()), expected, atol=tolerance)
        np.testing.assert_allclose(hd.asnumpy(degrees), wanted, rtol=tolerance)
        v = rng.random((30, 2)).astype(expected.dtype)
        for form in ("function", "lo"):
            made = sparse.csgraph.laplacian(given, form=form, **options)
            found = made(hd.asarray(v)) if form == "function" else made @ hd.asarray(v)
            np.testing.assert_allclose(hd.asnumpy(found), expected @ v, atol=60 * tolerance)


def test_laplacians_of_bool_empty_and_traced_graphs():
    edges = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    for given in (hd.asarray(edges == 1), sparse.csr_array(edges == 1)):
        for normed in (False, True):
            made = sparse.csgraph.laplacian(given, normed=normed)
            made = made if isinstance(made, hd.Array) else made.toarray()
            assert made.dtype == hd.float64
            np.testing.assert_allclose(made.get(), graphs.laplacian(edges * 1.0, normed=normed))
    assert sparse.csgraph.laplacian(hd.zeros((0, 0))).shape == (0, 0)
    assert sparse.csgraph.laplacian(sparse.csr_array((0, 0))).shape == (0, 0)
    jitted = hd.jit(lambda a: sparse.csgraph.laplacian(a).toarray())
    np.testing.assert_allclose(jitted(sparse.csr_array(edges * 2.0)).get(), graphs.laplacian(edges * 2.0))
    jitted = hd.jit(lambda a: sparse.csgraph.laplacian(a, normed=True))
    np.testing.assert_allclose(hd.asnumpy(jitted(hd.ones((3, 3)))), graphs.laplacian(np.ones((3, 3)), normed=True))


def test_laplacians_that_are_refused():
    with pytest.raises(ValueError, match="must be square"):
        sparse.csgraph.laplacian(hd.ones((2, 3)))
    with pytest.raises(ValueError, match="form must be"):
        sparse.csgraph.laplacian(hd.ones((2, 2)), form="matrix")


@pytest.mark.parametrize("density", [0.0, 0.004, 0.01, 0.1])
def test_strong_components(density):
    graph = scipy_sparse.random_array((150, 150), density=density, rng=np.random.default_rng(5)).tocsr()
    wanted, expected = graphs.connected_components(graph, connection="strong")
    edges = graph.tocoo()
    for given in (graph, sparse.csr_array(graph), sparse.csc_array(graph)):
        count, labels = sparse.csgraph.connected_components(given, connection="strong")
        assert count == wanted and labels.dtype == hd.int32
        labels = hd.asnumpy(labels)
        # The same components. Their order differs between versions of SciPy; edges go to lower numbers.
        assert set(zip(labels, expected)) == set(zip(range(count), expected[np.unique(labels, return_index=True)[1]]))
        assert (labels[edges.row] >= labels[edges.col]).all()
    # Without directions all components are weak.
    count, _ = sparse.csgraph.connected_components(graph, directed=False, connection="strong")
    assert count == graphs.connected_components(graph, directed=False)[0]


def test_strong_components_of_chains():
    # As deep as there are nodes; nothing recurses.
    n = 20000
    chain = sparse.diags_array([1.0], offsets=[1], shape=(n, n)).tocsr()
    circle = chain + sparse.csr_array(([1.0], ([n - 1], [0])), shape=(n, n))
    assert sparse.csgraph.connected_components(chain, connection="strong", return_labels=False) == n
    assert sparse.csgraph.connected_components(circle, connection="strong", return_labels=False) == 1
    with pytest.raises(hd.TraceError):
        hd.jit(lambda a: sparse.csgraph.connected_components(a, connection="strong")[1])(chain)


@pytest.mark.parametrize("function, error", [
    (lambda a: ours.cg(a[:2], hd.ones(2)), ValueError), (lambda a: ours.cg(a, hd.ones(3)), ValueError),
    (lambda a: ours.cg(a, hd.ones(4), atol=-1), ValueError),
    (lambda a: ours.gmres(a, hd.ones(4), callback_type="y"), ValueError),
    (lambda a: ours.cg(a, hd.ones(4), M=np.eye(3)), ValueError),
    (lambda a: ours.cg(a, hd.ones(4), x0=np.ones(3)), ValueError),
    (lambda a: ours.lsqr(a, hd.ones(3)), ValueError), (lambda a: ours.norm(np.eye(3)), TypeError),
    (lambda a: ours.norm(a, 5), ValueError), (lambda a: ours.norm(a, axis=4), ValueError),
    (lambda a: ours.norm(a, -2), NotImplementedError),
    (lambda a: ours.spsolve_triangular(a * 0, hd.ones(4)), hd.LinAlgError),
    (lambda a: ours.spsolve_triangular(a + sparse.csr_array(np.eye(4, k=1)), hd.ones(4)), ValueError),
    (lambda a: ours.minres(a, hd.ones(4), M=-np.eye(4)), ValueError),
    (lambda a: sparse.csgraph.connected_components(a[:2]), ValueError),
    (lambda a: sparse.csgraph.connected_components(a, connection="loose"), ValueError)])
def test_failing_input(function, error):
    with pytest.raises(error):
        function(sparse.csr_array(np.eye(4)))
