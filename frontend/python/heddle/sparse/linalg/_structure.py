"""Facts about the structure of a sparse matrix, and a bound of its norm."""

import heddle as hd
from heddle.sparse import _inputs
from heddle.sparse._base import as_sparse, issparse
from heddle.sparse.linalg._operators import aslinearoperator


def spbandwidth(A):
    """The greatest distances of stored elements below and above the diagonal:
    scipy.sparse.linalg.spbandwidth. Stored zeros count. Evaluates and waits. Raises TypeError for what
    is not sparse.

    >>> hd.sparse.linalg.spbandwidth(hd.sparse.diags([[1.0], [2.0, 3.0]], offsets=[-1, 0], shape=(2, 2)))
    """
    if not (issparse(A) or _inputs.is_scipy(A)):
        raise TypeError(f"spbandwidth: A must be a sparse matrix, not {type(A).__name__}")
    A = as_sparse(A)
    if A.format == "dia":
        offsets = [int(each) for each in A.offsets.tolist() if -A.shape[0] < each < A.shape[1]]
    else:
        A = A.tocoo()
        if A.nnz == 0:
            return 0, 0
        distance = A.col.astype(hd.int64) - A.row.astype(hd.int64)
        offsets = [int(hd.min(distance)), int(hd.max(distance))]
    return max([0, *(-each for each in offsets)]), max([0, *offsets])


def is_sptriangular(A):
    """Whether a sparse matrix is lower and whether it is upper triangular, as two bool:
    scipy.sparse.linalg.is_sptriangular. Stored zeros count. Evaluates and waits. Raises TypeError for
    what is not sparse.

    >>> hd.sparse.linalg.is_sptriangular(hd.sparse.eye(3))
    """
    below, above = spbandwidth(A)
    return above == 0, below == 0


def _signs(x):
    """x / |x|, and 1 for 0."""
    size = hd.abs(x)
    return hd.where(size == 0, hd.ones_like(x), x / hd.where(size == 0, hd.ones_like(size), size))


def _parallel(x, others):
    """For each column of signs, whether it is parallel to one of the others' columns."""
    if others.shape[1] == 0:
        return hd.zeros(x.shape[1], dtype=hd.bool)
    return hd.any(hd.abs(hd.conj(others).T @ x) >= x.shape[0] * (1 - 1e-8), axis=0)


def _renewed(x, others, generator):
    """The signs x; columns that are parallel to one before them or to one of the others are random."""
    columns = []
    for j in range(x.shape[1]):
        column = x[:, j:j + 1]
        for _ in range(100):
            if not bool(_parallel(column, hd.concatenate([others, *columns], axis=1))[0]):
                break
            column = (2 * generator.integers(0, 2, (x.shape[0], 1)) - 1).astype(x.dtype)
        columns.append(column)
    return hd.concatenate(columns, axis=1)


def _units(n, indices, dtype):
    return (hd.arange(n)[:, None] == hd.asarray(indices)).astype(dtype)


def _greatest_column(A, indices, dtype):
    """The greatest 1-norm of the columns with these indices, its index, and the column."""
    columns = A.matmat(_units(A.shape[0], indices, dtype))
    sums = hd.sum(hd.abs(columns), axis=0)
    best = int(hd.argmax(sums))
    return float(sums[best]), indices[best], columns[:, best]


def onenormest(A, t=2, itmax=5, compute_v=False, compute_w=False):
    """A lower bound of the 1-norm of a square matrix or LinearOperator, which is the norm or near to it:
    scipy.sparse.linalg.onenormest.

    The block algorithm of Higham and Tisseur (2000) with t columns and at most itmax iterations, each of
    which multiplies once with A and once with its conjugate transpose. With compute_v and compute_w the
    result is a tuple with a vector v and w = A v, for which the 1-norm of w is that of v times the bound.
    Evaluates and waits. Raises ValueError for a matrix that is not square, and t < 1.

    >>> hd.sparse.linalg.onenormest(hd.sparse.diags([1.0, -3.0, 2.0]))
    """
    A = aslinearoperator(A)
    n = A.shape[0]
    if A.shape != (n, n):
        raise ValueError(f"onenormest: A must be square, not {A.shape}")
    if t < 1:
        raise ValueError(f"onenormest: t must be at least 1, not {t}")
    dtype = A.dtype if A.dtype.kind in "fc" else hd.float64
    if t >= n:
        found = _greatest_column(A, list(range(n)), dtype)
    else:
        found = _estimated(A, n, int(t), int(itmax), dtype)
    estimate, at, column = found
    extra = ([_units(n, [at], dtype)[:, 0]] if compute_v else []) + ([column] if compute_w else [])
    return (estimate, *extra) if extra else estimate


def _estimated(A, n, t, itmax, dtype):
    generator = hd.random.default_rng(0)
    nothing = hd.zeros((n, 0), dtype=dtype)
    x = _renewed(hd.ones((n, t), dtype=dtype), nothing, generator) / n
    found, seen, signs, indices = (-1.0, 0, None), [], nothing, None
    for step in range(max(itmax, 1) + 1):
        y = A.matmat(x)
        if indices is not None:
            sums = hd.sum(hd.abs(y), axis=0)
            best = int(hd.argmax(sums))
            if float(sums[best]) <= found[0]:
                break
            found = float(sums[best]), indices[best], y[:, best]
            if step == max(itmax, 1):
                break
        before, signs = signs, _signs(y)
        if dtype.kind != "c":
            if bool(hd.all(_parallel(signs, before))):
                break
            signs = _renewed(signs, before, generator) if t > 1 else signs
        sizes = hd.max(hd.abs(A.rmatmat(signs)), axis=1)
        order = hd.argsort(-sizes).tolist()
        if indices is not None and float(sizes[order[0]]) <= float(sizes[found[1]]):
            break
        if all(each in seen for each in order[:t]):
            break
        indices = [each for each in order if each not in seen][:t]
        seen += indices
        x = _units(n, indices, dtype)
    return found
