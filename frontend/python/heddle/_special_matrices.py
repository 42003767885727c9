"""Special matrices, with the names of scipy.linalg and cupyx.scipy.linalg."""

import math

from heddle import _heddle
from heddle._heddle import kron, tri, tril, triu

__all__ = ["block_diag", "circulant", "companion", "convolution_matrix", "dft", "fiedler",
           "fiedler_companion", "hadamard",
           "hankel", "helmert", "hilbert", "invhilbert", "khatri_rao", "kron", "leslie", "toeplitz",
           "tri", "tril", "triu"]


def _vector(name, x):
    x = _heddle.asarray(x)
    if x.ndim != 1:
        raise ValueError(f"{name}: takes a vector, not an array with {x.ndim} axes")
    return x


def block_diag(*arrs):
    """A matrix with the given matrices on its diagonal and zeros elsewhere: scipy.linalg.block_diag.
    Vectors are rows. Raises ValueError for arrays with more than two axes."""
    blocks = [_heddle.atleast_2d(each) for each in (arrs if arrs else (_heddle.zeros((1, 0)),))]
    for number, block in enumerate(blocks):
        if block.ndim > 2:
            raise ValueError(f"block_diag: array {number} has {block.ndim} axes; it must be a matrix")
    dtype = _heddle.result_type(*blocks)
    columns = sum(block.shape[1] for block in blocks)
    rows, before = [], 0
    for block in blocks:
        after = columns - before - block.shape[1]
        rows.append(_heddle.pad(block.astype(dtype), ((0, 0), (before, after))))
        before += block.shape[1]
    return _heddle.concatenate(rows, axis=0)


def _differences(rows, columns):
    """Row minus column, for each element of a matrix."""
    return _heddle.arange(rows)[:, None] - _heddle.arange(columns)[None, :]


def toeplitz(c, r=None):
    """A matrix with constant diagonals, first column c and first row r: scipy.linalg.toeplitz. Without
    r it is Hermitian. The first element of r is ignored."""
    c = _heddle.ravel(_heddle.asarray(c))
    r = _heddle.conj(c) if r is None else _heddle.ravel(_heddle.asarray(r))
    dtype = _heddle.result_type(c, r)
    # All diagonals, from the last element of r to the last of c.
    diagonals = _heddle.concatenate([_heddle.flip(r[1:]).astype(dtype), c.astype(dtype)])
    places = _differences(c.shape[0], r.shape[0]) + max(r.shape[0] - 1, 0)
    return _heddle.take(diagonals, places) if places.size else _heddle.zeros(places.shape, dtype)


def circulant(c):
    """A matrix whose columns are c, each rolled down by one more place: scipy.linalg.circulant."""
    c = _vector("circulant", c)
    places = _differences(c.shape[0], c.shape[0]) % max(c.shape[0], 1)
    return _heddle.take(c, places) if places.size else _heddle.zeros(places.shape, c.dtype)


def hankel(c, r=None):
    """A matrix with constant anti-diagonals, first column c and last row r: scipy.linalg.hankel.
    Without r it is 0. The first element of r is ignored."""
    c = _heddle.ravel(_heddle.asarray(c))
    r = _heddle.zeros_like(c) if r is None else _heddle.ravel(_heddle.asarray(r))
    dtype = _heddle.result_type(c, r)
    values = _heddle.concatenate([c.astype(dtype), r[1:].astype(dtype)])
    places = _heddle.arange(c.shape[0])[:, None] + _heddle.arange(r.shape[0])[None, :]
    return _heddle.take(values, places) if places.size else _heddle.zeros(places.shape, dtype)


def khatri_rao(a, b):
    """The column-wise Kronecker product of two matrices: scipy.linalg.khatri_rao. Raises ValueError
    unless both are matrices with as many columns."""
    a, b = _heddle.asarray(a), _heddle.asarray(b)
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("khatri_rao: both operands must be matrices")
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"khatri_rao: the operands have {a.shape[1]} and {b.shape[1]} columns; they must "
                         "have as many")
    return (a[:, None, :] * b[None, :, :]).reshape((a.shape[0] * b.shape[0], a.shape[1]))


def hadamard(n, dtype=int):
    """A matrix of 1 and -1 whose rows are orthogonal: scipy.linalg.hadamard. Raises ValueError unless n
    is a power of 2."""
    if n < 1 or n & (n - 1):
        raise ValueError(f"hadamard: n is {n}; it must be a power of 2")
    indices = _heddle.arange(n)
    # The sign is the parity of the bits that row and column have in common.
    bits = _heddle.bitwise_count(indices[:, None] & indices[None, :]).astype(_heddle.int64)
    return (1 - 2 * (bits % 2)).astype(_heddle.int64 if dtype is int else dtype)


def hilbert(n):
    """The n by n matrix of 1 / (i + j + 1): scipy.linalg.hilbert."""
    return 1.0 / (_heddle.arange(n)[:, None] + _heddle.arange(n)[None, :] + 1)


