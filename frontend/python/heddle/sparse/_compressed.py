"""Compressed rows and columns: csr_matrix, csr_array, csc_matrix and csc_array."""

import heddle as hd
from heddle import _heddle
from heddle.sparse import _inputs
from heddle.sparse._base import SparseBase, fields_of, issparse, public, sparray, spmatrix
from heddle.sparse._elementwise import Elementwise
from heddle.sparse._indexing import Indexing
from heddle.sparse._operators import Operators
from heddle.sparse._reductions import Reductions
from heddle.sparse._matrix import MatrixMethods

_sparse = _heddle._sparse


class Compressed(Elementwise, Operators, Reductions, Indexing, SparseBase):
    """Arrays data, indices and indptr. Inside, a matrix of columns is its transpose of rows: `_parts`
    is what the functions of C++ take."""

    _arrays = ("data", "indices", "indptr")
    __dataclass_fields__ = fields_of(*_arrays)

    def __init__(self, arg1, shape=None, dtype=None, copy=False, *, maxprint=None):
        self._sorted = self._canonical = None
        if issparse(arg1) or _inputs.is_scipy(arg1):
            self._from_sparse(arg1, copy)
        elif _inputs.is_shape(arg1):
            self._from_shape(_inputs.shape_of(arg1), dtype)
        elif isinstance(arg1, tuple):
            if len(arg1) == 2:
                self._take(self._class("coo")(arg1, shape=shape, dtype=dtype, copy=copy)
                           .asformat(self.format))
            elif len(arg1) == 3:
                self._from_parts_given(*arg1, shape, copy)
            else:
                raise ValueError(f"{self.format}: a tuple must be a shape, (data, (row, col)) or (data, "
                                 f"indices, indptr); it has {len(arg1)} elements")
        else:
            self._from_dense(arg1, dtype)
        if shape is not None and self._extents != _inputs.shape_of(shape):
            raise ValueError(f"{self.format}: the shape {tuple(shape)} is not that of the elements, "
                             f"{self._extents}")
        if dtype is not None:
            self.data = self.data.astype(dtype)

    def _from_sparse(self, x, copy):
        if _inputs.is_scipy(x):
            x = x.asformat(self.format)
            self._from_parts_given(x.data, x.indices, x.indptr, x.shape, False)
            return
        made = x.asformat(self.format)
        self._take(made.copy() if copy and made is x else made)

    def _from_shape(self, shape, dtype):
        index = _inputs.index_dtype(shape)
        self._extents = shape
        self.data = hd.zeros(0, dtype=hd.float64 if dtype is None else dtype)
        self.indices = hd.zeros(0, dtype=index)
        self.indptr = hd.zeros(self._major(shape)[0] + 1, dtype=index)
        self._sorted = self._canonical = True

    def _from_parts_given(self, data, indices, indptr, shape, copy):
        data = _inputs.dense(data, copy=copy)
        indices = _inputs.indices(indices, "indices", copy)
        indptr = _inputs.indices(indptr, "indptr", copy)
        if shape is None:
            if indices.ndim != 1 or indices.size == 0 or indptr.ndim != 1:
                raise ValueError(f"{self.format}: the shape cannot be inferred; give shape=")
            minor = int(hd.max(indices)) + 1
            shape = self._major((indptr.shape[0] - 1, max(minor, 0)))
        self._extents = _inputs.shape_of(shape)
        count = indices.shape[0] if indices.ndim else 0
        self.indices, self.indptr = _inputs.same_indices((indices, indptr), self._extents, count,
                                                         self._is_array)
        self.data = data
        check = _sparse.check_csr if self.format == "csr" else _sparse.check_csc
        stored = check(self._parts)
        if 0 <= stored < count:
            self.data, self.indices = self.data[:stored], self.indices[:stored]

    def _from_dense(self, x, dtype):
        x = _inputs.dense(x, dtype)
        if x.ndim != 2:
            raise ValueError(f"{self.format}: takes a matrix, not an array of shape {x.shape}")
        if self.format == "csr":
            self._set_parts(_sparse.coo_to_csr(_sparse.coo_of_dense(x)))
        else:
            self._set_parts(_sparse.coo_to_csr(_sparse.coo_of_dense(x.T)))

    def _take(self, other):
        """The arrays and the shape of another matrix of this format."""
        self._set_parts(other._parts)
        self._sorted, self._canonical = other._sorted, other._canonical

    def _major(self, shape):
        """(rows, columns) as (lines that are compressed, others), and back."""
        return tuple(shape) if self.format == "csr" else (shape[1], shape[0])

    @property
    def _parts(self):
        return (self.data, self.indices, self.indptr, *self._major(self._extents),
                bool(self._sorted), bool(self._canonical))

    def _set_parts(self, parts):
        self.data, self.indices, self.indptr = parts[:3]
        self._extents = self._major(parts[3:5])
        # False says that it is not known.
        self._sorted, self._canonical = parts[5] or None, parts[6] or None

    @classmethod
    def _of(cls, parts):
        made = cls.__new__(cls)
        made._set_parts(parts)
        return made

    def _like(self, *arrays):
        made = type(self)._of((*arrays, *self._major(self._extents), False, False))
        made._sorted, made._canonical = self._sorted, self._canonical
        return made

    @property
    def _static(self):
        return repr((self._extents, self._sorted, self._canonical))

    @_static.setter
    def _static(self, text):
        pass

    def _to_scipy(self, cls, data, indices, indptr):
        return cls((data, indices, indptr), shape=self.shape)

    @property
    def _lines(self):
        """For each stored element, the row (of columns: the column) that it is in: int64."""
        return _sparse.rows_of(self._parts)

    @property
    def _other(self):
        """The parts compressed along the other axis: products with both a matrix and its transpose
        convert it once."""
        return self._keep("other", lambda: _sparse.compress_columns(self._parts))

    def _keep(self, name, make):
        """What make() returns, which is kept while the arrays are not written to. A traced function
        gets what is made outside of it, if the arrays are."""
        own = (self.data, self.indices, self.indptr)
        if not all(map(_sparse.is_outside, own)):
            return make()
        kept = self._memo.get(name)
        if kept is None or not all(map(_sparse.holds, own, kept[0])):
            kept = _sparse.outside(lambda: ([_sparse.snapshot(array) for array in own], make()))
            self._memo[name] = kept
            all(map(_sparse.holds, own, kept[0]))
        return kept[1]

    def _pieces(self, name):
        """The pieces of the long rows of `_rows_parts` or `_columns_parts`, or None. Of a matrix that is
        an argument of a traced function they are not known."""
        is_own = (name == "_rows_parts") == (self.format == "csr")
        return self._keep("own pieces" if is_own else "other pieces",
                          lambda: None if _sparse.is_tracing() else _sparse.pieces_of(getattr(self, name)))

    @property
    def _memo(self):
        """By name what was computed from the arrays, and the arrays as they were. A matrix and its
        transpose share it, since they share their arrays."""
        return self.__dict__.setdefault("_kept", {})

    @property
    def _rows_parts(self):
        return self._parts if self.format == "csr" else self._other

    @property
    def _columns_parts(self):
        """The parts of the transpose, compressed by its rows."""
        return self._other if self.format == "csr" else self._parts

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_kept"}

    def __copy__(self):
        return self._like(self.data, self.indices, self.indptr)

    def tocsr(self, copy=False):
        """Compressed rows."""
        if self.format == "csr":
            return self.copy() if copy else self
        return self._class("csr")._of(self._other)

    def tocsc(self, copy=False):
        """Compressed columns."""
        if self.format == "csc":
            return self.copy() if copy else self
        return self._class("csc")._of(self._other)

    def tocoo(self, copy=True):
        """Coordinates, in the order of this format."""
        data, major, minor, rows, columns, unique = _sparse.csr_to_coo(self._parts)
        if copy:
            data, minor = _sparse.snapshot(data), _sparse.snapshot(minor)
        if self.format == "csc":
            major, minor, rows, columns = minor, major, columns, rows
        return self._class("coo")._of((data, major, minor, rows, columns, unique))

    def _transposed(self):
        other = self._class("csc" if self.format == "csr" else "csr")
        made = other._of(self._parts)
        made._sorted, made._canonical = self._sorted, self._canonical
        made._kept = self._memo
        return made

    def _dense(self):
        made = _sparse.csr_to_dense(self._parts)
        return made if self.format == "csr" else made.T

    def toarray(self, order=None, out=None):
        """The dense matrix, as an Array. Duplicates add up."""
        if out is not None:
            return SparseBase.toarray(self, order, out)
        return self._dense()

    # Order and duplicates.

    @property
    def has_sorted_indices(self):
        """Whether each line is sorted. The first look evaluates and waits."""
        if self._sorted is None:
            self._sorted = bool(_sparse.has_sorted_indices(self._parts))
        return self._sorted

    @has_sorted_indices.setter
    def has_sorted_indices(self, value):
        self._sorted = bool(value)

    @property
    def has_canonical_format(self):
        """Whether each line is sorted, and no element is stored twice. The first look evaluates and
        waits."""
        if self._canonical is None:
            self._canonical = bool(_sparse.has_canonical_format(self._parts))
            self._sorted = self._sorted or self._canonical or None
        return self._canonical

    def _is_canonical(self):
        """The same, and False inside jit if it is not known: a look is cheaper than a sort."""
        return bool(self._canonical) if _sparse.is_tracing() else self.has_canonical_format

    @has_canonical_format.setter
    def has_canonical_format(self, value):
        self._canonical = bool(value)
        if value:
            self._sorted = True

    def sort_indices(self):
        """Sorts each line, in place."""
        self._set_parts(_sparse.sort_indices(self._parts))
        self._sorted = True

    def sorted_indices(self):
        """A copy with sorted lines."""
        made = self.copy()
        made.sort_indices()
        return made

    def sum_duplicates(self):
        """Adds elements that are stored twice, in place; lines are sorted. Evaluates, and waits for
        the number of elements."""
        if not self._is_canonical():
            self._set_parts(_sparse.sum_duplicates(self._parts))
            self._sorted = self._canonical = True

    def eliminate_zeros(self):
        """Removes stored zeros, in place. Evaluates, and waits for the number of others."""
        self._set_parts(_sparse.keep(self._parts, self.data != 0))

    def resize(self, *shape):
        """Changes the shape in place: elements beyond it are dropped, and new ones are 0."""
        extents = _inputs.shape_of(_inputs.extents_given(shape))
        major, minor = self._major(extents)
        parts = self._parts
        if minor < parts[4]:
            parts = _sparse.keep(parts, parts[1] < minor)
        data, indices, indptr = parts[:3]
        if major < parts[3]:
            indptr = indptr[:major + 1]
            stop = int(indptr[-1])
            data, indices = data[:stop], indices[:stop]
        elif major > parts[3]:
            indptr = hd.pad(indptr, (0, major - parts[3]), mode="edge")
        self._set_parts((data, indices, indptr, major, minor, *parts[5:]))

    def check_format(self, full_check=True):
        """Raises ValueError, with the array and the position, if the arrays do not fit each other."""
        (_sparse.check_csr if self.format == "csr" else _sparse.check_csc)(self._parts)

    def prune(self):
        """Nothing: there is no space behind the last element."""

    def _deduplicated(self):
        self.sum_duplicates()
        return self.data


@public
class csr_array(Compressed, sparray):
    """A sparse array of compressed rows: scipy.sparse.csr_array.

    arg1 is a dense matrix, a sparse one (SciPy's, too), a shape, (data, (row, col)) with duplicates
    that add up, or (data, indices, indptr). Raises ValueError for arrays that do not fit, with the
    array and the position.

    >>> hd.sparse.csr_array(([1.0, 2.0], [0, 2], [0, 1, 2]), shape=(2, 3))
    """

    format = "csr"


@public
class csc_array(Compressed, sparray):
    """A sparse array of compressed columns: scipy.sparse.csc_array. Arguments as csr_array, with
    columns for rows."""

    format = "csc"


@public
class csr_matrix(MatrixMethods, Compressed, spmatrix):
    """A sparse matrix of compressed rows: scipy.sparse.csr_matrix. Arguments as csr_array; `*` is the
    matrix product."""

    format = "csr"


@public
class csc_matrix(MatrixMethods, Compressed, spmatrix):
    """A sparse matrix of compressed columns: scipy.sparse.csc_matrix. Arguments as csr_array, with
    columns for rows; `*` is the matrix product."""

    format = "csc"
