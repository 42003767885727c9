"""Diagonals: dia_matrix and dia_array."""

import heddle as hd
from heddle import _heddle
from heddle.sparse import _inputs
from heddle.sparse._base import CLASSES, SparseBase, fields_of, issparse, public, sparray, spmatrix
from heddle.sparse._elementwise import Elementwise
from heddle.sparse._indexing import Indexing
from heddle.sparse._matrix import MatrixMethods
from heddle.sparse._operators import Operators
from heddle.sparse._reductions import Reductions

_sparse = _heddle._sparse


class Diagonals(Elementwise, Operators, Reductions, Indexing, SparseBase):
    """Arrays data [d, n] and offsets [d]: data[k, j] is the element (j - offsets[k], j)."""

    format = "dia"
    _arrays = ("data", "offsets")
    __dataclass_fields__ = fields_of(*_arrays)

    def __init__(self, arg1, shape=None, dtype=None, copy=False, *, maxprint=None):
        if issparse(arg1) or _inputs.is_scipy(arg1):
            if _inputs.is_scipy(arg1):
                x = arg1.todia()
                self._given(x.data, x.offsets, x.shape, False)
            else:
                self._take(arg1.copy() if copy and arg1.format == "dia" else arg1.todia())
        elif _inputs.is_shape(arg1):
            extents = _inputs.shape_of(arg1)
            self._set((hd.zeros((0, 0), dtype=hd.float64 if dtype is None else dtype),
                       hd.zeros(0, dtype=_inputs.index_dtype(extents)), *extents))
        elif isinstance(arg1, tuple):
            if len(arg1) != 2:
                raise ValueError("dia: a tuple must be a shape or (data, offsets)")
            if shape is None:
                raise ValueError("dia: (data, offsets) needs shape=")
            self._given(*arg1, shape, copy)
        else:
            self._take(CLASSES["coo", self._is_array](
                hd.atleast_2d(_inputs.dense(arg1, dtype))).todia())
        if shape is not None and self._extents != _inputs.shape_of(shape):
            raise ValueError(f"dia: the shape {tuple(shape)} is not that of the elements, "
                             f"{self._extents}")
        if dtype is not None:
            self.data = self.data.astype(dtype)

    def _given(self, data, offsets, shape, copy):
        extents = _inputs.shape_of(shape)
        offsets = hd.atleast_1d(_inputs.indices(offsets, "offsets", copy))
        offsets, = _inputs.same_indices((offsets,), extents, 0, False)
        self._set((hd.atleast_2d(_inputs.dense(data, copy=copy)), offsets, *extents))
        _sparse.check_dia(self._parts)

    def _take(self, other):
        self._set(other._parts)

    @property
    def _parts(self):
        return (self.data, self.offsets, *self._extents)

    def _set(self, parts):
        self.data, self.offsets = parts[:2]
        self._extents = tuple(parts[2:4])

    @classmethod
    def _of(cls, parts):
        made = cls.__new__(cls)
        made._set(parts)
        return made

    def _like(self, *arrays):
        return type(self)._of((*arrays, *self._extents))

    def __copy__(self):
        return self._like(self.data, self.offsets)

    @property
    def _static(self):
        return repr(self._extents)

    @_static.setter
    def _static(self, text):
        pass

    def _to_scipy(self, cls, data, offsets):
        return cls((data, offsets), shape=self.shape)

    @property
    def nnz(self):
        """The number of places on the diagonals inside of the matrix, as SciPy counts. Evaluates and
        waits."""
        rows, columns = self._extents
        width = min(columns, self.data.shape[1])
        return sum(max(0, min(rows + k, width) - max(k, 0)) for k in self.offsets.tolist())

    def _inside(self):
        """The data, with 0 outside of the matrix."""
        column = hd.arange(self.data.shape[1])[None, :]
        row = column - self.offsets[:, None]
        inside = (row >= 0) & (row < self._extents[0]) & (column < self._extents[1])
        return hd.where(inside, self.data, hd.zeros((), dtype=self.dtype))

    def _deduplicated(self):
        return self.data

    def _summands(self):
        return self._inside()

    def count_nonzero(self, axis=None):
        """The number of elements that are not 0: of all, as an int, or along an axis."""
        if axis is not None:
            return self.tocsr().count_nonzero(axis)
        return int(hd.count_nonzero(self._inside()))

    def eliminate_zeros(self):
        """Removes diagonals of zeros, in place. Evaluates, and waits for their number."""
        self._take(self.tocoo().todia())

    def resize(self, *shape):
        """Changes the shape in place: elements beyond it are dropped, and new ones are 0."""
        rows, columns = _inputs.shape_of(_inputs.extents_given(shape))
        self._set((self._inside()[:, :columns], self.offsets, rows, columns))

    def tocoo(self, copy=True):
        """Coordinates, without zeros. Evaluates, and waits for their number."""
        return self._class("coo")._of(_sparse.dia_to_coo(self._parts))

    def tocsr(self, copy=False):
        """Compressed rows, without zeros. Evaluates, and waits for their number."""
        return self.tocoo().tocsr()

    def tocsc(self, copy=False):
        """Compressed columns, without zeros. Evaluates, and waits for their number."""
        return self.tocoo().tocsc()

    def todia(self, copy=False):
        """Diagonals."""
        return self.copy() if copy else self

    def toarray(self, order=None, out=None):
        """The dense matrix, as an Array."""
        if out is not None:
            return SparseBase.toarray(self, order, out)
        return _sparse.dia_to_dense(self._parts)

    def _transposed(self):
        rows, columns = self._extents
        # data[k, j] of row j - offsets[k] goes to column j - offsets[k].
        width = self.data.shape[1]
        place = hd.arange(rows)[None, :] + self.offsets[:, None]
        inside = (place >= 0) & (place < min(width, columns))
        if width:
            taken = hd.take_along_axis(self.data, hd.clip(place, 0, width - 1), axis=1)
        else:
            taken = hd.zeros((self.data.shape[0], rows), dtype=self.dtype)
        data = hd.where(inside, taken, hd.zeros((), dtype=self.dtype))
        return type(self)._of((data, -self.offsets, columns, rows))

    def _times_dense(self, x):
        if x.ndim not in (1, 2) or x.shape[0] != self._extents[1]:
            raise ValueError(f"matmul: dimension mismatch, {self.shape} and {x.shape}")
        return _sparse.dia_matmul(self._parts, x)

    def _elements_with(self, other, function, name):
        made = Operators._elements_with(self, other, function, name)
        return made.todia() if other.format == "dia" and function in ("add", "subtract", "multiply") \
            else made

    def _times_sparse(self, other):
        made = Operators._times_sparse(self, other)
        return made.todia() if other.format == "dia" else made


@public
class dia_array(Diagonals, sparray):
    """A sparse array of diagonals: scipy.sparse.dia_array.

    arg1 is a dense matrix, a sparse one (SciPy's, too), a shape, or (data, offsets) with shape=.
    Raises ValueError for arrays that do not fit.

    >>> hd.sparse.dia_array(([[1.0, 2.0, 3.0]], [1]), shape=(3, 3))
    """


@public
class dia_matrix(MatrixMethods, Diagonals, spmatrix):
    """A sparse matrix of diagonals: scipy.sparse.dia_matrix. Arguments as dia_array; `*` is the
    matrix product."""
