"""Operators: products, sums, comparisons, with sparse matrices, dense ones and numbers."""

import operator

import heddle as hd
from heddle import _heddle
from heddle.sparse import _inputs
from heddle.sparse._base import as_sparse, issparse

_sparse = _heddle._sparse


def _operand(x):
    """A matrix of SciPy as one of Heddle; everything else as it is."""
    return as_sparse(x) if _inputs.is_scipy(x) else x


def _is_known(x):
    return issparse(x) or _inputs.is_scalar(x) or _inputs.is_dense(x)


class Operators:
    """The operators of scipy.sparse. Results are sparse where 0 and 0 give 0; else they are dense
    (sums with dense matrices) or store every element (comparisons)."""

    def _compressed(self):
        """In a format that has two-sided functions."""
        return self if self.format in ("csr", "csc") else self.tocsr()

    def _elements_with(self, other, function, name):
        """function of two sparse matrices, in the format of this one, or CSR."""
        own = self._compressed()
        if own._extents != other._extents or self._flat != other._flat:
            raise ValueError(f"{name}: inconsistent shapes {self.shape} and {other.shape}")
        other = other.asformat(own.format)
        # Looked at once: then the functions need not sort.
        own._is_canonical(), other._is_canonical()
        return self._shaped(type(own)._of(getattr(_sparse, function)(own._parts, other._parts)))

    def _shaped(self, made):
        """A result with this one's number of axes."""
        return made.tocoo().reshape(self.shape) if self._flat else made

    # In place: other matrices that share the values see it, as in SciPy.

    def __imul__(self, other):
        if not _inputs.is_scalar(other):
            return NotImplemented
        self.data *= other
        return self

    def __itruediv__(self, other):
        if not _inputs.is_scalar(other):
            return NotImplemented
        self.data /= other
        return self

    # Products.

    def __matmul__(self, other):
        if isinstance(other, _heddle.Array) and other.ndim and not self._flat:
            return self._times_dense(other)  # at once: most products are these
        other = _operand(other)
        if _inputs.is_scalar(other):
            raise ValueError("scalar operands are not allowed; use * instead")
        return self._times(other) if _is_known(other) else NotImplemented

    def __rmatmul__(self, other):
        other = _operand(other)
        if _inputs.is_scalar(other):
            raise ValueError("scalar operands are not allowed; use * instead")
        return self._right_matmul(other) if _is_known(other) else NotImplemented

    def _times(self, other):
        """The product with a number, or the matrix product."""
        other = _operand(other)
        if _inputs.is_scalar(other):
            return self._scaled(other)
        if issparse(other):
            return self._times_sparse(other)
        if not _inputs.is_dense(other):
            return NotImplemented
        other = _inputs.dense(other)
        if self._flat:
            return self._compressed_rows()._times_dense(other)[0]
        return self._times_dense(other)

    def _compressed_rows(self):
        return self.tocsr()

    def _times_dense(self, x):
        if x.ndim not in (1, 2) or x.shape[0] != self._extents[1]:
            raise ValueError(f"matmul: dimension mismatch, {self.shape} and {x.shape}")
        made = self if hasattr(type(self), "_rows_parts") else self.tocsr()
        return _sparse.csr_matmul(made._rows_parts, x, made._pieces("_rows_parts"))

    def _times_sparse(self, other):
        if self._flat or other._flat:
            own = self if self._flat else self.tocsr()
            right = other.toarray() if other._flat else other
            return as_sparse(own @ right, True) if not (self._flat and other._flat) else (
                own.tocsr()._times_dense(right)[0])
        if self._extents[1] != other._extents[0]:
            raise ValueError(f"matmul: dimension mismatch, {self.shape} and {other.shape}")
        own = self._compressed()
        other = other.asformat(own.format)
        left, right = (own, other) if own.format == "csr" else (other, own)
        return type(own)._of(_sparse.matmul(left._parts, right._parts))

    def _right_matmul(self, other):
        other = _operand(other)
        if issparse(other):
            return other._times(self)
        other = _inputs.dense(other)
        if self._flat:
            return self._times(other.T)
        if other.ndim not in (1, 2) or other.shape[-1] != self._extents[0]:
            raise ValueError(f"matmul: dimension mismatch, {other.shape} and {self.shape}")
        made = self.transpose()._times_dense(other.T if other.ndim == 2 else other)
        return made.T if other.ndim == 2 else made

    def dot(self, other):
        """The matrix product; with a number, each element times it."""
        other = _operand(other)
        return self._scaled(other) if _inputs.is_scalar(other) else self @ other

    def _scaled(self, number):
        return self._with_data(self.data * number)

    def __mul__(self, other):
        return self.multiply(other)

    def __rmul__(self, other):
        return self.multiply(other)

    def multiply(self, other):
        """Element by element: with a sparse matrix, a dense one that broadcasts, or a number. Rows
        and columns broadcast."""
        other = _operand(other)
        if _inputs.is_scalar(other):
            return self._scaled(other)
        if not _is_known(other):
            return NotImplemented
        if issparse(other):
            if other._extents == self._extents:
                return self._elements_with(other, "multiply", "multiply")
            return self._broadcast_multiply(other)
        dense = _inputs.dense(other)
        shape = hd.broadcast_shapes(self.shape, dense.shape)
        if len(shape) > 2 or tuple(shape) != tuple(self.shape):
            return as_sparse(self.toarray() * dense, self._is_array)
        one = self.tocoo()
        taken = hd.broadcast_to(dense, self._extents)[one.row, one.col]
        made = one._with_data(one.data * taken)
        return made if self.format != "dia" else made.asformat("dia")

    def _broadcast_multiply(self, other):
        """Of sparse matrices, of which one has one row or column."""
        shape = hd.broadcast_shapes(self._extents, other._extents)
        for one, line in ((self, other), (other, self)):
            if tuple(shape) == one._extents:
                return one.multiply(line.toarray()).asformat(
                    "csr" if self.format not in ("csr", "csc") else self.format)
        return self.tocsr() @ other.tocsr() if self._extents[1] == 1 else other.tocsr() @ self.tocsr()

    def __truediv__(self, other):
        other = _operand(other)
        if _inputs.is_scalar(other):
            # After SciPy: what float64 holds is divided in float64.
            if hd.can_cast(self.dtype, hd.float64):
                return self.astype(hd.float64)._scaled(1.0 / _inputs.number_of(other))
            return self._scaled(1.0 / _inputs.number_of(other))
        if issparse(other):
            if other._extents != self._extents:
                raise ValueError(f"divide: inconsistent shapes {self.shape} and {other.shape}")
            return self.toarray() / other.toarray()
        if _inputs.is_dense(other):
            return self.multiply(1.0 / _inputs.dense(other))
        return NotImplemented

    def __rtruediv__(self, other):
        return NotImplemented

    # Sums.

    def __add__(self, other):
        return self._sum(other, "add", hd.add)

    def __radd__(self, other):
        return self.__add__(other)

    def __sub__(self, other):
        return self._sum(other, "subtract", hd.subtract)

    def __rsub__(self, other):
        made = self._sum(other, "subtract", lambda a, b: b - a)
        return -made if issparse(made) else made

    def _sum(self, other, name, function):
        other = _operand(other)
        if _inputs.is_scalar(other):
            if _inputs.number_of(other) == 0:
                return self.copy()
            raise NotImplementedError(f"{name}: a number that is not 0 would fill the matrix; use "
                                      "toarray()")
        if issparse(other):
            both_bool = name == "subtract" and self.dtype == other.dtype == hd.bool
            return self._elements_with(other, "not_equal" if both_bool else name, name)
        if _inputs.is_dense(other):
            return function(self.toarray(), _inputs.dense(other))
        return NotImplemented

    # Comparisons.

    def maximum(self, other):
        """The greater of each two elements."""
        return self._greater_or_less(other, "maximum", hd.maximum)

    def minimum(self, other):
        """The lesser of each two elements."""
        return self._greater_or_less(other, "minimum", hd.minimum)

    def _greater_or_less(self, other, name, function):
        other = _operand(other)
        if _inputs.is_scalar(other):
            made = self._map(lambda x: function(x, other))
            return made if made.nnz < self._extents[0] * self._extents[1] else made.asformat(
                self.format)
        if issparse(other):
            return self._elements_with(other, name, name)
        return function(self.toarray(), _inputs.dense(other))

    def _map(self, function):
        """function of each element: of those that are stored, if it keeps 0."""
        if not bool(function(hd.zeros((), dtype=self.dtype))):
            own = self._compressed()
            made = own._with_data(function(own._deduplicated()))
            made.eliminate_zeros()
            return self._shaped(made)
        made = type(self._compressed())(function(self.toarray().reshape(self._extents)))
        return self._shaped(made)

    def _compare(self, other, function, sparse_function):
        other = _operand(other)
        if not _is_known(other):
            return NotImplemented
        if _inputs.is_scalar(other):
            return self._map(lambda x: function(x, other))
        if issparse(other):
            if other._extents != self._extents:
                if function in (operator.eq, operator.ne):
                    return function is operator.ne
                raise ValueError(f"inconsistent shapes {self.shape} and {other.shape}")
            if sparse_function is not None:
                return self._elements_with(other, sparse_function, sparse_function)
            own = self._compressed()
            return self._shaped(type(own)(function(self.toarray(), other.toarray()).reshape(
                self._extents)))
        return function(self.toarray(), _inputs.dense(other))

    def __eq__(self, other):
        return self._compare(other, operator.eq, None)

    def __ne__(self, other):
        return self._compare(other, operator.ne, "not_equal")

    def __lt__(self, other):
        return self._compare(other, operator.lt, "less")

    def __gt__(self, other):
        return self._compare(other, operator.gt, "greater")

    def __le__(self, other):
        return self._compare(other, operator.le, None)

    def __ge__(self, other):
        return self._compare(other, operator.ge, None)

    def __pow__(self, n):
        return self.power(n)
