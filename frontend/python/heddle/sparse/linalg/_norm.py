"""Norms of sparse matrices."""

import heddle as hd
from heddle.sparse import _inputs
from heddle.sparse._base import as_sparse, issparse
from heddle.sparse.linalg._eigen import svds


def norm(x, ord=None, axis=None):
    """A norm of a sparse matrix, or of its rows or columns: scipy.sparse.linalg.norm.

    ord is None or "fro", 1, -1, 2, inf or -inf of matrices; any number of rows (axis 1) and columns
    (axis 0). The norm 2 of a matrix is its greatest singular value, from svds. Raises TypeError for
    what is not sparse, ValueError for other norms and axes, NotImplementedError for -2 of a matrix.

    >>> hd.sparse.linalg.norm(hd.sparse.eye(4))
    """
    if not (issparse(x) or _inputs.is_scipy(x)):
        raise TypeError("norm: the argument is not sparse; use hd.linalg.norm")
    x = as_sparse(x)
    if axis is None and ord in (None, "fro", "f"):
        return _frobenius(x)
    x = x.tocsr()
    axes = (0, 1) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for each in axes:
        if not isinstance(each, int):
            raise TypeError("norm: axis must be None, an integer or two integers")
        if not -2 <= each < 2:
            raise ValueError(f"norm: invalid axis {axis} for an array with shape {x.shape}")
    if len(axes) == 1:
        return _of_lines(x, ord, axes[0] % 2)
    if len(axes) != 2 or axes[0] % 2 == axes[1] % 2:
        raise ValueError(f"norm: invalid axes {axis}")
    if ord in (None, "fro", "f"):
        return _frobenius(x)
    if ord == 2:
        return _greatest_singular_value(x)
    if ord == -2:
        raise NotImplementedError("norm: the least singular value of a sparse matrix is not computed")
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise ValueError(f"norm: invalid norm order {ord!r} for matrices")
    sums = abs(x).sum(axis=axes[0] if ord in (1, -1) else axes[1])
    return hd.max(sums) if ord > 0 else hd.min(sums)


def _frobenius(x):
    data = hd.abs(x._deduplicated() if x.format != "dia" else x._inside())
    return hd.sqrt(hd.sum(data.astype(hd.float64) ** 2 if data.dtype.kind in "biu" else data ** 2))


def _greatest_singular_value(x):
    if min(x.shape) < 2:
        return _frobenius(x)
    return svds(x, k=1, return_singular_vectors=False)[0]


def _of_lines(x, ord, axis):
    size = abs(x)
    if ord in (float("inf"), -float("inf")):
        made = size.max(axis=axis) if ord > 0 else size.min(axis=axis)
        return made.toarray().ravel()
    if ord == 0:
        return (x != 0).sum(axis=axis).ravel()
    if ord == 1:
        return size.sum(axis=axis).ravel()
    if ord in (2, None):
        return hd.sqrt(size.power(2).sum(axis=axis)).ravel()
    if not isinstance(ord, (int, float)):
        raise ValueError(f"norm: invalid norm order {ord!r} for vectors")
    return (size.power(ord).sum(axis=axis) ** (1 / ord)).ravel()
