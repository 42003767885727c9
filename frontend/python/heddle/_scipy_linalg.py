"""Functions of scipy.linalg, with SciPy's names and meanings: the module heddle.scipy.linalg.

Parameters that say what may be overwritten, and check_finite, are taken and ignored.
"""

import math

from heddle import _heddle, _special_matrices
from heddle._heddle import LinAlgError
from heddle._special_matrices import *  # noqa: F401,F403

__all__ = ["LinAlgError", "bandwidth", "cho_factor", "cho_solve", "det", "expm", "inv", "lu", "lu_factor", "lu_solve",
           "solve_triangular", *_special_matrices.__all__]

det = _heddle.linalg.det
inv = _heddle.linalg.inv
lu_factor = _heddle.linalg.lu_factor
solve_triangular = _heddle.linalg.solve_triangular


def _rows_of_identity(indices, columns, dtype):
    """For each index, a row with 1 in that column."""
    return (indices[..., None] == _heddle.arange(columns)).astype(dtype)


def _real_dtype(dtype):
    return _heddle.finfo(dtype).dtype if dtype.kind == "c" else dtype


def lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    """LU factors with partial pivoting of matrices [..., m, n]: scipy.linalg.lu.

    The result is (p, l, u) with a = p @ l @ u. With p_indices, p is the i32 indices with a = l[p] @ u.
    With permute_l it is (p @ l, u). Raises ShapeError, DTypeError.

    Example: p, l, u = hd.scipy.linalg.lu(a)
    """
    packed, pivots = lu_factor(a)
    m, n = packed.shape[-2:]
    k = min(m, n)
    lower = _heddle.tril(packed[..., :k], -1) + _heddle.eye(m, k, dtype=packed.dtype)
    upper = _heddle.triu(packed[..., :k, :])
    order = _heddle.linalg.permutation_of_pivots(pivots, m)
    places = _heddle.argsort(order, axis=-1).astype(_heddle.int32)
    if permute_l:
        return _heddle.take_along_axis(lower, places[..., None], axis=-2), upper
    if p_indices:
        return places, lower, upper
    return _rows_of_identity(places, m, _real_dtype(packed.dtype)), lower, upper


def bandwidth(a):
    """The greatest distances of elements that are not 0 below and above the diagonal of a matrix, as two
    integers: scipy.linalg.bandwidth. Evaluates and waits. Raises ShapeError unless a has two axes.

    Example: below, above = hd.scipy.linalg.bandwidth(a)
    """
    a = _heddle.asarray(a)
    if a.ndim != 2:
        raise _heddle.ShapeError(f"bandwidth: takes a matrix, not an array of {a.ndim} axes")
    distance = _heddle.arange(a.shape[1]) - _heddle.arange(a.shape[0])[:, None]
    distance = _heddle.where(a != 0, distance, 0)
    ends = (f(distance, initial=0) for f in (_heddle.min, _heddle.max))
    below, above = (int(each) for each in ends)
    return -below, above