def invhilbert(n, exact=False):
    """The inverse of hilbert(n): scipy.linalg.invhilbert, as float64, or with `exact` as int64. Raises
    ValueError for exact results that int64 does not hold (n > 14)."""
    if exact and n > 14:
        raise ValueError(f"invhilbert: int64 does not hold the elements for n = {n}")

    def element(i, j):
        s = i + j
        return ((-1) ** s * (s + 1) * math.comb(n + i, n - j - 1) * math.comb(n + j, n - i - 1) *
                math.comb(s, i) ** 2)

    rows = [[element(i, j) if exact else float(element(i, j)) for j in range(n)] for i in range(n)]
    return _heddle.asarray(rows, dtype=_heddle.int64 if exact else _heddle.float64).reshape((n, n))


def _below_row(row, diagonal):
    """A square matrix with this first row, and the given elements below the diagonal."""
    return _heddle.concatenate([row[None, :], _heddle.pad(_heddle.diag(diagonal), ((0, 0), (0, 1)))])


def companion(a):
    """The companion matrix of a polynomial, whose coefficients start with the highest power:
    scipy.linalg.companion. Raises ValueError unless there are two coefficients."""
    a = _vector("companion", a)
    if a.shape[0] < 2:
        raise ValueError("companion: takes at least two coefficients")
    row = -a[1:] / a[0]
    return _below_row(row, _heddle.ones(a.shape[0] - 2, row.dtype))


def leslie(f, s):
    """The Leslie matrix of fecundities f and survival rates s: scipy.linalg.leslie. Raises ValueError
    unless s has one element less than f."""
    f, s = _vector("leslie", f), _vector("leslie", s)
    if f.shape[0] != s.shape[0] + 1:
        raise ValueError(f"leslie: f has {f.shape[0]} elements, s has {s.shape[0]}; it must have one less")
    if s.shape[0] == 0:
        raise ValueError("leslie: s must have at least one element")
    dtype = _heddle.result_type(f, s)
    return _below_row(f.astype(dtype), s.astype(dtype))


def fiedler(a):
    """The matrix of |a[i] - a[j]|: scipy.linalg.fiedler."""
    a = _vector("fiedler", a)
    return _heddle.abs(a[:, None] - a[None, :])


def fiedler_companion(a):
    """Fiedler's companion matrix of a polynomial, which has five diagonals; the coefficients start
    with the highest power: scipy.linalg.fiedler_companion. Raises ValueError."""
    a = _vector("fiedler_companion", a)
    n = a.shape[0] - 1
    if n < 1:
        return _heddle.zeros(0, a.dtype)
    a = a / a[0]
    if n == 1:
        return -a[1:][None, :]
    row, column = _heddle.arange(n)[:, None], _heddle.arange(n)[None, :]
    even, first = row % 2 == 0, (row == 0) & (column == 0)
    coefficient = -_heddle.take(a, _heddle.minimum(_heddle.where(column > row, row + 2, row + 1), n))
    is_coefficient = (even & (_heddle.abs(column - row) == 1)) | first
    is_one = (even & (column == row + 2)) | (~even & (column == row - 2)) | ((row == 1) & (column == 0))
    return _heddle.where(is_coefficient, coefficient, is_one.astype(a.dtype))


def dft(n, scale=None):
    """The matrix of the discrete Fourier transform: scipy.linalg.dft. scale 'sqrtn' divides by sqrt(n),
    'n' by n."""
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"dft: scale must be None, 'sqrtn' or 'n', not {scale!r}")
    places = _heddle.arange(n)[:, None] * _heddle.arange(n)[None, :] % max(n, 1)
    angles = places * (-2 * math.pi / max(n, 1))
    matrix = _heddle.cos(angles) + 1j * _heddle.sin(angles)
    if scale is None:
        return matrix
    return matrix / (math.sqrt(n) if scale == "sqrtn" else n)


def helmert(n, full=False):
    """The Helmert matrix: scipy.linalg.helmert. Without `full`, its first row is left out."""
    row, column = _heddle.arange(n)[:, None], _heddle.arange(n)[None, :]
    inside = _heddle.where(column < row, 1.0, _heddle.where(column == row, -1.0 * row, 0.0))
    scaled = inside / _heddle.sqrt(_heddle.maximum(row * (row + 1), 1))
    first = _heddle.where(row == 0, 1.0 / math.sqrt(max(n, 1)), scaled)
    return first if full else first[1:]


def convolution_matrix(a, n, mode="full"):
    """The matrix M with M @ v = convolve(a, v, mode) for vectors v of n elements:
    scipy.linalg.convolution_matrix. Raises ValueError."""
    a = _vector("convolution_matrix", a)
    if n <= 0 or a.shape[0] == 0:
        raise ValueError("convolution_matrix: n and the size of a must be positive")
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"convolution_matrix: mode must be 'full', 'valid' or 'same', not {mode!r}")
    full = toeplitz(_heddle.pad(a, (0, n - 1)), _heddle.pad(a[:1], (0, n - 1)))
    smaller = min(n, a.shape[0])
    if mode == "full":
        return full
    if mode == "valid":
        return full[smaller - 1:full.shape[0] - smaller + 1]
    start = (smaller - 1) // 2
    return full[start:start + max(n, a.shape[0])]
