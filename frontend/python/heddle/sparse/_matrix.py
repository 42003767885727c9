"""What the classes whose names end in _matrix have and those of arrays do not."""

import operator

import heddle as hd
from heddle.sparse import _inputs


class MatrixMethods:
    """scipy.sparse.spmatrix: `*` is the matrix product, `**` repeats it."""

    def __mul__(self, other):
        return self._times(other)

    def __rmul__(self, other):
        if _inputs.is_scalar(other):
            return self._scaled(other)
        return self._right_matmul(other)

    def __pow__(self, n):
        """The n-th power of a square matrix."""
        from heddle.sparse.linalg import matrix_power

        return matrix_power(self, n)

    @property
    def H(self):
        """The conjugate transpose."""
        return self.getH()

    def getH(self):
        return self.conj().transpose()

    def getrow(self, i):
        """Row i, as a matrix of one row."""
        return self.tocsr()[operator.index(i)]

    def getcol(self, j):
        """Column j, as a matrix of one column."""
        made = self if self.format == "csc" else self.tocsr()
        return made[:, operator.index(j)]

    def getnnz(self, axis=None):
        """The number of stored elements: of all, as an int, or of each column (axis 0) or row (axis
        1)."""
        if axis is None:
            return self.nnz
        return self._with_data(hd.ones_like(self.data, dtype=hd.int64))._counts(axis)

    def asfptype(self):
        """The matrix with a floating dtype: float32 if it holds all values of the dtype, else float64."""
        return self if self.dtype.kind in "fc" else self.astype(hd.result_type(self.dtype, hd.float32))

    def get_shape(self):
        return self.shape
