"""Linear operators: functions that act as matrices."""

import heddle as hd
from heddle import _heddle
from heddle.sparse import _inputs
from heddle.sparse._base import as_sparse, issparse

_sparse = _heddle._sparse


class LinearOperator:
    """A matrix that is given by its products: scipy.sparse.linalg.LinearOperator. `matvec` maps a
    vector [columns] to [rows], `rmatvec` does so with the conjugate transpose; `matmat` and `rmatmat`
    map matrices, by default column by column. Functions take and return Arrays; in a solver they are
    recorded once.

    >>> twice = hd.sparse.linalg.LinearOperator((3, 3), matvec=lambda x: 2 * x, dtype=hd.float64)
    >>> twice @ hd.ones(3)
    """

    ndim = 2
    __array_priority__ = 10.2

    def __init__(self, shape, matvec, rmatvec=None, matmat=None, dtype=None, rmatmat=None):
        self.shape = _inputs.shape_of(shape)
        self._functions = matvec, rmatvec, matmat, rmatmat
        if dtype is None:
            dtype = hd.asarray(matvec(hd.zeros(self.shape[1]))).dtype
        self.dtype = hd.zeros(0, dtype=dtype).dtype

    def _apply(self, which, x, extent, name):
        x = hd.asarray(x)
        column = x.ndim == 2 and x.shape[1] == 1
        if x.shape[:1] != (extent,) or not (x.ndim == 1 or column):
            raise ValueError(f"{name}: dimension mismatch, an operator of {self.shape} and a vector of "
                             f"{x.shape}")
        function = self._functions[which]
        if function is None:
            raise NotImplementedError(f"{name} is not defined")
        made = hd.asarray(function(x.reshape(extent)))
        made = made.reshape(made.size)
        return made[:, None] if column else made

    def matvec(self, x):
        """The product with a vector [columns] or [columns, 1]."""
        return self._apply(0, x, self.shape[1], "matvec")

    def rmatvec(self, x):
        """The product of the conjugate transpose with a vector [rows] or [rows, 1]."""
        return self._apply(1, x, self.shape[0], "rmatvec")

    def _by_columns(self, which, x, extent, name):
        x = hd.asarray(x)
        if x.ndim != 2 or x.shape[0] != extent:
            raise ValueError(f"{name}: dimension mismatch, an operator of {self.shape} and a matrix of "
                             f"{x.shape}")
        function = self._functions[which + 2]
        if function is not None:
            return hd.asarray(function(x))
        single = self.matvec if which == 0 else self.rmatvec
        return hd.stack([single(x[:, j]) for j in range(x.shape[1])], axis=1)

    def matmat(self, x):
        """The product with a matrix [columns, k]."""
        return self._by_columns(0, x, self.shape[1], "matmat")

    def rmatmat(self, x):
        """The product of the conjugate transpose with a matrix [rows, k]."""
        return self._by_columns(1, x, self.shape[0], "rmatmat")

    def __matmul__(self, x):
        if _inputs.is_scalar(x):
            raise ValueError("scalar operands are not allowed; use * instead")
        return self.dot(x)

    def __call__(self, x):
        return self.dot(x)

    def dot(self, x):
        """The product with a vector, a matrix, a number or an operator."""
        if isinstance(x, LinearOperator):
            return _made(self, (self.shape[0], x.shape[1]), lambda v: self.matvec(x.matvec(v)),
                         lambda v: x.rmatvec(self.rmatvec(v)), x)
        if _inputs.is_scalar(x):
            return self * x
        x = hd.asarray(x)
        return self.matvec(x) if x.ndim == 1 else self.matmat(x)

    def __mul__(self, x):
        if not _inputs.is_scalar(x):
            return self.dot(x)
        return _made(self, self.shape, lambda v: self.matvec(v) * x,
                     lambda v: self.rmatvec(v) * hd.conj(hd.asarray(x)))

    __rmul__ = __mul__

    def __add__(self, other):
        other = aslinearoperator(other)
        if other.shape != self.shape:
            raise ValueError(f"add: operators of {self.shape} and {other.shape}")
        return _made(self, self.shape, lambda v: self.matvec(v) + other.matvec(v),
                     lambda v: self.rmatvec(v) + other.rmatvec(v), other)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -aslinearoperator(other)

    def adjoint(self):
        """The conjugate transpose."""
        matvec, rmatvec, matmat, rmatmat = self._functions
        return LinearOperator(self.shape[::-1], self.rmatvec, self.matvec, rmatmat, self.dtype, matmat)

    H = property(adjoint)

    def transpose(self):
        """The transpose."""
        return LinearOperator(self.shape[::-1], lambda x: hd.conj(self.rmatvec(hd.conj(x))),
                              lambda x: hd.conj(self.matvec(hd.conj(x))), dtype=self.dtype)

    T = property(transpose)


def _made(first, shape, matvec, rmatvec, second=None):
    dtype = first.dtype if second is None else hd.result_type(first.dtype, second.dtype)
    return LinearOperator(shape, matvec, rmatvec, dtype=dtype)


def aslinearoperator(A):
    """A as a LinearOperator: a sparse matrix, a dense one, or an object with shape and matvec:
    scipy.sparse.linalg.aslinearoperator. Raises TypeError for others."""
    if isinstance(A, LinearOperator):
        return A
    if issparse(A) or _inputs.is_scipy(A):
        return _of_sparse(as_sparse(A))
    if hasattr(A, "shape") and hasattr(A, "matvec"):
        return LinearOperator(A.shape, A.matvec, getattr(A, "rmatvec", None), getattr(A, "matmat", None),
                              getattr(A, "dtype", None))
    if _inputs.is_dense(A):
        A = hd.atleast_2d(hd.asarray(A))
        return LinearOperator(A.shape, lambda x: A @ x, lambda x: hd.conj(A.T) @ x, lambda x: A @ x,
                              A.dtype, lambda x: hd.conj(A.T) @ x)
    raise TypeError(f"aslinearoperator: takes a matrix or an operator, not {type(A).__name__}")


def _of_sparse(A):
    if A.format == "dia":
        forward = A._times_dense
    else:
        A = A if A.format in ("csr", "csc") else A.tocsr()
        rows, pieces = A._rows_parts, A._pieces("_rows_parts")
        forward = lambda x: _sparse.csr_matmul(rows, x, pieces)  # noqa: E731
    adjoint = []

    def backward(x):
        # Converted once, when it is first asked for: outside of the loop, if prepare() was called.
        if not adjoint:
            compressed = A if A.format in ("csr", "csc") else A.tocsr()
            transposed, pieces = compressed._columns_parts, compressed._pieces("_columns_parts")
            if A.dtype.kind == "c":
                transposed = (hd.conj(transposed[0]), *transposed[1:])
            adjoint.append((transposed, pieces))
        transposed, pieces = adjoint[0]
        return _sparse.csr_matmul(transposed, x, pieces)

    made = LinearOperator(A.shape, forward, backward, forward, A.dtype, backward)
    made._prepare = lambda: backward(hd.zeros(A.shape[0], dtype=A.dtype))
    return made


def prepare_adjoint(operator):
    """Makes what rmatvec needs before a loop records it, so that the loop does not make it again."""
    prepare = getattr(operator, "_prepare", None)
    if prepare is not None:
        prepare()
