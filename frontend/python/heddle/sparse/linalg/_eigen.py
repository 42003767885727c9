"""A few eigenvalues and singular values: eigsh, svds."""

import math
import warnings

import heddle as hd
from heddle import _heddle
from heddle.sparse import _inputs
from heddle.sparse._base import as_sparse, issparse
from heddle.sparse._construct import eye_array
from heddle.sparse.linalg._factors import splu
from heddle.sparse.linalg._operators import LinearOperator, aslinearoperator, prepare_adjoint

_sparse = _heddle._sparse
WHICH = ("LM", "SM", "LA", "SA", "BE")


class ArpackError(RuntimeError):
    """An eigenvalue iteration failed: scipy.sparse.linalg.ArpackError."""


class ArpackNoConvergence(ArpackError):
    """Not all eigenvalues converged: scipy.sparse.linalg.ArpackNoConvergence. `eigenvalues` and
    `eigenvectors` are those that did."""

    def __init__(self, message, eigenvalues, eigenvectors):
        super().__init__(message)
        self.eigenvalues, self.eigenvectors = eigenvalues, eigenvectors


def _floating(dtype):
    """The dtype in which an operator's eigenvalues are computed."""
    return hd.result_type(dtype, hd.float32) if dtype.kind in "fc" else hd.float64


def _real(dtype):
    return hd.finfo(dtype).dtype


def _random(name, n, dtype, v0, rng):
    """The first vector, and a real random one."""
    if not hasattr(rng, "standard_normal"):
        rng = hd.random.default_rng(0 if rng is None else rng)
    noise = hd.asarray(rng.standard_normal(n)).astype(_real(dtype))
    if v0 is None:
        return noise.astype(dtype), noise
    v0 = hd.asarray(v0)
    if v0.shape not in ((n,), (n, 1)):
        raise ValueError(f"{name}: v0 has the shape {v0.shape}, but must have {n} elements")
    if v0.dtype.kind == "c" and dtype.kind != "c":
        raise _heddle.DTypeError(f"{name}: v0 is {v0.dtype}, but the matrix is real")
    return v0.reshape(n).astype(dtype), noise


def _basis_size(name, ncv, k, n):
    ncv = min(n, max(2 * k + 1, 20)) if ncv is None else int(ncv)
    if not k < ncv <= n:
        raise ValueError(f"{name}: ncv must be greater than k, which is {k}, and at most {n}; it is {ncv}")
    return ncv


def _checked(name, tol, maxiter, n):
    if not 0 <= tol < math.inf:
        raise ValueError(f"{name}: tol is {tol!r}, but must be a number that is not negative")
    maxiter = 10 * n if maxiter is None else int(maxiter)
    if maxiter <= 0:
        raise ValueError(f"{name}: maxiter must be positive, not {maxiter}")
    return float(tol), maxiter


def _is_dense(A):
    return _inputs.is_dense(A) and not hasattr(A, "matvec")


def _square_operator(name, A, k, sigma, OPinv):
    """A as an operator, which must be square, and k."""
    operator, k = aslinearoperator(A), int(k)
    if operator.shape[0] != operator.shape[1]:
        raise ValueError(f"{name}: A must be square, not {operator.shape}")
    if k <= 0:
        raise ValueError(f"{name}: k must be greater than 0, not {k}")
    if OPinv is not None and sigma is None:
        raise ValueError(f"{name}: OPinv needs sigma")
    return operator, k


def _inverse(name, A, sigma, OPinv, dtype, permc_spec=None):
    """The inverse of A - sigma, as an operator."""
    if OPinv is not None:
        return aslinearoperator(OPinv)
    if not (issparse(A) or _inputs.is_scipy(A) or _is_dense(A)):
        raise ValueError(f"{name}: sigma needs a matrix to factorise; give OPinv for an operator")
    shifted = as_sparse(A).tocsc().astype(dtype) - sigma * eye_array(A.shape[0], dtype=dtype)
    return LinearOperator(shifted.shape, splu(shifted, permc_spec=permc_spec).solve, dtype=dtype)


def _order(values, which, with_vectors):
    """SciPy's order of eigenvalues."""
    if with_vectors or which in ("LA", "BE"):
        return hd.argsort(values)
    size = hd.abs(values)
    return hd.argsort(-size if which == "SM" else size)


def _dense(A, with_vectors):
    warnings.warn("eigsh: k is not less than the extent of A; all eigenvalues are computed",
                  RuntimeWarning, stacklevel=3)
    values, vectors = hd.linalg.eigh(hd.asarray(A))
    return (values, vectors) if with_vectors else values


