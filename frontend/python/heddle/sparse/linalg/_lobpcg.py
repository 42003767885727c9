"""The locally optimal block preconditioned conjugate gradient method, for eigenvalues."""

import warnings

import heddle as hd
from heddle import _heddle
from heddle.sparse.linalg._operators import LinearOperator, aslinearoperator
from heddle.sparse.linalg._systems import run

_sparse = _heddle._sparse

# A step looks for the best vectors in the span of X, the preconditioned residuals R, and P, the last
# direction. The three blocks are made orthonormal, in the inner product of B, one after the other.
# Columns that depend on others become 0, so that shapes stay as they are.


def _block_function(name, which, A, n):
    """The product of an operator, a matrix or a function with a block [n, k]."""
    if A is None:
        return lambda x: x
    if callable(A) and not isinstance(A, LinearOperator) and not hasattr(A, "shape"):
        return A
    A = aslinearoperator(A)
    if A.shape != (n, n):
        raise ValueError(f"{name}: {which} has the shape {A.shape}, but X has {n} rows")
    return A.matmat


def _adjoint(x):
    return hd.conj(x.T)


def _orthonormal(block, image, against, product):
    """A block, orthonormal and orthogonal to others, and its image under A, if it has one. `against`
    has the other blocks with their images."""
    eps = float(hd.finfo(block.dtype).eps)
    for _ in range(2):
        for other, other_image in against:
            along = _adjoint(other) @ product(block)
            block = block - other @ along
            image = image if image is None else image - other_image @ along
        gram = _adjoint(block) @ product(block)
        size = hd.real(hd.diagonal(gram))
        scale = hd.where(size > 0, 1 / hd.sqrt(hd.where(size > 0, size, hd.ones_like(size))),
                         hd.zeros_like(size))
        values, vectors = hd.linalg.eigh(scale[:, None] * gram * scale)
        known = values > 10 * eps * block.shape[1]
        root = hd.where(known, 1 / hd.sqrt(hd.where(known, values, hd.ones_like(values))),
                        hd.zeros_like(values))
        turn = scale[:, None] * vectors * root
        block, image = block @ turn, image if image is None else image @ turn
    return block, image


def _ritz(blocks, images, product, largest):
    """(values, coefficients): the k best in the span of orthonormal blocks of k columns."""
    k = blocks[0].shape[1]
    basis, image = hd.concatenate(blocks, axis=1), hd.concatenate(images, axis=1)
    matrix = _adjoint(basis) @ image
    size = hd.real(hd.sum(hd.conj(basis) * product(basis), axis=0))
    # Columns of zeros get values that are never wanted.
    far = 1 + 2 * hd.sum(hd.abs(matrix))
    off = hd.where(size > 0.5, hd.zeros_like(size), -far if largest else far)
    values, vectors = hd.linalg.eigh((matrix + _adjoint(matrix)) / 2 + hd.diag(off))
    if largest:
        values, vectors = values[::-1], vectors[:, ::-1]
    return values[:k], vectors[:, :k]


def _checked(X, Y, A, B):
    """X and the constraints, in the dtype of the iteration."""
    X = hd.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"lobpcg: X must have two axes, not the shape {X.shape}")
    if X.dtype.kind not in "fc":
        warnings.warn(f"lobpcg: X is {X.dtype}; it is cast to float32", UserWarning, stacklevel=3)
        X = X.astype(hd.float32)
    kinds = [getattr(each, "dtype", X.dtype) for each in (A, B)]
    if any(str(kind).startswith("complex") for kind in kinds):
        X = X.astype(hd.result_type(X.dtype, hd.complex64))
    if Y is not None:
        Y = hd.asarray(Y).astype(X.dtype)
        if Y.ndim != 2 or Y.shape[0] != X.shape[0]:
            raise ValueError(f"lobpcg: Y has the shape {Y.shape}, but must have two axes and the "
                             f"{X.shape[0]} rows of X")
    if X.shape[1] + (0 if Y is None else Y.shape[1]) > X.shape[0]:
        raise ValueError(f"lobpcg: X {X.shape} and Y have more columns than rows")
    return X, Y


def _start(X, Y, product):
    """X and Y with orthonormal columns. Raises ValueError if they are dependent; inside jit, where
    values are unknown, such columns become 0."""
    against = []
    for name, block in (("Y", Y), ("X", X)):
        if block is None:
            continue
        made, _ = _orthonormal(block, None, [(other, other) for other in against], product)
        if not _sparse.is_tracing() and not bool(hd.all(hd.sum(hd.abs(made), axis=0) > 0)):
            raise ValueError(f"lobpcg: the columns of {name} are linearly dependent")
        against.append(made)
    return against[-1], against[:-1]


