"""heddle.sparse.linalg.lgmres and gcrotmk, against SciPy."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import scipy_sparse, sparse

theirs = pytest.importorskip("scipy.sparse.linalg")
ours = sparse.linalg
N = 60


def system(dtype="float64"):
    """A matrix that is not symmetric, for which short cycles of gmres take long."""
    base = np.diag(np.linspace(1, 50, N)) + np.diag(np.full(N - 1, 1.5), 1)
    if np.dtype(dtype).kind == "c":
        base = base * (1 + 0.2j)
    return base.astype(dtype), np.random.default_rng(3).standard_normal(N).astype(dtype)


SMALL = {"lgmres": {"inner_m": 8, "outer_k": 2}, "gcrotmk": {"m": 6, "k": 3}}


@pytest.mark.parametrize("name", list(SMALL))
def test_solutions_and_cycles(name):
    """As many cycles as SciPy's, up to rounding."""
    dtype, rtol = "complex128", 1e-9
    matrix, b = system(dtype)
    counts = []
    for module, form in ((ours, sparse), (theirs, scipy_sparse)):
        seen = []
        x, info = getattr(module, name)(form.csr_array(matrix), b, rtol=rtol, callback=seen.append, **SMALL[name])
        assert info == 0
        assert np.linalg.norm(matrix @ np.asarray(x) - b) <= 1.01 * rtol * np.linalg.norm(b)
        counts.append(len(seen))
        assert x.dtype.name == dtype and x.shape == (N,)
    assert counts[1] > 5 and abs(counts[0] - counts[1]) <= 0.2 * counts[1] + 1


@pytest.mark.parametrize("name", list(SMALL))
def test_options(name):
    matrix, b = system()
    solve, right = getattr(ours, name), getattr(theirs, name)
    start = np.linspace(0, 1, N)
    for options in ({"maxiter": 1}, {"maxiter": 3, "x0": start}, {"maxiter": 1, "M": np.diag(1 / np.linspace(1, 60, N))}):
        x, info = solve(hd.asarray(matrix), b, rtol=1e-12, **options, **SMALL[name])
        wanted, status = right(matrix, b, rtol=1e-12, **options, **SMALL[name])
        assert info == status
        np.testing.assert_allclose(hd.asnumpy(x), wanted, rtol=1e-6, atol=1e-8)
    x, info = solve(hd.asarray(matrix), np.zeros(N), x0=start)
    assert info == 0 and not hd.any(x)
    x, info = solve([[4]], [2])
    assert info == 0 and x.dtype == hd.float64 and x.tolist() == [0.5]


