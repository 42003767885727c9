"""Singular values: by reconstruction, by orthogonality, and beside NumPy's where they are unique."""

import numpy as np
import pytest

import heddle as hd

DTYPES = ["float32", "float64", "complex64", "complex128"]
SHAPES = [(1, 1), (1, 5), (5, 1), (2, 2), (7, 7), (9, 4), (4, 9), (40, 33), (33, 40), (100, 3),
          (3, 5, 5), (2, 3, 6, 4), (64, 4, 6), (1, 70, 66), (2, 66, 70), (50, 8, 8), (64, 64),
          (1030, 2), (2, 2, 1030)]


def sample(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def assert_unitary_columns(x):
    eps = np.finfo(x.dtype).eps
    gram = adjoint(x) @ x
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(x.shape[-1]), gram.shape), rtol=0,
                               atol=20 * (x.shape[-2] + 1) * eps)


def assert_decomposes(a, result, full):
    u, s, vh = (np.asarray(each) for each in result)
    m, n = a.shape[-2:]
    k = min(m, n)
    assert u.shape == (*a.shape[:-1], m if full else k) and vh.shape == (*a.shape[:-2], n if full else k, n)
    assert s.shape == (*a.shape[:-2], k) and s.dtype == a.real.dtype
    assert u.dtype == vh.dtype == a.dtype
    assert (np.diff(s) <= 0).all() and (s >= 0).all()
    assert_unitary_columns(u)
    assert_unitary_columns(adjoint(vh))
    eps = np.finfo(a.dtype).eps
    scale = np.abs(s).max(initial=0)
    np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, rtol=0,
                               atol=20 * max(m, n) * eps * scale)
    np.testing.assert_allclose(s, np.linalg.svd(a, compute_uv=False), rtol=0,
                               atol=20 * max(m, n) * eps * scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_decompositions(dtype, full, shape):
    a = sample(shape, dtype)
    assert_decomposes(a, hd.linalg.svd(hd.array(a), full_matrices=full), full)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(6, 6), (8, 5), (5, 8), (3, 7, 7)])
def test_rank_deficient(dtype, shape):
    left, right = sample((*shape[:-1], 2), dtype, 1), sample((*shape[:-2], 2, shape[-1]), dtype, 2)
    a = left @ right
    for full in (False, True):
        assert_decomposes(a, hd.linalg.svd(hd.array(a), full), full)
    assert_decomposes(np.zeros(shape, dtype), hd.linalg.svd(hd.zeros(shape, dtype)), True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_values_alone(dtype, shape):
    a = sample(shape, dtype)
    expected = np.linalg.svd(a, compute_uv=False)
    tolerance = 20 * max(shape[-2:]) * np.finfo(dtype).eps * expected.max()
    for values in (hd.linalg.svdvals(hd.array(a)), hd.linalg.svd(hd.array(a), compute_uv=False)):
        values = np.asarray(values)
        assert values.dtype == expected.dtype
        np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5, 5), (1, 1), (3, 6, 6)])
def test_hermitian(dtype, shape):
    a = sample(shape, dtype)
    a = a + adjoint(a)
    assert_decomposes(a, hd.linalg.svd(hd.array(a), hermitian=True), True)
    singular = np.zeros_like(a)
    singular[..., 0, 0] = -2
    assert_decomposes(singular, hd.linalg.svd(hd.array(singular), hermitian=True), True)
    np.testing.assert_allclose(
        np.asarray(hd.linalg.svd(hd.array(a), compute_uv=False, hermitian=True)),
        np.linalg.svd(a, compute_uv=False), rtol=50 * np.finfo(dtype).eps, atol=0.01)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 3), (2, 3, 0), (0, 3, 4), (0, 0, 0)])
@pytest.mark.parametrize("full", [False, True])
def test_no_elements(shape, full):
    expected = np.linalg.svd(np.zeros(shape), full_matrices=full)
    result = hd.linalg.svd(hd.zeros(shape), full_matrices=full)
    for ours, theirs in zip(result, expected):
        assert ours.shape == theirs.shape
        np.testing.assert_array_equal(np.asarray(ours), theirs)
    assert hd.linalg.svdvals(hd.zeros(shape)).shape == expected.S.shape


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(dtype):
    a = sample((6, 9, 7), dtype)
    x = hd.array(a)
    for ours, theirs in [(x[1], a[1]), (x[::2, 1:8:2, ::-1], a[::2, 1:8:2, ::-1]),
                         (x.transpose(0, 2, 1), a.transpose(0, 2, 1)),
                         (hd.broadcast_to(x[0], (3, 9, 7)), np.broadcast_to(a[0], (3, 9, 7))),
                         (x.transpose(2, 1, 0), a.transpose(2, 1, 0))]:
        assert_decomposes(theirs, hd.linalg.svd(ours, full_matrices=False), False)
        assert_decomposes(theirs, hd.linalg.svd(ours), True)