def _as_columns(b, square):
    """b as matrices, and whether it was a vector."""
    b = _heddle.asarray(b)
    if b.ndim == 0:
        raise _heddle.ShapeError("b must have at least 1 dimension")
    columns = b[:, None] if b.ndim == 1 else b
    if columns.shape[-2] != square.shape[-1]:
        raise _heddle.ShapeError(f"the matrices have {square.shape[-1]} rows, b has {columns.shape[-2]}; "
                                 "they must be equal")
    return columns, b.ndim == 1


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """The solution of a x = b, given lu_factor(a): scipy.linalg.lu_solve. trans 1 solves with the
    transpose of a, 2 with the conjugate transpose. Raises ShapeError; LinAlgError for a singular a.

    Example: x = hd.scipy.linalg.lu_solve(hd.scipy.linalg.lu_factor(a), b)
    """
    packed, pivots = lu_and_piv
    packed = _heddle.asarray(packed)
    if trans not in (0, 1, 2):
        raise ValueError(f"lu_solve: trans must be 0, 1 or 2, not {trans!r}")
    columns, vector = _as_columns(b, packed)
    order = _heddle.linalg.permutation_of_pivots(pivots, 0)
    if trans == 0:
        x = _heddle.take_along_axis(columns, order[..., None], axis=-2)
        x = solve_triangular(packed, x, lower=True, unit_diagonal=True)
        x = solve_triangular(packed, x)
    else:
        x = solve_triangular(packed, columns, trans=trans)
        x = solve_triangular(packed, x, trans=trans, lower=True, unit_diagonal=True)
        places = _heddle.argsort(order, axis=-1)
        x = _heddle.take_along_axis(x, places[..., None], axis=-2)
    return x[..., 0] if vector else x


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """The Cholesky factor of positive definite matrices, as cho_solve takes it:
    scipy.linalg.cho_factor. The result is (c, lower). The other triangle of c is 0. Raises ShapeError,
    DTypeError, LinAlgError."""
    return _heddle.linalg.cholesky(a, upper=not lower), bool(lower)


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """The solution of a x = b, given cho_factor(a): scipy.linalg.cho_solve. Raises ShapeError.

    Example: x = hd.scipy.linalg.cho_solve(hd.scipy.linalg.cho_factor(a), b)
    """
    factor, lower = c_and_lower
    first, second = (0, 2) if lower else (2, 0)
    y = solve_triangular(factor, b, trans=first, lower=lower)
    return solve_triangular(factor, y, trans=second, lower=lower)


# Coefficients of the Pade approximant of order 13 of exp, and the largest norm for which its error is
# below eps of float64 (Higham, The scaling and squaring method for the matrix exponential revisited).
_PADE = tuple(math.factorial(26 - k) // (math.factorial(13 - k) * math.factorial(k))
              for k in range(14))
_LARGEST_NORM = 5.371920351148152
_MOST_SQUARINGS = 16


def _squarings(norms):
    """How often each matrix has to be halved. 0 for a norm that is not finite."""
    wanted = _heddle.ceil(_heddle.log2(_heddle.maximum(norms / _LARGEST_NORM, 1.0)))
    return _heddle.where(_heddle.isfinite(wanted), wanted, 0.0)


def _most_squarings(squarings):
    """Outside jit the largest number; inside, where it is not known, a bound."""
    if squarings.size == 0:
        return 0
    try:
        return int(_heddle.max(squarings))
    except _heddle.TraceError:
        return _MOST_SQUARINGS


def expm(A):
    """Exponentials of square matrices [..., n, n]: scipy.linalg.expm, by scaling, a Pade approximant
    and squaring. Outside jit it evaluates, to find how often it has to square. Inside jit it squares
    16 times, and matrices whose 1-norm is above 352000 give NaN. Raises ShapeError, DTypeError.
    """
    a = _heddle.asarray(A)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise _heddle.ShapeError(f"expm: takes square matrices, not an array of shape {a.shape}")
    if a.dtype.kind not in "fc":
        a = a.astype(_heddle.float64)
    norms = _heddle.sum(_heddle.abs(a), axis=-2).max(axis=-1) if a.shape[-1] else _heddle.zeros(a.shape[:-2])
    squarings = _squarings(norms)
    most = _most_squarings(squarings)
    n, real = a.shape[-1], _real_dtype(a.dtype)
    scale = _heddle.exp2(-squarings).astype(real)
    x = a * scale[..., None, None]
    if most == _MOST_SQUARINGS:
        x = _heddle.where((squarings > most)[..., None, None], float("nan"), x)
    identity = _heddle.eye(n, dtype=a.dtype)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    c = [float(each) / _PADE[0] for each in _PADE]
    odd = x @ (x6 @ (c[13] * x6 + c[11] * x4 + c[9] * x2) + c[7] * x6 + c[5] * x4 + c[3] * x2 +
               c[1] * identity)
    even = (x6 @ (c[12] * x6 + c[10] * x4 + c[8] * x2) + c[6] * x6 + c[4] * x4 + c[2] * x2 +
            c[0] * identity)
    result = _heddle.linalg.solve(even - odd, even + odd)
    for step in range(most):
        result = _heddle.where((squarings > step)[..., None, None], result @ result, result)
    return result