def lobpcg(A, X, B=None, M=None, Y=None, tol=None, maxiter=None, largest=True, verbosityLevel=0,
           retLambdaHistory=False, retResidualNormsHistory=False, restartControl=20):
    """Eigenvalues [k] and eigenvectors [n, k] of a Hermitian A, or of A x = w B x, from first
    approximations X [n, k]: scipy.sparse.linalg.lobpcg.

    A, B, which is positive definite, and the preconditioner M are matrices, LinearOperators or
    functions of [n, k]. Eigenvectors are orthogonal to the columns of Y. Values decrease if `largest`
    is true, else increase. The iteration ends when the norms of all residuals are at most tol
    (n * sqrt(eps)), or after maxiter (20) steps, with a UserWarning. With a history the result has
    the list of values, and that of norms, of all steps as well, and the host waits in each step; else
    it is one loop on the device. verbosityLevel and restartControl are ignored. Raises ValueError for
    shapes that do not fit and dependent columns.

    >>> a = hd.sparse.diags([float(i) for i in range(20)])
    >>> w, x = hd.sparse.linalg.lobpcg(a, hd.random.default_rng(0).standard_normal((20, 2)), tol=1e-6)
    """
    X, Y = _checked(X, Y, A, B)
    n, dtype = X.shape[0], X.dtype
    apply, product, precondition = (
        (lambda x, function=_block_function("lobpcg", which, each, n): function(x).astype(dtype))
        for which, each in (("A", A), ("B", B), ("M", M)))
    tol = float(hd.finfo(dtype).eps) ** 0.5 * n if tol is None else tol
    maxiter = 20 if maxiter is None else int(maxiter)
    X, constraints = _start(X, Y, product)

    def described(x, image, turn, more):
        """The state with vectors turned to Ritz vectors."""
        values, vectors = turn
        x, image = x @ vectors, image @ vectors
        residual = image - product(x) * values
        norms = hd.sqrt(hd.sum(hd.real(residual * hd.conj(residual)), axis=0))
        return {**more, "x": x, "image": image, "values": values, "residual": residual, "norms": norms}

    def step(state):
        x, image = state["x"], state["image"]
        fixed = [(each, each) for each in constraints]
        r, _ = _orthonormal(precondition(state["residual"]), None, [*fixed, (x, x)], product)
        r_image = apply(r)
        p, p_image = _orthonormal(state["p"], state["p image"],
                                  [*((each, hd.zeros_like(each)) for each in constraints),
                                   (x, image), (r, r_image)], product)
        blocks, images = [x, r, p], [image, r_image, p_image]
        values, vectors = _ritz(blocks, images, product, largest)
        # Without the part of X: the direction in which the vectors moved.
        moved = vectors[x.shape[1]:]
        more = {"k": state["k"] + 1, "p": hd.concatenate(blocks[1:], axis=1) @ moved,
                "p image": hd.concatenate(images[1:], axis=1) @ moved}
        return described(hd.concatenate(blocks, axis=1), hd.concatenate(images, axis=1),
                         (values, vectors), more)

    history = []

    def report(state):
        hd.eval(*state.values())
        history.append((state["values"], state["norms"]))

    image = apply(X)
    zeros = hd.zeros_like(X)
    state = described(X, image, _ritz([X], [image], product, largest),
                      {"k": hd.asarray(0), "p": zeros, "p image": zeros})
    keep = retLambdaHistory or retResidualNormsHistory
    if keep:
        report(state)
    state = run(lambda state: (state["k"] < maxiter) & hd.any(state["norms"] > tol), step, state,
                report if keep else None)
    image = apply(state["x"])
    state = described(state["x"], image, _ritz([state["x"]], [image], product, largest), {})
    if keep:
        report(state)
    _warn_if_far(state["norms"], tol)
    return (state["values"], state["x"], *([[values for values, _ in history]] if retLambdaHistory else []),
            *([[norms for _, norms in history]] if retResidualNormsHistory else []))


def _warn_if_far(norms, tol):
    if not _sparse.is_tracing() and not bool(hd.all(norms <= tol)):
        warnings.warn(f"lobpcg: the norms of the residuals are {norms.tolist()}, and not all at most "
                      f"{tol}", UserWarning, stacklevel=3)
