"""A few eigenvalues of matrices that are not Hermitian: eigs."""

import heddle as hd
from heddle import _heddle
from heddle.sparse.linalg._eigen import (_basis_size, _check_converged, _checked, _floating, _inverse,
                                         _random, _square_operator)

_sparse = _heddle._sparse
WHICH = ("LM", "SM", "LR", "SR", "LI", "SI")


def eigs(A, k=6, M=None, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0,
         return_eigenvectors=True, Minv=None, OPinv=None, OPpart=None, rng=None):
    """k eigenvalues, and eigenvectors [n, k], of any square A, complex: scipy.sparse.linalg.eigs.

    A is a matrix or a LinearOperator, which is applied to complex vectors. `which` is "LM", "SM"
    (greatest and least magnitude), "LR", "SR" (real part), "LI" or "SI" (imaginary part; its size if
    A is real). With sigma it orders 1 / (w - sigma), so that "LM" finds the eigenvalues next to sigma;
    A - sigma is factorised by splu, or OPinv is its inverse. The most wanted value comes first. Other
    arguments, how copies of a value are found, and when the host waits: see eigsh. Of a value with
    fewer eigenvectors than copies, vectors are accurate to half of the digits.

    Raises ValueError for bad arguments, TypeError if k is not less than n - 1, ArpackNoConvergence, and
    NotImplementedError for M and OPpart.

    >>> w, x = hd.sparse.linalg.eigs(hd.sparse.diags([float(i) for i in range(9)]), k=2)
    """
    if M is not None or Minv is not None or OPpart is not None:
        raise NotImplementedError("eigs: M, Minv and OPpart are not there")
    if which not in WHICH:
        raise ValueError(f"eigs: which must be one of {', '.join(WHICH)}, not {which!r}")
    operator, k = _square_operator("eigs", A, k, sigma, OPinv)
    n = operator.shape[0]
    if k >= n - 1:
        raise TypeError(f"eigs: k is {k}, but must be less than {n - 1}; use hd.linalg.eig for all")
    is_real = operator.dtype.kind != "c" and not isinstance(sigma, complex)
    dtype = hd.result_type(_floating(operator.dtype), hd.complex64)
    tol, maxiter = _checked("eigs", tol, maxiter, n)
    if sigma is not None:
        operator = _inverse("eigs", A, sigma, OPinv, dtype)
    start, noise = _random("eigs", n, dtype, v0, rng)
    by_superlu = sigma is not None and OPinv is None and start.device == "cpu"
    values, vectors, converged = _sparse.ritz_pairs(
        operator.matvec, start, noise, k, which, tol, _basis_size("eigs", ncv, k, n), maxiter, False,
        is_real, by_superlu and not _sparse.is_tracing())
    values = values if sigma is None else 1 / values + sigma
    _check_converged("eigs", values, vectors, converged)
    return (values, vectors) if return_eigenvectors else values
