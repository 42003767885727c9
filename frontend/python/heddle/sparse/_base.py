"""What the formats of heddle.sparse have in common: shape, dtype, conversions and copies."""

import dataclasses
from typing import Any

import heddle as hd
from heddle import _heddle
from heddle.sparse import _inputs

_sparse = _heddle._sparse
CLASSES = {}  # (format, whether it is an array) -> class


def public(cls):
    """Registers a class of the package under its format."""
    CLASSES[cls.format, cls._is_array] = cls
    cls.__module__ = "heddle.sparse"
    return cls


@dataclasses.dataclass
class _Fields:
    data: Any
    indices: Any
    indptr: Any
    row: Any
    col: Any
    offsets: Any
    _static: str


def fields_of(*names):
    """The fields by which jit finds the Arrays of a class, and a text that is part of the call's
    signature."""
    return {name: _Fields.__dataclass_fields__[name] for name in (*names, "_static")}


class sparray:
    """The base of the classes whose names end in _array: `*` is elementwise, and reductions drop
    their axis. After scipy.sparse.sparray."""

    _is_array = True


class spmatrix:
    """The base of the classes whose names end in _matrix: `*` is the matrix product, and everything
    has two axes. After scipy.sparse.spmatrix."""

    _is_array = False


class SparseBase:
    """A sparse matrix. `_extents` are its rows and columns; `_flat` marks an array of one axis, which
    is kept as a row."""

    format = ""
    ndim = 2
    __array_priority__ = 10.1
    _flat = False

    @property
    def shape(self):
        """The extents."""
        return self._extents[1:] if self._flat else self._extents

    @property
    def dtype(self):
        """The dtype of the values."""
        return self.data.dtype

    @property
    def device(self):
        """The device of the values."""
        return self.data.device

    @property
    def nnz(self):
        """The number of stored elements, stored zeros included."""
        return self.data.shape[0]

    @property
    def size(self):
        """The same as nnz."""
        return self.nnz

    @property
    def T(self):
        """The transpose."""
        return self.transpose()

    @property
    def mT(self):
        """The transpose."""
        return self.transpose()

    @property
    def real(self):
        """The real parts."""
        return self._with_data(hd.real(self.data))

    @property
    def imag(self):
        """The imaginary parts."""
        return self._with_data(hd.imag(self.data))

    def conj(self, copy=True):
        """The complex conjugate; without copy, a real matrix itself."""
        if self.dtype.kind == "c":
            return self._with_data(hd.conj(self.data))
        return self.copy() if copy else self

    conjugate = conj

    def astype(self, dtype, casting="unsafe", copy=True):
        """The values cast to a dtype. Raises DTypeError for a cast that `casting` does not allow."""
        made = self.data.astype(dtype)
        if not hd.can_cast(self.dtype, made.dtype, casting):
            raise _heddle.DTypeError(f"astype: {self.dtype} cannot be cast to {made.dtype} by the rule "
                                     f"{casting!r}")
        return self if made.dtype == self.dtype and not copy else self._with_data(made)

    def copy(self):
        """The same elements in arrays of their own."""
        return self._like(*(_sparse.snapshot(getattr(self, name)) for name in self._arrays))

    def _with_data(self, data):
        """The same structure with other values; its indices are copies, as SciPy's are."""
        return self._like(data, *(_sparse.snapshot(getattr(self, name)) for name in self._arrays[1:]))

    def _class(self, format):
        return CLASSES[format, self._is_array]

    def asformat(self, format, copy=False):
        """The matrix in another format: "csr", "csc", "coo", "dia" or "bsr". Itself for None and its
        own. Raises ValueError for others."""
        if format is None or format == self.format:
            return self.copy() if copy else self
        if (format, self._is_array) not in CLASSES:
            raise ValueError(f"asformat: there is no format {format!r}")
        return getattr(self, "to" + format)(copy=copy)

    def tobsr(self, blocksize=None, copy=False):
        """Blocks of compressed rows."""
        return self._class("bsr")(self.tocsr(copy=copy), blocksize=blocksize)

    def __getattr__(self, name):
        if name in ("tolil", "todok"):
            raise AttributeError("hd.sparse has no formats whose elements are set one by one; "
                                 f"x.get().{name}() is SciPy's object")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def todia(self, copy=False):
        """Diagonals. Evaluates, and waits for their number."""
        return self.tocoo(copy=copy).todia(copy=False)

    def toarray(self, order=None, out=None):
        """The dense matrix, as an Array. Duplicates add up."""
        made = self.tocsr()._dense()
        if out is not None:
            if out.shape != made.shape or out.dtype != made.dtype:
                raise ValueError(f"toarray: out is {out.dtype}{list(out.shape)}, but the matrix is "
                                 f"{made.dtype}{list(made.shape)}")
            out[...] = made
            return out
        return made

    def todense(self, order=None, out=None):
        """The dense matrix, as an Array."""
        return self.toarray(order, out)

    def get(self):
        """The matrix as an object of scipy.sparse, in host memory, of the same class."""
        import scipy.sparse

        host = [hd.asnumpy(getattr(self, name)) for name in self._arrays]
        return self._to_scipy(getattr(scipy.sparse, type(self).__name__), *host)

    def transpose(self, axes=None, copy=False):
        """The transpose; it shares its arrays with this one unless copy is true."""
        if axes is not None and tuple(axes) not in ((1, 0), (-1, 0), (1, -2), (-1, -2)):
            raise ValueError(f"transpose: axes must be (1, 0), not {axes}")
        made = self._transposed()
        return made.copy() if copy else made

    def reshape(self, *shape, order="C", copy=False):
        """The elements in C order ("F": column by column) under another shape, in COO. One extent
        may be -1. Raises ValueError if the sizes differ."""
        return self.tocoo().reshape(*shape, order=order, copy=copy)

    def getformat(self):
        return self.format

    def __len__(self):
        raise TypeError("the length of a sparse matrix is ambiguous; use shape[0] or nnz")

    def __bool__(self):
        if self._extents == (1, 1):
            return bool(self.nnz != 0)
        raise ValueError("whether a matrix of several elements is true is ambiguous; use nnz")

    __hash__ = None

    def __repr__(self):
        kind = "array" if self._is_array else "matrix"
        return (f"<heddle.sparse.{type(self).__name__}: {kind} of {self.dtype}, shape "
                f"{tuple(self.shape)}, {self.nnz} stored elements>")

    def __str__(self):
        one = self.tocoo()
        lines = [f"  ({i}, {j})\t{value}" for i, j, value in
                 zip(one.row.tolist(), one.col.tolist(), one.data.tolist())]
        return "\n".join([repr(self), *lines])

    def __iter__(self):
        for i in range(self._extents[0]):
            yield self[i]


