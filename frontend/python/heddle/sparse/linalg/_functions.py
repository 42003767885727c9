"""The inverse, the exponential and powers of sparse matrices."""

import math
import operator

import heddle as hd
from heddle.sparse import _inputs
from heddle.sparse._base import CLASSES, as_sparse, issparse
from heddle.sparse._construct import eye_array
from heddle.sparse.linalg._factors import solve_matrix

# The degree of Padé's approximant -> the greatest 1-norm for which it has the accuracy of double
# precision (Higham 2005, table 2.3). The last one is for matrices that are scaled.
_LIMITS = {3: 1.495585217958292e-2, 5: 2.539398330063230e-1, 7: 9.504178996162932e-1,
           9: 2.097847961257068, 13: 4.25}


def _square(name, A):
    if not (issparse(A) or _inputs.is_scipy(A)):
        raise TypeError(f"{name}: A must be a sparse matrix, not {type(A).__name__}")
    A = as_sparse(A)
    if A._extents[0] != A._extents[1] or A.ndim != 2:
        raise ValueError(f"{name}: A must be square, not {A.shape}")
    return A


def _identity(A):
    return CLASSES["csc", A._is_array](eye_array(A.shape[0], dtype=A.dtype))


def inv(A):
    """The inverse of a sparse matrix, which is sparse, too: scipy.sparse.linalg.inv. Most inverses have
    few zeros: solve systems by spsolve or splu instead.

    The host factorises A; see spsolve, also for what is raised. TypeError for what is not sparse.

    >>> hd.sparse.linalg.inv(hd.sparse.diags([2.0, 4.0])).toarray()
    """
    A = _square("inv", A)
    dtype = A.dtype if A.dtype.kind in "fc" else hd.float64
    A = A.tocsc().astype(dtype)
    return A if A.shape[0] == 0 else solve_matrix("inv", A, _identity(A))


def _coefficients(degree):
    """Those of the numerator, by increasing powers, times a common factor."""
    return [float(math.factorial(2 * degree - j) // (math.factorial(degree - j) * math.factorial(j)))
            for j in range(degree + 1)]


def _weighted(matrices, weights):
    total = matrices[0] * weights[0]
    for matrix, weight in zip(matrices[1:], weights[1:]):
        total = total + matrix * weight
    return total


def _pade(A, degree):
    """The approximant of exp(A), by even powers of A."""
    b = _coefficients(degree)
    # Powers above 6 of the highest degree come from a product with the sixth.
    highest = min(degree // 2, 3) if degree == 13 else degree // 2
    square = A @ A
    powers = [_identity(A), square]
    while len(powers) <= highest:
        powers.append(powers[-1] @ square)
    odd, even = (_weighted(powers, b[first::2]) for first in (1, 0))
    if degree == 13:
        odd = odd + powers[3] @ _weighted(powers[1:], b[9::2])
        even = even + powers[3] @ _weighted(powers[1:], b[8::2])
    odd = A @ odd
    return solve_matrix("expm", even - odd, even + odd)


def expm(A):
    """The exponential of a sparse matrix, which is sparse, too: scipy.sparse.linalg.expm. To multiply
    with it, use expm_multiply, which does not compute it; of a dense matrix, hd.scipy.linalg.expm.

    Padé's approximants and squaring. The host waits for the norm and the numbers of elements, and
    factorises; see spsolve, also for what is raised. TypeError for what is not sparse, ValueError for a
    matrix that is not square or not finite.

    >>> hd.sparse.linalg.expm(hd.sparse.diags([0.0, 1.0])).toarray()
    """
    A = _square("expm", A)
    dtype = hd.result_type(A.dtype, hd.float32) if A.dtype.kind in "fc" else hd.float64
    A = A.tocsc().astype(dtype)
    if A.shape[0] == 0:
        return A
    norm = float(hd.max(abs(A).sum(axis=0)))
    if not math.isfinite(norm):
        raise ValueError("expm: A has elements that are not finite")
    for degree, limit in _LIMITS.items():
        if norm <= limit:
            return _pade(A, degree)
    squarings = max(0, math.ceil(math.log2(norm / _LIMITS[13])))
    made = _pade(A * 0.5**squarings, 13)
    for _ in range(squarings):
        made = made @ made
    return made


def matrix_power(A, power):
    """The power of a square sparse matrix, by repeated squaring: scipy.sparse.linalg.matrix_power.
    Raises ValueError for a negative power, TypeError for what is not sparse or not square.

    >>> hd.sparse.linalg.matrix_power(hd.sparse.diags([2.0, 3.0]), 3).toarray()
    """
    if not (issparse(A) or _inputs.is_scipy(A)) or A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise TypeError("matrix_power: A must be a square sparse matrix")
    A, power = as_sparse(A), operator.index(power)
    if power < 0:
        raise ValueError(f"matrix_power: the exponent {power} is negative")
    if power == 0:
        return CLASSES[A.format, A._is_array](eye_array(A.shape[0], dtype=A.dtype))
    result, square = None, A
    while power:
        if power & 1:
            result = square if result is None else result @ square
        power >>= 1
        square = square @ square if power else square
    return result.copy() if result is A else result
