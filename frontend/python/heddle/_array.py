"""The parts of numpy.ndarray that are objects of their own: flat, flags and annotations."""

import operator
import types

from heddle import _heddle


class flatiter:
    """numpy.flatiter: iterates over the elements of an array in C order, for reading and
    writing."""

    __hash__ = None

    def __init__(self, base):
        self._base, self._index = base, 0

    @property
    def base(self):
        """The array that is iterated over."""
        return self._base

    @property
    def index(self):
        """Number of elements that next() has returned."""
        return self._index

    @property
    def coords(self):
        """The index along each axis of the element that next() will return."""
        return self._coords(self._index)

    def _coords(self, place):
        coords = []
        for extent in reversed(self._base.shape):
            coords.append(place % extent if extent else 0)
            place //= extent or 1
        return tuple(reversed(coords))

    def __len__(self):
        return self._base.size

    def __iter__(self):
        return self

    def __next__(self):
        if self._index >= self._base.size:
            raise StopIteration
        coords = self.coords
        self._index += 1
        return self._base[coords]

    def __getitem__(self, key):
        return self._base.flatten()[_flat_key(key)]

    def __setitem__(self, key, value):
        """Writes the values, repeated as needed, as in numpy.put."""
        key, size = _flat_key(key), self._base.size
        places = _heddle.arange(size)[key]
        values = _heddle.asarray(value)
        if values.size == 0:
            if places.size == 0:
                return
            raise ValueError("flat: there are no values to write")
        flat = self._base.flatten()
        if values.ndim == 0 or places.size == 0:
            flat[key] = value if values.ndim == 0 else values[:0]
        else:
            flat[key] = _heddle.resize(values, places.shape)
        self._base[...] = flat.reshape(self._base.shape)

    def copy(self):
        """The elements as a 1-d array."""
        return self._base.flatten()

    def __array__(self, dtype=None, copy=None):
        return self._base.flatten().__array__(dtype)

    def __repr__(self):
        return f"<heddle.flatiter of {self._base.size} elements>"


def _flat_key(key):
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    if isinstance(key, tuple) or key is None:
        raise _heddle.IndexError("flat: the index must be an integer, a slice, an array of indices or a mask")
    return key


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    def _compare(self, other, _compare=getattr(operator, _name)):
        return _compare(self.copy(), other.copy() if isinstance(other, flatiter) else other)

    setattr(flatiter, f"__{_name}__", _compare)


class flagsobj:
    """numpy.ndarray.flags: properties of an array's memory, and whether it may be written."""

    _NAMES = {"C_CONTIGUOUS": "c_contiguous", "C": "c_contiguous", "CONTIGUOUS": "c_contiguous",
              "F_CONTIGUOUS": "f_contiguous", "F": "f_contiguous", "FORTRAN": "f_contiguous",
              "OWNDATA": "owndata", "O": "owndata", "WRITEABLE": "writeable", "W": "writeable",
              "ALIGNED": "aligned", "A": "aligned", "WRITEBACKIFCOPY": "writebackifcopy",
              "X": "writebackifcopy", "FNC": "fnc", "FORC": "forc", "BEHAVED": "behaved",
              "B": "behaved", "CARRAY": "carray", "CA": "carray", "FARRAY": "farray", "FA": "farray"}

    def __init__(self, array):
        self._array = array

    c_contiguous = contiguous = property(lambda self: self._array._c_ordered)
    f_contiguous = fortran = property(lambda self: self._array._fortran_ordered)
    owndata = property(lambda self: self._array._owns)
    aligned = property(lambda self: True)
    writebackifcopy = property(lambda self: False)
    fnc = property(lambda self: self.f_contiguous and not self.c_contiguous)
    forc = property(lambda self: self.f_contiguous or self.c_contiguous)
    behaved = property(lambda self: self.writeable)
    carray = property(lambda self: self.writeable and self.c_contiguous)
    farray = property(lambda self: not self.c_contiguous)  # as NumPy answers

    @property
    def writeable(self):
        return self._array._writable

    @writeable.setter
    def writeable(self, value):
        self._array.setflags(write=value)

    def __getitem__(self, name):
        if name not in self._NAMES:
            raise KeyError(f"unknown flag {name!r}")
        return getattr(self, self._NAMES[name])

    def __setitem__(self, name, value):
        if self._NAMES.get(name) != "writeable":
            raise KeyError(f"the flag {name!r} cannot be set; only WRITEABLE can")
        self.writeable = value

    def __eq__(self, other):
        return isinstance(other, flagsobj) and str(self) == str(other)

    __hash__ = None

    def __repr__(self):
        names = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED",
                 "WRITEBACKIFCOPY")
        return "".join(f"  {name} : {self[name]}\n" for name in names)


def _set_flat(self, value):
    flatiter(self)[:] = value


def _to_dlpack(self):
    """A DLPack capsule of the memory, for the next consumer: cupy.ndarray.toDlpack. Most libraries take
    the Array itself."""
    return self.__dlpack__()


def install():
    _to_dlpack.__name__, _to_dlpack.__qualname__ = "toDlpack", "Array.toDlpack"
    _heddle.Array.toDlpack = _to_dlpack
    _heddle.Array.flat = property(flatiter, _set_flat, doc="The elements in C order: numpy.ndarray.flat.")
    _heddle.Array.flags = property(flagsobj, doc="Properties of the memory: numpy.ndarray.flags.")
    _heddle.Array.__class_getitem__ = classmethod(types.GenericAlias)  # for annotations
