"""Eigenvalues and eigenvectors: by their equation, by orthogonality, and beside NumPy's."""

import numpy as np
import pytest

import heddle as hd

DTYPES = ["float32", "float64", "complex64", "complex128"]
SHAPES = [(1, 1), (2, 2), (3, 3), (8, 8), (33, 33), (70, 70), (3, 5, 5), (2, 3, 4, 4), (100, 8, 8),
          (2, 66, 66)]


def sample(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(shape, dtype, seed=0):
    a = sample(shape, dtype, seed)
    return a + adjoint(a)


def tolerance(a):
    return 40 * a.shape[-1] * np.finfo(a.dtype).eps * max(np.abs(a).max(initial=0), 1e-300)


def assert_hermitian_eigen(a, result):
    w, v = (np.asarray(each) for each in result)
    assert w.dtype == a.real.dtype and v.dtype == a.dtype
    assert w.shape == a.shape[:-1] and v.shape == a.shape
    assert (np.diff(w) >= 0).all()
    np.testing.assert_allclose(a @ v, v * w[..., None, :], rtol=0, atol=tolerance(a))
    gram = adjoint(v) @ v
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(a.shape[-1]), gram.shape), rtol=0,
                               atol=40 * a.shape[-1] * np.finfo(a.dtype).eps)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(a), rtol=0, atol=tolerance(a))


def sorted_values(w):
    """In an order that rounding does not change for values that are apart."""
    return np.sort_complex(np.round(np.asarray(w).astype(complex), 3))


def assert_eigen(a, result):
    w, v = (np.asarray(each) for each in result)
    assert w.shape == a.shape[:-1] and v.shape == a.shape and w.dtype == v.dtype
    np.testing.assert_allclose(a @ v, v * w[..., None, :], rtol=0, atol=2 * tolerance(a))
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, rtol=0,
                               atol=40 * a.shape[-1] * np.finfo(a.dtype).eps)
    np.testing.assert_allclose(w.sum(axis=-1), np.trace(a, axis1=-2, axis2=-1), rtol=0,
                               atol=a.shape[-1] * tolerance(a))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_hermitian_matrices(dtype, shape):
    a = hermitian(shape, dtype)
    x = hd.array(a)
    for uplo in ("L", "U", "l", "u"):
        assert_hermitian_eigen(a, hd.linalg.eigh(x, UPLO=uplo))
        np.testing.assert_allclose(np.asarray(hd.linalg.eigvalsh(x, uplo)), np.linalg.eigvalsh(a),
                                   rtol=0, atol=tolerance(a))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [4, 40])
def test_one_triangle_is_read(dtype, n):
    a = hermitian((3, n, n), dtype)
    for uplo, kept in (("L", np.tril), ("U", np.triu)):
        other = np.full_like(a, np.nan)
        half = np.where(kept(np.ones((n, n), bool)), a, other)
        if np.dtype(dtype).kind == "c":
            index = np.arange(n)
            half[:, index, index] += 5j  # the diagonal counts as real
        assert_hermitian_eigen(a, hd.linalg.eigh(hd.array(half), uplo))
        np.testing.assert_allclose(np.asarray(hd.linalg.eigvalsh(hd.array(half), uplo)),
                                   np.linalg.eigvalsh(a), rtol=0, atol=tolerance(a))


@pytest.mark.parametrize("dtype", DTYPES)
def test_degenerate_hermitian_matrices(dtype):
    for a in (np.zeros((4, 4)), np.eye(5), np.ones((6, 6)), np.diag([3.0, -1, 3, 0])):
        assert_hermitian_eigen(a.astype(dtype), hd.linalg.eigh(hd.array(a.astype(dtype))))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [3, 40])