def test_other_dtypes():
    a = np.array([[4, 2, 1], [2, 3, 0]])
    assert_decomposes(a.astype(float), hd.linalg.svd(hd.array(a)), True)
    assert hd.linalg.svdvals(hd.eye(3, dtype=bool)).dtype == hd.float64
    for dtype in ("float16", "bfloat16"):
        with pytest.raises(hd.DTypeError, match="linalg.svd"):
            hd.linalg.svd(hd.eye(3, dtype=dtype))


def test_names_and_bad_operands():
    result = hd.linalg.svd(hd.eye(2))
    assert type(result).__name__ == "SVDResult" and result._fields == ("U", "S", "Vh")
    for shape in [(3,), ()]:
        with pytest.raises(hd.ShapeError, match="linalg.svd"):
            hd.linalg.svd(hd.ones(shape))
        with pytest.raises(hd.ShapeError, match="linalg.svdvals"):
            hd.linalg.svdvals(hd.ones(shape))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (40, 40), (50, 35)])
def test_what_is_not_finite(dtype, shape):
    a = np.stack([sample(shape, dtype, seed) for seed in range(4)])
    a[1, 1, 2] = np.nan
    a[2, 0, 1] = np.inf
    with pytest.raises(hd.LinAlgError, match="matrix 1 contains NaN"):
        hd.linalg.svd(hd.array(a))
    with pytest.raises(hd.LinAlgError, match="matrix 1 contains NaN"):
        hd.linalg.svdvals(hd.array(a))
    with hd.errstate(linalg="ignore"):
        for results in (hd.linalg.svd(hd.array(a)), [hd.linalg.svdvals(hd.array(a))]):
            for result in results:
                result = np.asarray(result)
                assert np.isnan(result[1:3]).all() and np.isfinite(result[[0, 3]]).all()
    # NumPy does not raise for infinities.
    assert np.isnan(np.asarray(hd.linalg.svd(hd.array(a[2])).S)).all()
    with hd.errstate(linalg="defer"):
        values = hd.linalg.svdvals(hd.array(a))
    with pytest.raises(hd.LinAlgError, match="matrix 1"):
        np.asarray(values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_traced(dtype):
    call = hd.jit(lambda a: hd.linalg.svd(a * 2, full_matrices=False))
    a = sample((3, 6, 4), dtype)
    assert_decomposes(a * 2, call(hd.array(a)), False)
    rebuilt = hd.jit(lambda a: [(u * s[..., None, :]) @ vh for u, s, vh in [hd.linalg.svd(a, False)]][0])
    np.testing.assert_allclose(np.asarray(rebuilt(hd.array(a))), a, atol=100 * np.finfo(dtype).eps)
    a[2, 0, 0] = np.nan
    result = call(hd.array(a))
    with pytest.raises(hd.LinAlgError, match="matrix 2"):
        np.asarray(result[1])


def test_symbolic_extents():
    call = hd.jit(lambda a: hd.linalg.svd(a), dynamic=[("n", "n")])
    for n in (1, 2, 5, 40, 70):
        a = sample((n, n), "float64")
        assert_decomposes(a, call(hd.array(a)), True)
    stacks = hd.jit(lambda a: hd.linalg.svd(a, full_matrices=False), dynamic=[("b", None, None)])
    for b in (1, 3, 0, 7):
        a = sample((b, 5, 3), "float64")
        assert_decomposes(a, stacks(hd.array(a)), False)
    with pytest.raises(hd.ShapeError, match="smaller"):
        hd.jit(lambda a: hd.linalg.svdvals(a)).lower(hd.spec(("m", "n"), hd.float64))


def test_extents_that_change_at_one_line():
    for m, n in [(4, 3), (5, 3), (3, 6), (7, 7), (2, 9)]:
        a = sample((m, n), "float64")
        assert_decomposes(a, hd.linalg.svd(hd.array(a), full_matrices=False), False)


def test_along_an_axis():
    lines = sample((5, 6), "float64")

    def values(line):
        return hd.linalg.svdvals(line.reshape(2, 3))

    np.testing.assert_allclose(np.asarray(hd.apply_along_axis(values, 1, hd.array(lines))),
                               np.linalg.svd(lines.reshape(5, 2, 3), compute_uv=False), atol=1e-13)


def test_extreme_sizes():
    a = sample((5, 4), "float64")
    for scale in (1e-300, 1e300):
        values = np.asarray(hd.linalg.svdvals(hd.array(a * scale)))
        np.testing.assert_allclose(values / scale, np.linalg.svd(a, compute_uv=False), rtol=1e-12)
