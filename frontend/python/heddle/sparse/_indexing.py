"""Subscripts: integers, slices, index arrays and masks, read and written."""

import operator

import heddle as hd
from heddle import _heddle
from heddle.sparse import _inputs
from heddle.sparse._base import as_sparse, issparse

_sparse = _heddle._sparse
_ALL = slice(None)


def _is_mask(x):
    return hasattr(x, "dtype") and str(x.dtype) == "bool" and getattr(x, "ndim", 0) > 0


def _pair(key):
    """The subscripts of rows and of columns."""
    if isinstance(key, tuple):
        if Ellipsis in [each for each in key if each is Ellipsis]:
            place = next(i for i, each in enumerate(key) if each is Ellipsis)
            key = key[:place] + (_ALL,) * (3 - len(key)) + key[place + 1:]
        if len(key) > 2:
            raise IndexError(f"{len(key)} subscripts for two axes")
        return (*key, *(_ALL,) * (2 - len(key)))
    return (_ALL, _ALL) if key is Ellipsis else (key, _ALL)


def _subscript(x, extent):
    """An integer in [0, extent), a range, or an Array of such integers. Raises IndexError."""
    if isinstance(x, slice):
        return range(extent)[x]
    if isinstance(x, range):
        return x
    if not hasattr(x, "ndim") or getattr(x, "ndim", None) == 0:
        try:
            i = operator.index(x)
        except TypeError:
            pass
        else:
            if not -extent <= i < extent:
                raise IndexError(f"index ({i}) out of range for an axis of {extent}")
            return i % extent
    index = hd.asarray(x)
    if index.dtype == hd.bool:
        if index.ndim != 1 or index.shape[0] != extent:
            raise IndexError(f"a mask of shape {index.shape} for an axis of {extent}")
        return hd.flatnonzero(index)
    if index.size == 0:
        return hd.zeros(index.shape, dtype=hd.int64)
    if index.dtype.kind not in "iu":
        raise IndexError(f"subscripts are integers, not {index.dtype}")
    index = index.astype(hd.int64)
    least, greatest = hd.stack([hd.min(index), hd.max(index)]).tolist()
    if least < -extent or greatest >= extent:
        bad = greatest if greatest >= extent else least
        raise IndexError(f"index ({bad}) out of range for an axis of {extent}")
    return hd.where(index < 0, index + extent, index)


def _places(subscript):
    """The subscript as a 1-d Array."""
    if isinstance(subscript, int):
        return hd.asarray([subscript])
    if isinstance(subscript, range):
        return hd.arange(subscript.start, subscript.stop, subscript.step)
    return subscript


def _is_whole(subscript, extent):
    return subscript == range(extent) if isinstance(subscript, range) else False


def _length(subscript):
    return 1 if isinstance(subscript, int) else len(subscript) if isinstance(subscript, range) else (
        subscript.shape[0])


def _kept_in_rows(parts, columns):
    """The parts with the columns of an increasing range."""
    mask = (parts[1] >= columns.start) & (parts[1] < columns.stop)
    if columns.step > 1:
        mask = mask & ((parts[1] - columns.start) % columns.step == 0)
    kept = _sparse.keep(parts, mask)
    indices = kept[1] - columns.start
    if columns.step > 1:
        indices = indices // columns.step
    return (kept[0], indices.astype(kept[1].dtype), kept[2], kept[3], len(columns), *kept[5:])


def _selected(parts, major, minor):
    """The parts with these rows and columns, in order."""
    if not _is_whole(major, parts[3]):
        parts = _sparse.take_rows(parts, _places(major))
    if _is_whole(minor, parts[4]):
        return parts
    if isinstance(minor, int):
        minor = range(minor, minor + 1)
    if isinstance(minor, range) and minor.step > 0:
        return _kept_in_rows(parts, minor)
    columns = _sparse.take_rows(_sparse.compress_columns(parts), _places(minor))
    return _sparse.compress_columns(columns)