def test_hermitian_matrices_that_are_not_finite(dtype, n):
    a = np.stack([hermitian((n, n), dtype, seed) for seed in range(4)])
    a[1, 2, 0] = a[1, 0, 2] = np.nan
    a[2, 1, 0] = a[2, 0, 1] = np.inf
    w, v = hd.linalg.eigh(hd.array(a))  # as in NumPy, no error
    for result in (np.asarray(w), np.asarray(v)):
        assert np.isnan(result[1:3]).all() and np.isfinite(result[[0, 3]]).all()
    with pytest.raises(hd.LinAlgError, match="matrix 1 contains NaN or infinities"):
        hd.linalg.eigvalsh(hd.array(a))
    with hd.errstate(linalg="ignore"):
        values = np.asarray(hd.linalg.eigvalsh(hd.array(a)))
    assert np.isnan(values[1:3]).all() and np.isfinite(values[[0, 3]]).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_general_matrices(dtype, shape):
    a = sample(shape, dtype)
    result = hd.linalg.eig(hd.array(a))
    assert_eigen(a, result)
    values = hd.linalg.eigvals(hd.array(a))
    # As NumPy before 2.5, whose eigenvalues are always complex.
    real = a.dtype.kind == "f" and not np.iscomplex(np.linalg.eigvals(a)).any()
    expected = a.dtype if real else np.result_type(a.dtype, np.complex64)
    assert np.asarray(result.eigenvalues).dtype == expected
    assert np.asarray(values).dtype == expected
    if shape[-1] <= 8:
        np.testing.assert_allclose(sorted_values(values), sorted_values(np.linalg.eigvals(a)),
                                   atol=3e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_real_eigenvalues_are_real(dtype):
    for a in (np.diag([3.0, 1, 2]), np.triu(np.ones((4, 4))), hermitian((6, 6), dtype),
              np.eye(3), np.zeros((2, 2)), np.stack([np.eye(2), np.diag([1.0, 5])])):
        a = a.astype(dtype)
        w, v = hd.linalg.eig(hd.array(a))
        assert w.dtype == v.dtype == a.dtype
        assert hd.linalg.eigvals(hd.array(a)).dtype == a.dtype
        np.testing.assert_allclose(np.asarray(w), np.linalg.eig(a).eigenvalues,
                                   atol=100 * np.finfo(dtype).eps)
        assert_eigen(a, (w, v))


def test_one_pair_makes_a_stack_complex():
    a = np.stack([np.eye(2), [[0.0, 1], [-1, 0]], np.diag([1.0, 2])])
    w, v = hd.linalg.eig(hd.array(a))
    assert w.dtype == v.dtype == hd.complex128
    assert_eigen(a, (w, v))
    np.testing.assert_allclose(np.asarray(w)[1], [1j, -1j])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [3, 40])
def test_general_matrices_that_are_not_finite(dtype, n):
    a = np.stack([sample((n, n), dtype, seed) for seed in range(4)])
    a[1, 2, 0] = np.nan
    a[2, 1, 0] = np.inf
    for call in (hd.linalg.eig, hd.linalg.eigvals):
        with pytest.raises(hd.LinAlgError, match="matrix 1 contains NaN or infinities"):
            call(hd.array(a))
        with pytest.raises(hd.LinAlgError, match="the matrix contains NaN or infinities"):
            call(hd.array(a[2]))
    with hd.errstate(linalg="ignore"):
        for result in (*hd.linalg.eig(hd.array(a)), hd.linalg.eigvals(hd.array(a))):
            result = np.asarray(result)
            assert np.isnan(result[1:3]).all() and np.isfinite(result[[0, 3]]).all()


