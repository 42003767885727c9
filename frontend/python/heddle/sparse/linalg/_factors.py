"""Factorisations, and systems that are solved with them."""

import warnings

import heddle as hd
from heddle import _heddle
from heddle.sparse._base import CLASSES, as_sparse, issparse
from heddle.sparse._inputs import is_scipy
from heddle.sparse.linalg._levels import TriangularSolver
from heddle.sparse.linalg._systems import ask_for_values

_sparse = _heddle._sparse
_COLUMNS_AT_ONCE = 256  # right sides that are dense at the same time, where b is sparse


class SingularMatrixError(_heddle.LinAlgError, RuntimeError):
    """A factorisation found a pivot that is 0. SciPy raises a RuntimeError."""


def _superlu(name):
    """scipy.sparse.linalg, which has SuperLU."""
    if _sparse.is_tracing():
        raise _heddle.TraceError(f"{name}: factors are computed on the host from values, which are "
                                 "unknown inside a trace; factorise outside of the jitted function or "
                                 "loop, and use the factors inside")
    try:
        import scipy.sparse.linalg
    except ImportError as error:
        raise ImportError(f"{name} needs SciPy, whose SuperLU factorises the matrix; install scipy"
                          ) from error
    return scipy.sparse.linalg


def _square(name, A):
    """A as compressed columns without duplicates, of a floating dtype that SuperLU has."""
    A = as_sparse(A)
    if A._extents[0] != A._extents[1]:
        raise ValueError(f"{name}: A must be square, not {A.shape}")
    dtype = hd.result_type(A.dtype, hd.float32) if A.dtype.kind in "fc" else hd.float64
    A = A.tocsc().astype(dtype)
    A.sum_duplicates()
    return A


def _factorised(name, A, **arguments):
    """The factors of a matrix of _square()."""
    factorise = getattr(_superlu(name), "spilu" if name == "spilu" else "splu")
    try:
        return SuperLU(factorise(A.get(), **arguments), A)
    except RuntimeError as error:
        if "singular" not in str(error):
            raise
        raise SingularMatrixError(f"{name}: A is singular, a pivot is 0") from None


class SuperLU:
    """Factors of a sparse matrix, from splu and spilu: scipy.sparse.linalg.SuperLU.

    Pr A Pc = L U. L has ones on its diagonal; Pr has ones at (perm_r[i], i), and Pc at
    (i, perm_c[i]).
    """

    def __init__(self, factor, A):
        self._factor, self._device, self.dtype = factor, A.device, A.dtype
        self._class = CLASSES["csc", A._is_array]
        self._solvers = {}
        self.shape, self.nnz = tuple(factor.shape), factor.nnz

    def _array(self, host):
        return hd.asarray(host, device=self._device)

    def _matrix(self, host):
        parts = (self._array(host.data), self._array(host.indices), self._array(host.indptr))
        return self._class(parts, shape=self.shape)

    @property
    def L(self):
        """The lower factor, as compressed columns."""
        return self._matrix(self._factor.L)

    @property
    def U(self):
        """The upper factor, as compressed columns."""
        return self._matrix(self._factor.U)

    @property
    def perm_r(self):
        """Where each row went, int32."""
        return self._array(self._factor.perm_r)

    @property
    def perm_c(self):
        """Where each column came from, int32."""
        return self._array(self._factor.perm_c)

    def solve(self, b, trans="N"):
        """Solves A x = b; A.T x = b for trans "T", and A.H x = b for "H". b is [n] or [n, k].

        On a GPU, and inside of jit and of loops, this is two loops on the device, which compute rows
        that do not need each other at once. Otherwise SuperLU solves the system on the CPU. So it
        does for cg and the other solvers, which go step by step then, and wait in each step. Raises
        ValueError for shapes that do not fit and another trans, DTypeError for a b that cannot be
        cast to the dtype of the factors.
        """
        if trans not in ("N", "T", "H"):
            raise ValueError(f"solve: trans must be 'N', 'T' or 'H', not {trans!r}")
        b = b if isinstance(b, hd.Array) else self._array(b)
        if b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            raise ValueError(f"solve: shapes of A {self.shape} and b {b.shape} are incompatible")
        if not hd.can_cast(b.dtype, self.dtype):
            raise _heddle.DTypeError(f"solve: b is {b.dtype}, which cannot be cast to {self.dtype}, the "
                                     "dtype of the factors")
        b = b.astype(self.dtype)
        if _sparse.is_tracing() and self._device == "cpu":
            ask_for_values()
        if _sparse.is_tracing() or self._device != "cpu":
            return self._solve_on_device(b, trans)
        return self._array(self._factor.solve(hd.asnumpy(b), trans))

    def _solve_on_device(self, b, trans):
        conjugate = trans == "H" and self.dtype.kind == "c"
        (before, first, second, after) = self._solver(trans != "N")
        x = hd.conj(b) if conjugate else b
        x = second.solve(first.solve(x[self._array(before)]))[self._array(after)]
        return hd.conj(x) if conjugate else x

    def _solver(self, transposed):
        """The order of the right side, two triangular systems, and the order of the result."""
        import numpy as np

        if transposed not in self._solvers:
            lower, upper = self._factor.L, self._factor.U
            rows, columns = self._factor.perm_r, self._factor.perm_c
            if transposed:
                made = (np.argsort(columns), TriangularSolver(upper.T.tocsr(), self._device),
                        TriangularSolver(lower.T.tocsr(), self._device, unit=True), rows)
            else:
                made = (np.argsort(rows), TriangularSolver(lower.tocsr(), self._device, unit=True),
                        TriangularSolver(upper.tocsr(), self._device), columns)
            self._solvers[transposed] = made
        return self._solvers[transposed]

    def __repr__(self):
        return f"<heddle.sparse.linalg.SuperLU: {self.dtype}, shape {self.shape}, {self.nnz} elements>"


