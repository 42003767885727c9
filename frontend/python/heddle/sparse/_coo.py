"""Coordinates: coo_matrix and coo_array."""

import math
import operator

import heddle as hd
from heddle import _heddle
from heddle.sparse import _inputs
from heddle.sparse._base import SparseBase, fields_of, issparse, public, sparray, spmatrix
from heddle.sparse._elementwise import Elementwise
from heddle.sparse._indexing import Indexing
from heddle.sparse._matrix import MatrixMethods
from heddle.sparse._operators import Operators
from heddle.sparse._reductions import Reductions

_sparse = _heddle._sparse


class Coordinates(Elementwise, Operators, Reductions, Indexing, SparseBase):
    """Arrays data, row and col. An array of one axis is a row inside, whose `row` is 0."""

    format = "coo"
    _arrays = ("data", "row", "col")
    __dataclass_fields__ = fields_of(*_arrays)

    def __init__(self, arg1, shape=None, dtype=None, copy=False, *, maxprint=None):
        self._canonical = None
        flat = self._is_array
        if issparse(arg1) or _inputs.is_scipy(arg1):
            self._from_sparse(arg1, copy)
        elif _inputs.is_shape(arg1) and (flat or len(arg1) == 2):
            extents = _inputs.shape_of(arg1, flat)
            index = _inputs.index_dtype(extents)
            self._set((hd.zeros(0, dtype=hd.float64 if dtype is None else dtype),
                       hd.zeros(0, dtype=index), hd.zeros(0, dtype=index), *extents, True))
            self._flat = len(arg1) == 1
        elif isinstance(arg1, tuple) and len(arg1) == 2:
            self._from_coordinates(*arg1, shape, copy)
        elif isinstance(arg1, tuple):
            raise ValueError("coo: a tuple must be a shape or (data, (row, col))")
        else:
            self._from_dense(arg1, dtype)
        if shape is not None and tuple(self.shape) != tuple(map(operator.index, shape)):
            raise ValueError(f"coo: the shape {tuple(shape)} is not that of the elements, {self.shape}")
        if dtype is not None:
            self.data = self.data.astype(dtype)

    def _from_sparse(self, x, copy):
        if _inputs.is_scipy(x):
            x = x.tocoo()
            coords = (x.row, x.col) if len(x.shape) == 2 else x.coords
            self._from_coordinates(x.data, coords, x.shape, False)
            return
        made = x.tocoo(copy=copy)
        self._set(made._parts)
        self._canonical, self._flat = made._canonical, made._flat

    def _from_coordinates(self, data, coordinates, shape, copy):
        data = _inputs.dense(data, copy=copy)
        names = ("row", "col")[-len(coordinates):] if len(coordinates) < 3 else ()
        if not names or (len(names) == 1 and not self._is_array):
            raise ValueError(f"coo: {len(coordinates)} index arrays for two axes")
        index = [_inputs.indices(each, name, copy) for each, name in zip(coordinates, names)]
        if shape is None:
            if any(each.ndim != 1 or each.size == 0 for each in index):
                raise ValueError("coo: the shape cannot be inferred; give shape=")
            shape = [each + 1 for each in hd.stack([hd.max(each) for each in index]).tolist()]
        extents = _inputs.shape_of(shape, len(names) == 1)
        self._flat = len(names) == 1
        if self._flat:
            index.insert(0, hd.zeros_like(index[0]))
        index = _inputs.same_indices(index, extents, 0, self._is_array)
        self._set((data, *index, *extents, False))
        _sparse.check_coo(self._parts)

    def _from_dense(self, x, dtype):
        x = _inputs.dense(x, dtype)
        self._flat = x.ndim == 1 and self._is_array
        if x.ndim > 2 or (self._is_array and x.ndim == 0):
            raise ValueError(f"coo: takes a matrix, not an array of shape {x.shape}")
        self._set(_sparse.coo_of_dense(hd.atleast_2d(x)))

    @property
    def _parts(self):
        return (self.data, self.row, self.col, *self._extents, bool(self._canonical))

    def _take(self, other):
        self._set(other._parts)

    def _set(self, parts):
        self.data, self.row, self.col = parts[:3]
        self._extents, self._canonical = tuple(parts[3:5]), parts[5] or None

    @classmethod
    def _of(cls, parts):
        made = cls.__new__(cls)
        made._set(parts)
        return made

    def _like(self, *arrays):
        made = type(self)._of((*arrays, *self._extents, bool(self._canonical)))
        made._flat = self._flat
        return made

    def __copy__(self):
        return self._like(self.data, self.row, self.col)

    @property
    def ndim(self):
        """The number of axes."""
        return 1 if self._flat else 2

    @property
    def coords(self):
        """The index arrays, one for each axis."""
        return (self.col,) if self._flat else (self.row, self.col)

    @property
    def _static(self):
        return repr((self._extents, self._canonical, self._flat))

    @_static.setter
    def _static(self, text):
        pass

    def _to_scipy(self, cls, data, row, col):
        return cls((data, (col,) if self._flat else (row, col)), shape=self.shape)

    def resize(self, *shape):
        """Changes the shape in place: elements beyond it are dropped, and new ones are 0. Raises
        ValueError for another number of axes."""
        shape = _inputs.extents_given(shape)
        if len(shape) != self.ndim:
            raise ValueError(f"resize: the shape {tuple(shape)} must have as many axes as {self.shape}")
        rows, columns = _inputs.shape_of(shape, self._flat)
        kept = hd.flatnonzero((self.row < rows) & (self.col < columns))
        self._set((self.data[kept], self.row[kept], self.col[kept], rows, columns, bool(self._canonical)))

    def tocoo(self, copy=False):
        """Coordinates."""
        return self.copy() if copy else self

    def tocsr(self, copy=False):
        """Compressed rows, with duplicates added: evaluates, unless it is known that there are
        none."""
        made = self._class("csr")._of(_sparse.coo_to_csr(self._parts))
        if not _sparse.is_tracing():
            made.sum_duplicates()
        return made

    def tocsc(self, copy=False):
        """Compressed columns, with duplicates added: as tocsr."""
        return self.transpose().tocsr().transpose()

    def todia(self, copy=False):
        """Diagonals. Evaluates, and waits for their number."""
        return self._class("dia")._of(_sparse.coo_to_dia(self._parts))

    def toarray(self, order=None, out=None):
        """The dense matrix, as an Array. Duplicates add up."""
        if out is not None:
            return SparseBase.toarray(self, order, out)
        made = _sparse.csr_to_dense(_sparse.coo_to_csr(self._parts))
        return made[0] if self._flat else made

    def _transposed(self):
        if self._flat:
            return self
        made = type(self)._of((self.data, self.col, self.row, *self._extents[::-1],
                               bool(self._canonical)))
        return made

    def transpose(self, axes=None, copy=False):
        """The transpose; it shares its arrays with this one unless copy is true."""
        if self._flat:
            return self.copy() if copy else self
        return SparseBase.transpose(self, axes, copy)

    def reshape(self, *shape, order="C", copy=False):
        """The elements in C order ("F": column by column) under another shape. One extent may be
        -1. Raises ValueError if the sizes differ."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        shape = [operator.index(each) for each in shape]
        size = math.prod(self._extents)
        if len(shape) not in ((1, 2) if self._is_array else (2,)):
            raise ValueError(f"reshape: the shape {tuple(shape)} must have two extents")
        if shape.count(-1) == 1:
            rest = -math.prod(shape)
            if rest == 0 or size % rest:
                raise ValueError(f"reshape: cannot reshape {self.shape} to {tuple(shape)}")
            shape[shape.index(-1)] = size // rest
        if math.prod(shape) != size or min(shape) < 0:
            raise ValueError(f"reshape: cannot reshape {self.shape} to {tuple(shape)}")
        extents = _inputs.shape_of(shape, True)
        if extents == self._extents:
            row, col = self.row, self.col
        else:
            row, col = self._moved(extents, order)
        index = _inputs.index_dtype(extents)
        made = type(self)._of((_sparse.snapshot(self.data) if copy else self.data, row.astype(index),
                               col.astype(index), *extents, bool(self._canonical)))
        made._flat = len(shape) == 1
        return made

    def _moved(self, extents, order):
        row, col = self.row.astype(hd.int64), self.col.astype(hd.int64)
        if order == "C":
            place = row * self._extents[1] + col
            return place // extents[1], place % extents[1]
        if order != "F":
            raise ValueError(f"reshape: order must be 'C' or 'F', not {order!r}")
        place = col * self._extents[0] + row
        return place % extents[0], place // extents[0]

    @property
    def has_canonical_format(self):
        """Whether it is known that no element is stored twice."""
        return bool(self._canonical)

    @has_canonical_format.setter
    def has_canonical_format(self, value):
        self._canonical = bool(value)

    def sum_duplicates(self):
        """Adds elements that are stored twice, in place, and sorts by row, then column. Evaluates, and
        waits for the number of elements."""
        if not self._canonical:
            self._set(_sparse.sum_duplicates_coo(self._parts))

    def eliminate_zeros(self):
        """Removes stored zeros, in place. Evaluates, and waits for the number of others."""
        kept = hd.flatnonzero(self.data != 0)
        self.data, self.row, self.col = self.data[kept], self.row[kept], self.col[kept]

    def _deduplicated(self):
        self.sum_duplicates()
        return self.data

    def _line_sums(self, axis):
        return self._class("csr")._of(_sparse.coo_to_csr(self._parts))._line_sums(axis)

    def _times_dense(self, x):
        if x.ndim not in (1, 2) or x.shape[0] != self._extents[1]:
            raise ValueError(f"matmul: dimension mismatch, {self.shape} and {x.shape}")
        return _sparse.csr_matmul(_sparse.coo_to_csr(self._parts), x)

    def _compressed_rows(self):
        return self


@public
class coo_array(Coordinates, sparray):
    """A sparse array of coordinates, with one or two axes: scipy.sparse.coo_array.

    arg1 is a dense array, a sparse one (SciPy's, too), a shape, or (data, (row, col)). Elements that
    are given twice add up. Raises ValueError for arrays that do not fit, with the array and the
    position.

    >>> hd.sparse.coo_array(([1.0, 2.0], ([0, 1], [2, 0])), shape=(2, 3))
    """


@public
class coo_matrix(MatrixMethods, Coordinates, spmatrix):
    """A sparse matrix of coordinates: scipy.sparse.coo_matrix. Arguments as coo_array; `*` is the
    matrix product."""