@pytest.mark.parametrize("shape", [(0, 0), (3, 0, 0), (0, 4, 4), (0, 0, 0)])
def test_no_elements(shape):
    x = hd.zeros(shape)
    for call in (hd.linalg.eigh, hd.linalg.eig):
        w, v = call(x)
        assert w.shape == shape[:-1] and v.shape == shape
        assert np.asarray(v).shape == shape
    for call in (hd.linalg.eigvalsh, hd.linalg.eigvals):
        assert np.asarray(call(x)).shape == shape[:-1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(dtype):
    a = hermitian((6, 9, 9), dtype)
    x = hd.array(a)
    for ours, theirs in [(x[1], a[1]), (x[::2, 1:8, 1:8], a[::2, 1:8, 1:8]),
                         (x.transpose(0, 2, 1), a.transpose(0, 2, 1)), (x[:, ::-1, ::-1], a[:, ::-1, ::-1]),
                         (hd.broadcast_to(x[0], (3, 9, 9)), np.broadcast_to(a[0], (3, 9, 9)))]:
        assert_hermitian_eigen(theirs, hd.linalg.eigh(ours))
    b = sample((6, 9, 9), dtype)
    y = hd.array(b)
    for ours, theirs in [(y[1], b[1]), (y[::2, 1:8, ::-1][..., :7], b[::2, 1:8, ::-1][..., :7]),
                         (y.transpose(0, 2, 1), b.transpose(0, 2, 1))]:
        assert_eigen(theirs, hd.linalg.eig(ours))


def test_operands_are_kept():
    a = hermitian((5, 5), "float64")
    x = hd.array(a)
    for call in (hd.linalg.eigh, hd.linalg.eigvalsh, hd.linalg.eig, hd.linalg.eigvals, hd.linalg.svd):
        call(x)
        np.testing.assert_array_equal(np.asarray(x), a)


def test_names_and_bad_operands():
    assert hd.linalg.eigh(hd.eye(2))._fields == ("eigenvalues", "eigenvectors")
    assert type(hd.linalg.eigh(hd.eye(2))).__name__ == "EighResult"
    assert type(hd.linalg.eig(hd.eye(2))).__name__ == "EigResult"
    for name in ("eigh", "eigvalsh", "eig", "eigvals"):
        call = getattr(hd.linalg, name)
        for shape in [(3,), (), (2, 3), (4, 3, 2)]:
            with pytest.raises(hd.ShapeError, match=f"linalg.{name}"):
                call(hd.ones(shape))
        with pytest.raises(hd.DTypeError, match=f"linalg.{name}"):
            call(hd.eye(3, dtype="float16"))
        assert np.asarray(call(hd.array([[2, 1], [1, 2]]))[0]).dtype == np.float64
    with pytest.raises(ValueError, match="UPLO"):
        hd.linalg.eigh(hd.eye(2), UPLO="X")


@pytest.mark.parametrize("dtype", DTYPES)
def test_traced(dtype):
    a = hermitian((3, 5, 5), dtype)
    assert_hermitian_eigen(a * 2, hd.jit(lambda a: hd.linalg.eigh(a * 2))(hd.array(a)))
    b = sample((3, 5, 5), dtype)
    w, v = hd.jit(lambda a: hd.linalg.eig(a + 1))(hd.array(b))
    assert w.dtype.kind == v.dtype.kind == "c"
    assert_eigen(b + np.ones((), dtype), (w, v))
    # Inside a traced function they are complex even if all are real.
    w, v = hd.jit(lambda a: hd.linalg.eig(a))(hd.array(np.diag([1.0, 2, 3]).astype(dtype)))
    assert w.dtype.kind == v.dtype.kind == "c"
    np.testing.assert_allclose(np.asarray(w), [1, 2, 3])
    assert hd.jit(lambda a: hd.linalg.eigvals(a))(hd.eye(2)).dtype == hd.complex128
    b[1, 0, 0] = np.nan
    values = hd.jit(lambda a: hd.linalg.eigvals(a))(hd.array(b))
    with pytest.raises(hd.LinAlgError, match="matrix 1"):
        np.asarray(values)


def test_symbolic_extents():
    call = hd.jit(lambda a: (*hd.linalg.eigh(a + a.mT), *hd.linalg.eig(a)), dynamic=[("b", "n", "n")])
    for shape in [(2, 3, 3), (1, 1, 1), (5, 40, 40), (0, 3, 3), (4, 8, 8)]:
        a = sample(shape, "float64")
        w, v, values, vectors = call(hd.array(a))
        assert_hermitian_eigen(a + adjoint(a), (w, v))
        assert_eigen(a, (values, vectors))


def test_functions_of_matrices():
    a = hermitian((6, 6), "float64")
    w, v = hd.linalg.eigh(hd.array(a))
    np.testing.assert_allclose(np.asarray((v * w ** 3) @ v.T), np.linalg.matrix_power(a, 3), atol=1e-9)


def test_along_an_axis():
    lines = sample((5, 9), "float64")

    def values(line):
        a = line.reshape(3, 3)
        return hd.linalg.eigvalsh(a + a.T)

    matrices = lines.reshape(5, 3, 3)
    np.testing.assert_allclose(np.asarray(hd.apply_along_axis(values, 1, hd.array(lines))),
                               np.linalg.eigvalsh(matrices + adjoint(matrices)), atol=1e-12)