@pytest.mark.parametrize("name", list(SMALL))
def test_inside_jit(name):
    matrix, b = system()
    solve = hd.jit(lambda a, b: getattr(ours, name)(a, b, rtol=1e-5, **SMALL[name]))
    x, info = solve(sparse.csr_array(matrix.astype("float32")), hd.asarray(b.astype("float32")))
    assert int(info) == 0
    assert x.dtype == hd.float32
    np.testing.assert_allclose(hd.asnumpy(x), np.linalg.solve(matrix, b), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("prepend", [False, True])
def test_vectors_of_lgmres_serve_similar_systems(prepend):
    matrix, b = system()
    options = {"rtol": 1e-8, "inner_m": 8, "outer_k": 4, "prepend_outer_v": prepend}
    kept = []
    x, _ = ours.lgmres(hd.asarray(matrix), b, outer_v=kept, **options)
    assert len(kept) == 4
    for v, product in kept:
        np.testing.assert_allclose(matrix @ hd.asnumpy(v), hd.asnumpy(product), rtol=1e-9, atol=1e-12)
    # The last change of x leads back at once.
    near = x - 0.25 * kept[-1][0]
    again, info = ours.lgmres(hd.asarray(matrix), b, x0=near, outer_v=kept, maxiter=1, **options)
    assert info == 0
    np.testing.assert_allclose(hd.asnumpy(again), hd.asnumpy(x), rtol=1e-5, atol=1e-6)
    ours.lgmres(hd.asarray(matrix), b, outer_v=kept, store_outer_Av=False, **options)
    assert all(product is None for _, product in kept)


def test_pairs_of_gcrotmk_serve_similar_systems():
    matrix, b = system()
    options = {"rtol": 1e-8, "m": 8, "k": 4}
    kept, counts = [], []
    for right in (b, b + 1e-3):
        seen = []
        x, info = ours.gcrotmk(hd.asarray(matrix), right, CU=kept, callback=seen.append, **options)
        assert info == 0 and len(kept) == 4
        np.testing.assert_allclose(matrix @ hd.asnumpy(x), right, rtol=1e-6, atol=1e-6)
        counts.append(len(seen))
        for c, u in kept:
            np.testing.assert_allclose(matrix @ hd.asnumpy(u), hd.asnumpy(c), rtol=1e-6, atol=1e-9)
    assert counts[1] <= counts[0]
    ours.gcrotmk(hd.asarray(matrix), b, CU=kept, discard_C=True, **options)
    assert all(c is None for c, _ in kept)
    x, info = ours.gcrotmk(hd.asarray(matrix), b, CU=kept + kept[-1:], **options)  # c is made, also of equal ones
    assert info == 0
    np.testing.assert_allclose(matrix @ hd.asnumpy(x), b, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gcrotmk_drops_the_smallest(dtype):
    """As many cycles as SciPy's, with spaces that are as useful for a similar system."""
    matrix, b = system(dtype)
    for options in ({"m": 6, "k": 3}, {"m": 4, "k": 1}, {"m": 5, "k": 4, "M": np.diag(1 / np.diag(matrix))}):
        counts = []
        for module in (ours, theirs):
            seen, kept = [], []
            for right in (b, b + 0.01):
                x, info = module.gcrotmk(matrix, right, rtol=1e-9, truncate="smallest", CU=kept,
                                         callback=seen.append, **options)
                assert info == 0
                assert np.linalg.norm(matrix @ np.asarray(x) - right) <= 1.01e-9 * np.linalg.norm(right)
            counts.append(len(seen))
            if module is ours:
                for c, u in kept:
                    np.testing.assert_allclose(matrix @ hd.asnumpy(u), hd.asnumpy(c), rtol=1e-6, atol=1e-9)
                rows = np.stack([hd.asnumpy(c) for c, _ in kept])
                np.testing.assert_allclose(rows @ rows.conj().T, np.eye(options["k"]), atol=1e-10)
        assert abs(counts[0] - counts[1]) <= 0.2 * counts[1] + 1, counts


def test_singular_systems_end():
    matrix = np.diag([1.0, 2, 0])
    for name in SMALL:
        x, info = getattr(ours, name)(hd.asarray(matrix), [1.0, 2, 0])
        assert info == 0
        np.testing.assert_allclose(hd.asnumpy(x), [1, 1, 0], atol=1e-9)
        x, info = getattr(ours, name)(hd.asarray(matrix), [1.0, 2, 3], maxiter=50)
        assert info == 50
        np.testing.assert_allclose(hd.asnumpy(x)[:2], [1, 1], atol=1e-9)


@pytest.mark.parametrize("bad", [
    lambda a: ours.lgmres(a, hd.ones(4), inner_m=0), lambda a: ours.lgmres(a, hd.ones(4), outer_k=-1),
    lambda a: ours.lgmres(a, hd.ones(5)), lambda a: ours.gcrotmk(a, hd.ones(4), m=0),
    lambda a: ours.gcrotmk(a, hd.ones(4), k=-1), lambda a: ours.gcrotmk(a, hd.ones(4), truncate="newest"),
    lambda a: ours.gcrotmk(a, hd.ones(4), truncate=None),
    lambda a: ours.gcrotmk(a, hd.ones(4), atol=-1), lambda a: ours.gcrotmk(a[:2], hd.ones(2))])
def test_bad_input(bad):
    with pytest.raises(ValueError):
        bad(hd.eye(4))