def eigsh(A, k=6, M=None, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0,
          return_eigenvectors=True, Minv=None, OPinv=None, mode="normal", rng=None):
    """k eigenvalues, and eigenvectors [n, k], of a real symmetric or complex Hermitian A:
    scipy.sparse.linalg.eigsh.

    A is a matrix or a LinearOperator. `which` is "LM", "SM" (greatest and least magnitude), "LA", "SA"
    (greatest and least) or "BE" (from both ends). With sigma it orders 1 / (w - sigma), so that "LM"
    finds the eigenvalues next to sigma; A - sigma is factorised by splu, or OPinv is its inverse. ncv
    is the number of vectors in the basis, maxiter that of restarts from one vector, tol the relative
    accuracy, 0 for the dtype's. v0 is the first vector; by default it is random, the same in each run.
    An eigenvalue that occurs several times is found as often: once all have converged, iterations from
    random vectors look for others.

    The iteration is one loop on the device, which waits once, at the end; with sigma on a CPU it waits
    in each step. Inside jit a result that did not converge is returned as it is. Raises ValueError for
    bad arguments, TypeError if k is not less than the extent of A, ArpackNoConvergence, and
    NotImplementedError for M and other modes.

    >>> w, x = hd.sparse.linalg.eigsh(hd.sparse.diags([float(i) for i in range(9)]), k=2)
    """
    if M is not None or Minv is not None or mode != "normal":
        raise NotImplementedError("eigsh: M, Minv and modes other than 'normal' are not there")
    if which not in WHICH:
        raise ValueError(f"eigsh: which must be one of {', '.join(WHICH)}, not {which!r}")
    operator, k = _square_operator("eigsh", A, k, sigma, OPinv)
    n = operator.shape[0]
    if k >= n:
        if not _is_dense(A):
            raise TypeError(f"eigsh: k is {k}, but must be less than {n}; use hd.linalg.eigh for all")
        return _dense(A, return_eigenvectors)
    dtype = _floating(operator.dtype)
    tol, maxiter = _checked("eigsh", tol, maxiter, n)
    if sigma is not None:
        # The order of elimination is the one for a symmetric structure.
        operator = _inverse("eigsh", A, sigma, OPinv, dtype, "MMD_AT_PLUS_A")
    start, noise = _random("eigsh", n, dtype, v0, rng)
    # On a CPU SuperLU solves faster than a recorded loop does, by more than recording saves.
    by_superlu = sigma is not None and OPinv is None and start.device == "cpu"
    values, vectors, converged = _sparse.ritz_pairs(
        operator.matvec, start, noise, k, which, tol, _basis_size("eigsh", ncv, k, n), maxiter, True,
        False, by_superlu and not _sparse.is_tracing())
    values = values if sigma is None else 1 / values + sigma
    _check_converged("eigsh", values, vectors, converged)
    order = _order(values, which, return_eigenvectors)
    return (values[order], vectors[:, order]) if return_eigenvectors else values[order]


def _check_converged(name, values, vectors, converged):
    if _sparse.is_tracing():
        return
    flags = converged.tolist()
    if not all(flags):
        done = hd.asarray([i for i, flag in enumerate(flags) if flag], dtype=hd.int64)
        raise ArpackNoConvergence(f"{name}: {len(done)} of {len(flags)} eigenvalues converged; give a "
                                  "greater maxiter or ncv", values[done], vectors[:, done])


def svds(A, k=6, ncv=None, tol=0, which="LM", v0=None, maxiter=None, return_singular_vectors=True,
         solver="arpack", rng=None, options=None):
    """k singular values, increasing, and vectors of a matrix or LinearOperator: (u, s, vh) as
    scipy.sparse.linalg.svds.

    They come from eigsh of A.H @ A, or of A @ A.H if that is smaller, so small singular values of a
    matrix with great ones have fewer correct digits. `which` is "LM" or "SM". return_singular_vectors
    is True, False for the values only, or "u" or "vh" for one side; the other is None then. All names
    of solvers stand for the same; options are ignored. Raises as eigsh, and ValueError for a k that is
    not less than both extents.

    >>> u, s, vh = hd.sparse.linalg.svds(hd.sparse.diags([float(i) for i in range(9)]), k=2)
    """
    if solver not in ("arpack", "lobpcg", "propack"):
        raise ValueError(f"svds: solver must be 'arpack', 'lobpcg' or 'propack', not {solver!r}")
    if which not in ("LM", "SM"):
        raise ValueError(f"svds: which must be 'LM' or 'SM', not {which!r}")
    if return_singular_vectors not in (True, False, "u", "vh"):
        raise ValueError("svds: return_singular_vectors must be True, False, 'u' or 'vh', not "
                         f"{return_singular_vectors!r}")
    A = aslinearoperator(A)
    n, k = min(A.shape), int(k)
    if not 0 < k < n:
        raise ValueError(f"svds: k is {k}, but must be greater than 0 and less than {n}")
    prepare_adjoint(A)
    wide = A.shape[0] < A.shape[1]
    first, second = (A.rmatvec, A.matvec) if wide else (A.matvec, A.rmatvec)
    tol, maxiter = _checked("svds", tol, maxiter, n)
    gram = LinearOperator((n, n), lambda x: second(first(x)), dtype=_floating(A.dtype))
    _, basis = eigsh(gram, k=k, which=which, v0=v0, ncv=ncv, maxiter=maxiter, tol=tol**2, rng=rng)
    product = (A.rmatmat if wide else A.matmat)(basis)
    if return_singular_vectors is False:
        return hd.linalg.svd(product, compute_uv=False)[::-1]
    u, s, vh = hd.linalg.svd(product, full_matrices=False)
    u, s, vh = u[:, ::-1], s[::-1], vh[::-1]
    if wide:
        u, vh = basis @ hd.conj(vh.T), hd.conj(u.T)
    else:
        vh = vh @ hd.conj(basis.T)
    return (None if return_singular_vectors == "vh" else u, s,
            None if return_singular_vectors == "u" else vh)
