"""Functions that keep 0: they are computed from the stored values only."""

import heddle as hd

# numpy's functions f with f(0) = 0 that scipy.sparse has as methods.
NAMES = ("arcsin", "arcsinh", "arctan", "arctanh", "ceil", "deg2rad", "expm1", "floor", "log1p",
         "rad2deg", "rint", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc")


class Elementwise:
    """The methods of scipy.sparse that are functions of each value. Elements that are stored twice
    are added first, in place."""

    def __abs__(self):
        return self._with_data(hd.abs(self._deduplicated()))

    def __neg__(self):
        if self.dtype == hd.bool:
            raise NotImplementedError("the negative of a sparse matrix of bool is not defined")
        return self._with_data(-self.data)

    def __pos__(self):
        return self

    def __round__(self, ndigits=0):
        return self._with_data(hd.round(self._deduplicated(), ndigits))

    def power(self, n, dtype=None):
        """The stored values to the power n, which must not be 0. Raises NotImplementedError for 0 and
        ValueError for what is not a number."""
        if not isinstance(n, (int, float, complex)) and getattr(n, "shape", None) != ():
            raise NotImplementedError("power: the exponent must be a number")
        if not n:
            raise NotImplementedError("power: zero power is not supported as it would densify the "
                                      "matrix; use hd.ones(shape)")
        data = self._deduplicated()
        data = data if dtype is None else data.astype(dtype)
        return self._with_data(hd.square(data) if n == 2 else data ** n)

    def count_nonzero(self, axis=None):
        """The number of elements that are not 0, duplicates added: of all, as an int, or along an
        axis."""
        self._deduplicated()
        if axis is None:
            return int(hd.count_nonzero(self.data))
        return self._with_data((self.data != 0).astype(hd.int64))._counts(axis)

    def nonzero(self):
        """The rows and the columns of the elements that are not 0, as int32 (int64 for large
        matrices). Evaluates, and waits for their number."""
        one = (self.tocsr() if self.format in ("csc", "dia") else self).tocoo(copy=False)
        kept = one.data != 0
        return one.row[kept], one.col[kept]


def _method(name):
    function = getattr(hd, name)

    def method(self):
        return self._with_data(function(self._deduplicated()))

    method.__name__ = name
    method.__qualname__ = f"Elementwise.{name}"
    method.__doc__ = f"numpy.{name} of each element."
    return method


for _name in NAMES:
    setattr(Elementwise, _name, _method(_name))