class Indexing:
    """a[i, j], a[i], a[:, j], slices, index arrays, masks; and assignments to them."""

    def __getitem__(self, key):
        if key is None or isinstance(key, tuple) and any(each is None for each in key):
            return self._with_new_axis(key if isinstance(key, tuple) else (key,))
        if self.format not in ("csr", "csc"):
            made = self.tocsr()[key]
            if self.format == "coo" and self._is_array and isinstance(made, _heddle.Array) and made.ndim:
                return self._class("coo")(made)
            return made.asformat(self.format) if issparse(made) and made.ndim == 2 and (
                not made._flat) else made
        mask = key if _is_mask(key) and key.ndim == 2 else None
        if mask is not None:
            key = self._coordinates(mask)
        rows, columns = _pair(key)
        row = _subscript(rows, self._extents[0])
        column = _subscript(columns, self._extents[1])
        if isinstance(row, int) and isinstance(column, int):
            return self._element(row, column)
        if isinstance(row, _heddle.Array) and isinstance(column, _heddle.Array):
            return self._elements(row, column)
        if any(isinstance(each, _heddle.Array) and each.ndim != 1 for each in (row, column)):
            raise IndexError("index arrays beside slices must be 1-d")
        ordered = (row, column) if self.format == "csr" else (column, row)
        made = type(self)._of(_selected(self._parts, *ordered))
        if self._is_array and (isinstance(row, int) or isinstance(column, int)):
            return made.reshape((_length(column if isinstance(row, int) else row),))
        return made

    def _with_new_axis(self, key):
        """A line of one axis, with a second one where the key has None."""
        made = self[tuple(each for each in key if each is not None)]
        if key.count(None) > 1 or not issparse(made) or made.ndim != 1:
            raise IndexError("a new axis makes more than two of a sparse matrix; index with an integer, too")
        before = [each for each in key[:key.index(None)] if not isinstance(_subscript(each, max(self.shape)), int)]
        return made.reshape((-1, 1) if before else (1, -1)).asformat(self.format)

    def _coordinates(self, mask):
        if tuple(mask.shape) != tuple(self.shape):
            raise IndexError(f"a mask of shape {tuple(mask.shape)} for a matrix of {self.shape}")
        if issparse(mask) or _inputs.is_scipy(mask):
            one = as_sparse(mask).tocsr()
            one.sum_duplicates()
            return one.nonzero()
        return tuple(hd.nonzero(hd.asarray(mask)))

    def _element(self, row, column):
        major, minor = (row, column) if self.format == "csr" else (column, row)
        if self._canonical:
            return _sparse.elements(self._parts, hd.asarray([major]), hd.asarray([minor]))[0]
        there = (self._lines == major) & (self.indices == minor)
        return hd.sum(hd.where(there, self.data, hd.zeros((), dtype=self.dtype)), dtype=self.dtype)

    def _elements(self, row, column):
        row, column = hd.broadcast_arrays(row, column)
        self.sum_duplicates()
        ordered = (row, column) if self.format == "csr" else (column, row)
        made = _sparse.elements(self._parts, *(each.ravel() for each in ordered)).reshape(row.shape)
        if made.ndim == 2:
            return type(self)(made)
        return made if self._is_array else made[None, :]

    def __setitem__(self, key, value):
        if self.format == "coo":
            return self._set_by_rows((0, key) if self._flat else key, value)
        if self.format not in ("csr", "csc"):
            raise TypeError(f"elements of {self.format} cannot be assigned; use tocsr()")
        if _is_mask(key) and key.ndim == 2:
            key = self._coordinates(key)
        rows, columns = _pair(key)
        row = _subscript(rows, self._extents[0])
        column = _subscript(columns, self._extents[1])
        both = isinstance(row, _heddle.Array) and isinstance(column, _heddle.Array)
        if not both:
            shape = tuple(_length(each) for each in (row, column) if not isinstance(each, int))
            full = _length(row), _length(column)
            row = hd.broadcast_to(_places(row)[:, None], full)
            column = hd.broadcast_to(_places(column)[None, :], full)
        else:
            row, column = hd.broadcast_arrays(row, column)
            shape = full = row.shape
        value = value.toarray() if issparse(value) or _inputs.is_scipy(value) else hd.asarray(value)
        if value.dtype.kind == "c" and self.dtype.kind != "c":
            raise _heddle.DTypeError(f"complex values cannot be assigned to elements of {self.dtype}")
        value = value.astype(self.dtype)
        if value.size > 1 and value.ndim == 2 and len(shape) == 1:
            value = value.reshape(full) if not both else value.ravel()
        value = hd.broadcast_to(value, shape if value.ndim <= len(shape) else full).ravel()
        ordered = (row, column) if self.format == "csr" else (column, row)
        self._set_parts(_sparse.overwrite(self._parts, *(each.ravel() for each in ordered), value))

    def _set_by_rows(self, key, value):
        flat, made = self._flat, self.tocsr().copy()
        made[key] = value
        self._take(made.tocoo())
        self._flat = flat

    def setdiag(self, values, k=0):
        """Writes a number, or as many values as there are, to the diagonal (i, i + k), in place.
        Raises ValueError for a diagonal outside of the matrix."""
        rows, columns = self._extents
        if k <= -rows or k >= columns:
            raise ValueError(f"setdiag: the diagonal {k} is outside of a matrix of {self.shape}")
        values = hd.asarray(values)
        length = min(rows + min(k, 0), columns - max(k, 0))
        if values.ndim:
            length = min(length, values.shape[0])
        made = self.tocsr().copy() if self.format != "csr" else self
        i = hd.arange(length)
        made._set_parts(_sparse.overwrite(
            made._parts, i - min(k, 0), i + max(k, 0),
            hd.broadcast_to(values[:length] if values.ndim else values, (length,)).astype(self.dtype)))
        if made is not self:
            self._take(made.asformat(self.format))