def splu(A, permc_spec=None, diag_pivot_thresh=None, relax=None, panel_size=None, options=None):
    """The LU factors of a square matrix, with which `solve` solves systems: scipy.sparse.linalg.splu.

    SciPy's SuperLU computes the factors on the host; arguments are passed on to it. Integers become
    float64. Raises ValueError for a matrix that is not square, LinAlgError, which is a RuntimeError
    here, for a singular one, TraceError inside jit, and ImportError without SciPy.

    >>> hd.sparse.linalg.splu(hd.sparse.eye(3, format="csc")).solve(hd.ones(3))
    """
    return _factorised("splu", _square("splu", A), permc_spec=permc_spec,
                       diag_pivot_thresh=diag_pivot_thresh, relax=relax, panel_size=panel_size,
                       options=options)


def spilu(A, drop_tol=None, fill_factor=None, drop_rule=None, permc_spec=None, diag_pivot_thresh=None,
          relax=None, panel_size=None, options=None):
    """Incomplete LU factors, which drop small elements: scipy.sparse.linalg.spilu. The rest is as
    splu. `LinearOperator(A.shape, factors.solve)` is a preconditioner.

    >>> hd.sparse.linalg.spilu(hd.sparse.eye(3, format="csc")).solve(hd.ones(3))
    """
    return _factorised("spilu", _square("spilu", A), drop_tol=drop_tol, fill_factor=fill_factor,
                       drop_rule=drop_rule, permc_spec=permc_spec,
                       diag_pivot_thresh=diag_pivot_thresh, relax=relax, panel_size=panel_size,
                       options=options)


def factorized(A):
    """A function that solves A x = b: scipy.sparse.linalg.factorized. It is `splu(A).solve`.

    >>> hd.sparse.linalg.factorized(hd.sparse.eye(3, format="csc"))(hd.ones(3))
    """
    return _factorised("factorized", _square("factorized", A)).solve


def spsolve(A, b, permc_spec=None, use_umfpack=True):
    """Solves A x = b for a square A: scipy.sparse.linalg.spsolve. b is a vector, a matrix or a sparse
    matrix; the result is dense or sparse as b is, in the format of A.

    SciPy's SuperLU factorises A on the host; see splu, also for what is raised. For a singular A and
    a dense b the result is NaN, with SciPy's MatrixRankWarning. use_umfpack is ignored.

    >>> hd.sparse.linalg.spsolve(hd.sparse.eye(3, format="csc"), hd.ones(3))
    """
    given = as_sparse(A)
    sparse_b = issparse(b) or is_scipy(b)
    b = as_sparse(b) if sparse_b else b if isinstance(b, hd.Array) else hd.asarray(b, device=given.device)
    matrix = _square("spsolve", given)
    if b.ndim not in (1, 2) or b.shape[0] != matrix.shape[0]:
        raise ValueError(f"spsolve: shapes of A {matrix.shape} and b {b.shape} are incompatible")
    dtype = hd.result_type(matrix.dtype, b.dtype)
    matrix, b = matrix.astype(dtype, copy=False), b.astype(dtype)
    is_vector = b.ndim == 1 or b.shape[1] == 1
    if sparse_b and not is_vector:
        return _solve_sparse(_factorised("spsolve", matrix, permc_spec=permc_spec), b, given)
    b = b.toarray() if sparse_b else b
    b = b.reshape(-1) if is_vector else b
    try:
        return _factorised("spsolve", matrix, permc_spec=permc_spec).solve(b)
    except SingularMatrixError:
        warnings.warn("spsolve: A is singular, the result is NaN",
                      _superlu("spsolve").MatrixRankWarning, stacklevel=2)
        return hd.full_like(b, float("nan"))


def solve_matrix(name, A, b):
    """X of A X = B for sparse matrices; X is sparse, in the format of A."""
    return _solve_sparse(_factorised(name, A), b, A)


def _solve_sparse(factors, b, A):
    """The solutions for the columns of a sparse b, without zeros."""
    from heddle.sparse._construct import hstack

    b = b.tocsc()
    count = b.shape[1]
    columns = CLASSES["csc", A._is_array]
    parts = [columns(factors.solve(b[:, j:min(j + _COLUMNS_AT_ONCE, count)].toarray()))
             for j in range(0, count, _COLUMNS_AT_ONCE)]
    return hstack(parts).asformat(A.format if A.format in ("csr", "csc") else "csc")
