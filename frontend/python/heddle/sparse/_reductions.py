"""Sums, extremes and diagonals. Sums of rows are heddle.sparse's segment_sum."""

import heddle as hd
from heddle import _heddle
from heddle.sparse import _inputs

_sparse = _heddle._sparse


def _axis(axis, name):
    """0, 1, or None for all."""
    if axis is None or axis in ((0, 1), (1, 0)):
        return None
    if isinstance(axis, tuple):
        axis, = axis
    if axis not in (-2, -1, 0, 1):
        raise ValueError(f"{name}: axis {axis} is out of range for two axes")
    return axis % 2


class Reductions:
    """Reductions over an axis, or over all. Arrays lose the axis, matrices keep it with extent 1."""

    def _reduced(self, line, axis):
        """A 1-d result, in the shape that it has for this class."""
        if self._is_array:
            return line
        return line[None, :] if axis == 0 else line[:, None]

    def _line_sums(self, axis):
        """The sums over an axis, 1-d, in the dtype of the sum."""
        axis = _axis(axis, "sum")
        along = 1 if self.format == "csc" else 0
        made = self if self.format in ("csr", "csc") else self.tocsr()
        return _sparse.sum(made._parts, axis ^ along)

    def _counts(self, axis):
        """The sums of ones over an axis, 1-d: as SciPy has it, of lines in the dtype of indptr."""
        made = self._line_sums(axis)
        along = {"csr": 1, "csc": 0}.get(self.format)
        return made.astype(self.indptr.dtype) if along == _axis(axis, "getnnz") else made

    def sum(self, axis=None, dtype=None, out=None):
        """The sum of all elements, or over an axis: dense. Integers are added in int64."""
        axis = _axis(axis, "sum")
        if axis is None:
            made = hd.sum(self._summands())
        else:
            made = self._reduced(self._line_sums(axis), axis)
        made = made if dtype is None else made.astype(dtype)
        return _stored(made, out)

    def _summands(self):
        return self.data

    def mean(self, axis=None, dtype=None, out=None):
        """The mean of all elements, or over an axis: dense. Of integers it is float64."""
        axis = _axis(axis, "mean")
        integers = self.dtype.kind in "bui"
        result = dtype if dtype is not None else hd.float64 if integers else self.dtype
        rows, columns = self._extents
        count = rows * columns if axis is None else (rows, columns)[axis]
        if count == 0:
            raise ZeroDivisionError("mean: the matrix has no elements along the axis")
        inner = self.astype(hd.float64) if integers else self
        return _stored((inner.sum(axis) * (1.0 / count)).astype(result), out)

    def trace(self, offset=0):
        """The sum of a diagonal."""
        return hd.sum(self.diagonal(offset))

    def diagonal(self, k=0):
        """The elements (i, i + k), dense. Raises ValueError for a diagonal outside of the matrix."""
        rows, columns = self._extents
        if k <= -rows or k >= columns:
            return hd.zeros(0, dtype=self.dtype)
        made = self if self.format in ("csr", "csc") else self.tocsr()
        return _sparse.diagonal(made._parts, -k if self.format == "csc" else k)

    def max(self, axis=None, out=None, *, explicit=False):
        """The greatest element, or over an axis, in COO. With explicit, only of stored elements."""
        return self._extreme(axis, "max", explicit)

    def min(self, axis=None, out=None, *, explicit=False):
        """The least element, or over an axis, in COO. With explicit, only of stored elements."""
        return self._extreme(axis, "min", explicit)

    def _extreme(self, axis, name, explicit):
        axis = _axis(axis, name)
        rows, columns = self._extents
        if axis is None:
            if rows == 0 or columns == 0:
                raise ValueError(f"{name}: a matrix without elements has no extremes")
            zero = hd.zeros((), dtype=self.dtype)
            if self.nnz == 0:
                return zero
            found = getattr(hd, name)(self._deduplicated())
            full = explicit or self.nnz == rows * columns
            return found if full else getattr(hd, name + "imum")(found, zero)
        if (rows, columns)[axis] == 0:
            raise ValueError(f"{name}: the axis {axis} has no elements")
        parts = self._along(axis)
        line = _stored_extremes(parts, name) if explicit else getattr(_sparse, name + "_of_rows")(parts)
        return self._class("coo")(line) if self._is_array else self._class("coo")(
            self._reduced(line, axis))

    def argmax(self, axis=None, out=None, *, explicit=False):
        """The index of the first greatest element: of the matrix in C order, as an int, or along an axis.
        NaN counts as greater than all numbers, as in NumPy. With explicit, only of stored elements, and
        0 along an axis without any."""
        return self._place(axis, "argmax", explicit)

    def argmin(self, axis=None, out=None, *, explicit=False):
        """The index of the first least element: of the matrix in C order, as an int, or along an axis.
        NaN counts as less than all numbers, as in NumPy. With explicit, only of stored elements, and 0
        along an axis without any."""
        return self._place(axis, "argmin", explicit)

    def _place(self, axis, name, explicit):
        axis = _axis(axis, name)
        if axis is None:
            rows, columns = self._extents
            if rows == 0 or columns == 0:
                raise ValueError(f"{name}: a matrix without elements has no extremes")
            if explicit:
                return self._stored_place(name)
            # Of each row the place, then of the rows the first with the extreme of all.
            lines = getattr(_sparse, name + "_of_rows")(self._along(1))
            extremes = getattr(_sparse, name[3:] + "_of_rows")(self._along(1))
            row = int(getattr(hd, name)(extremes))
            return row * columns + int(lines[row])
        if self._extents[axis] == 0:
            raise ValueError(f"{name}: the axis {axis} has no elements")
        parts = self._along(axis)
        return self._reduced(_stored_indices(parts, name) if explicit else
                             getattr(_sparse, name + "_of_rows")(parts), axis)

    def _stored_place(self, name):
        """The index in C order of the first extreme of the stored elements."""
        parts = self._along(1)
        if parts[0].shape[0] == 0:
            raise ValueError(f"{name}: no elements are stored, but explicit is true")
        k = getattr(hd, name)(parts[0])
        row, column = hd.stack([_sparse.rows_of(parts)[k], parts[1][k].astype(hd.int64)]).tolist()
        return row * self._extents[1] + column

    def _along(self, axis):
        """Parts whose rows are what an axis is reduced over, canonical."""
        made = self if self.format in ("csr", "csc") else self.tocsr()
        made.sum_duplicates()
        return made._rows_parts if axis == 1 else made._columns_parts

    def nanmax(self, axis=None, out=None, *, explicit=False):
        """max without NaN."""
        return self._without_nan("max", axis, explicit)

    def nanmin(self, axis=None, out=None, *, explicit=False):
        """min without NaN."""
        return self._without_nan("min", axis, explicit)

    def _without_nan(self, name, axis, explicit):
        if self.dtype.kind != "f":
            return self._extreme(axis, name, explicit)
        worst = -float("inf") if name == "max" else float("inf")
        data = self._deduplicated()
        return self._with_data(hd.where(hd.isnan(data), worst, data))._extreme(axis, name, explicit)


def _stored_extremes(parts, name):
    """Of each row the extreme of its stored elements, 0 without any."""
    begins, ends = parts[2][:-1], parts[2][1:]
    found = hd.reduce_segments(name, parts[0], begins, ends)
    return hd.where(begins < ends, found, hd.zeros((), dtype=found.dtype))


def _stored_indices(parts, name):
    """Of each row the index of the first extreme of its stored elements, 0 without any."""
    data, begins, ends = parts[0], parts[2][:-1], parts[2][1:]
    hit = data == _stored_extremes(parts, name[3:])[_sparse.rows_of(parts)]
    hit = hit | hd.isnan(data) if data.dtype.kind in "fc" else hit
    first = hd.reduce_segments("min", hd.where(hit, parts[1].astype(hd.int64), parts[4]), begins, ends)
    return hd.where(begins < ends, first, 0)


def _stored(made, out):
    if out is None:
        return made
    if tuple(out.shape) != tuple(made.shape):
        raise ValueError(f"out has the shape {out.shape}, the result {made.shape}")
    out[...] = made
    return out