def issparse(x):
    """Whether x is a sparse matrix or array of heddle.sparse."""
    return isinstance(x, SparseBase)


def isspmatrix(x):
    """Whether x is of one of the classes whose names end in _matrix."""
    return isinstance(x, spmatrix)


def _kind(format):
    def test(x):
        return isinstance(x, spmatrix) and x.format == format

    test.__name__ = test.__qualname__ = f"isspmatrix_{format}"
    test.__doc__ = f"Whether x is a {format}_matrix."
    return test


isspmatrix_coo, isspmatrix_csr, isspmatrix_csc, isspmatrix_dia, isspmatrix_bsr = map(
    _kind, ("coo", "csr", "csc", "dia", "bsr"))


def from_scipy(x, is_array=None):
    """A sparse object of SciPy as one of heddle.sparse, in its format where there is one."""
    is_array = type(x).__name__.endswith("_array") if is_array is None else is_array
    if x.format not in ("csr", "csc", "coo", "dia", "bsr"):
        x = x.tocsr()
    return CLASSES[x.format, is_array](x)


def as_sparse(x, is_array=None):
    """x as a sparse matrix of heddle.sparse: one of SciPy is copied, anything else becomes COO."""
    if issparse(x):
        return x
    if _inputs.is_scipy(x):
        return from_scipy(x, is_array)
    return CLASSES["coo", bool(is_array)](x)
