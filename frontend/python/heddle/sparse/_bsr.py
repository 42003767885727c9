"""Blocks of compressed rows: bsr_matrix and bsr_array."""

import operator

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


class Blocks(Elementwise, Operators, Reductions, Indexing, SparseBase):
    """Arrays data [blocks, R, C], indices and indptr: compressed rows of dense blocks R x C. Products
    and functions of two matrices run on compressed rows."""

    format = "bsr"
    _arrays = ("data", "indices", "indptr")
    __dataclass_fields__ = fields_of(*_arrays)

    def __init__(self, arg1, shape=None, dtype=None, copy=False, blocksize=None, *, maxprint=None):
        if blocksize is not None:
            blocksize = tuple(operator.index(each) for each in blocksize)
            if len(blocksize) != 2 or min(blocksize) < 1:
                raise ValueError(f"bsr: blocksize {blocksize} must be two positive integers")
        if isinstance(arg1, tuple) and len(arg1) == 3:
            self._given(*arg1, shape, copy, blocksize)
        elif _inputs.is_scipy(arg1) and arg1.format == "bsr" and blocksize is None:
            self._given(arg1.data, arg1.indices, arg1.indptr, arg1.shape, copy, None)
        elif issparse(arg1) and arg1.format == "bsr" and blocksize in (None, arg1.blocksize):
            arg1 = arg1.copy() if copy else arg1
            self._set(arg1.data, arg1.indices, arg1.indptr, arg1._extents)
        else:
            rows = CLASSES["csr", self._is_array](arg1, shape=shape, dtype=dtype)
            self._from_rows(rows, blocksize or (1, 1))
        if shape is not None and self._extents != _inputs.shape_of(shape):
            raise ValueError(f"bsr: the shape {tuple(shape)} is not that of the elements, "
                             f"{self._extents}")
        if dtype is not None:
            self.data = self.data.astype(dtype)

    def _given(self, data, indices, indptr, shape, copy, blocksize):
        data = _inputs.dense(data, copy=copy)
        indices = _inputs.indices(indices, "indices", copy)
        indptr = _inputs.indices(indptr, "indptr", copy)
        if data.ndim != 3 or min(data.shape[1:]) < 1:
            raise ValueError(f"bsr: data must be [blocks, R, C], not {list(data.shape)}")
        if blocksize not in (None, data.shape[1:]):
            raise ValueError(f"bsr: blocksize {blocksize} is not that of data, {data.shape[1:]}")
        r, c = data.shape[1:]
        if shape is None:
            if indices.size == 0:
                raise ValueError("bsr: the shape cannot be inferred; give shape=")
            shape = ((indptr.shape[0] - 1) * r, (int(hd.max(indices)) + 1) * c)
        extents = _inputs.shape_of(shape)
        self._check_blocks(extents, (r, c))
        indices, indptr = _inputs.same_indices((indices, indptr), extents, indices.shape[0],
                                               self._is_array)
        self._set(data, indices, indptr, extents)
        stored = _sparse.check_csr(self._pattern())
        if 0 <= stored < indices.shape[0]:
            self.data, self.indices = data[:stored], indices[:stored]

    @staticmethod
    def _check_blocks(extents, blocksize):
        if any(extent % size for extent, size in zip(extents, blocksize)):
            raise ValueError(f"bsr: the shape {extents} is not divided by blocks of {blocksize}")

    def _pattern(self):
        """The blocks as elements of compressed rows, with their numbers as values."""
        r, c = self.data.shape[1:]
        return (hd.arange(self.data.shape[0]), self.indices, self.indptr, self._extents[0] // r,
                self._extents[1] // c, False, False)

    def _set(self, data, indices, indptr, extents):
        self.data, self.indices, self.indptr, self._extents = data, indices, indptr, tuple(extents)

    def _from_rows(self, rows, blocksize):
        self._check_blocks(rows._extents, blocksize)
        rows.sum_duplicates()
        (r, c), (m, n) = blocksize, rows._extents
        row, column = rows._lines, rows.indices.astype(hd.int64)
        ones = hd.ones_like(rows.data, dtype=hd.bool)
        index = rows.indices.dtype
        found = _sparse.sum_duplicates(_sparse.coo_to_csr(
            (ones, (row // r).astype(index), (column // c).astype(index), m // r, n // c, False)))
        blocks = found[1].shape[0]
        # The blocks in the order of rows: each element finds its own by a search.
        names = _sparse.rows_of(found) * (n // c) + found[1]
        block = hd.searchsorted(names, (row // r) * (n // c) + column // c)
        data = hd.zeros(blocks * r * c, dtype=rows.dtype)
        if rows.nnz:
            data[block * (r * c) + row % r * c + column % c] = rows.data
        self._set(data.reshape(blocks, r, c), found[1], found[2], rows._extents)

    @classmethod
    def _of(cls, data, indices, indptr, extents):
        made = cls.__new__(cls)
        made._set(data, indices, indptr, extents)
        return made

    def _like(self, *arrays):
        return type(self)._of(*arrays, self._extents)

    def __copy__(self):
        return self._like(self.data, self.indices, self.indptr)

    @property
    def blocksize(self):
        """The rows and columns of a block."""
        return self.data.shape[1:]

    @property
    def nnz(self):
        """The number of stored elements."""
        return self.data.size

    @property
    def _static(self):
        return repr(self._extents)

    @_static.setter
    def _static(self, text):
        pass

    def _to_scipy(self, cls, data, indices, indptr):
        return cls((data, indices, indptr), shape=self.shape)

    def _deduplicated(self):
        return self.data

    def tocoo(self, copy=True):
        """Coordinates, block by block."""
        blocks, r, c = self.data.shape
        row = _sparse.rows_of(self._pattern())[:, None, None] * r + hd.arange(r)[None, :, None]
        column = self.indices[:, None, None] * c + hd.arange(c)[None, None, :]
        row, column = (hd.broadcast_to(each, self.data.shape).ravel().astype(self.indices.dtype)
                       for each in (row, column))
        return self._class("coo")._of((self.data.ravel(), row, column, *self._extents, False))

    def tocsr(self, copy=False):
        """Compressed rows."""
        return self.tocoo().tocsr()

    def tocsc(self, copy=False):
        """Compressed columns."""
        return self.tocoo().tocsc()

    def tobsr(self, blocksize=None, copy=False):
        """Blocks of compressed rows, of another size if it is given."""
        if blocksize in (None, self.blocksize):
            return self.copy() if copy else self
        return type(self)(self.tocsr(), blocksize=blocksize)

    def eliminate_zeros(self):
        """Removes blocks of zeros, in place. Evaluates, and waits for their number."""
        kept = hd.any(self.data != 0, axis=(1, 2))
        made = _sparse.keep(self._pattern(), kept)
        self.data, self.indices, self.indptr = self.data[made[0]], made[1], made[2]

    def sum_duplicates(self):
        """Adds blocks that are stored twice, in place. Evaluates, and waits for their number."""
        made = self._class("csr")._of(self._parts_of_elements())
        self._from_rows(made, self.blocksize)

    def _parts_of_elements(self):
        return _sparse.coo_to_csr(self.tocoo()._parts)

    def _transposed(self):
        made = _sparse.compress_columns(self._pattern())
        data = self.data[made[0]] if self.data.shape[0] else self.data
        return type(self)._of(data.transpose(0, 2, 1), made[1], made[2], self._extents[::-1])

    def diagonal(self, k=0):
        """The elements (i, i + k), dense."""
        return self.tocsr().diagonal(k)


@public
class bsr_array(Blocks, sparray):
    """A sparse array of dense blocks: scipy.sparse.bsr_array.

    arg1 is a dense matrix, a sparse one (SciPy's, too), a shape, (data, (row, col)), or (data,
    indices, indptr) with data [blocks, R, C]. Without blocksize, others are taken in blocks of 1 x 1.
    Raises ValueError for arrays that do not fit.

    >>> hd.sparse.bsr_array(hd.eye(4), blocksize=(2, 2))
    """


@public
class bsr_matrix(MatrixMethods, Blocks, spmatrix):
    """A sparse matrix of dense blocks: scipy.sparse.bsr_matrix. Arguments as bsr_array; `*` is the
    matrix product."""
