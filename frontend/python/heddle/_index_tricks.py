"""numpy.s_, index_exp, r_ and c_: subscripts as values, and arrays joined by subscripts."""

from heddle import _heddle
from heddle._grids import mgrid


class _IndexExpression:
    """Returns its subscript unchanged; index_exp always returns a tuple."""

    def __init__(self, name, as_tuple):
        self._name, self._as_tuple = name, as_tuple

    def __getitem__(self, key):
        return (key,) if self._as_tuple and not isinstance(key, tuple) else key

    def __repr__(self):
        return f"heddle.{self._name}"


class _Joined:
    """Joins its subscripts along an axis: slices as in mgrid, numbers, sequences and Arrays. A
    leading string "axis,ndmin,place" gives the axis, the minimum rank, and where added axes of
    extent 1 go, as in NumPy."""

    def __init__(self, name, axis, ndmin, place):
        self._name, self._rule = name, (axis, ndmin, place)

    def __getitem__(self, key):
        entries = key if isinstance(key, tuple) else (key,)
        axis, ndmin, place = self._rule
        if entries and isinstance(entries[0], str):
            axis, ndmin, place = _rule_of(entries[0], self._rule)
            entries = entries[1:]
        if not entries:
            raise ValueError(f"{self._name}: there are no arrays to join")
        dtype = _heddle.result_type(*map(_typed, entries))
        parts = [_raised(entry, ndmin, place) for entry in entries]
        return _heddle.concatenate([part.astype(dtype) for part in parts], axis)

    def __len__(self):
        return 0

    def __repr__(self):
        return f"heddle.{self._name}"


def _rule_of(text, otherwise):
    """The numbers in the string; missing ones are taken from `otherwise`."""
    try:
        numbers = [int(each) for each in text.split(",")]
        if not 1 <= len(numbers) <= 3:
            raise ValueError
    except ValueError:
        raise ValueError(f"r_: the directive must be 'axis', 'axis,ndmin' or 'axis,ndmin,place', not "
                         f"{text!r}; matrices ('r', 'c') are not supported") from None
    return tuple(numbers + list(otherwise[len(numbers):]))


def _values(entry):
    """The Array of one subscript, and whether it comes from a slice or a number, which is 1-d."""
    if isinstance(entry, slice):
        return mgrid[entry], True
    values = _heddle.asarray(entry)
    return (values.reshape(1), True) if values.ndim == 0 else (values, False)


def _typed(entry):
    """The operand for the common dtype; numbers are weak."""
    return entry if isinstance(entry, (bool, int, float, complex)) else _values(entry)[0]


def _raised(entry, ndmin, place):
    """The entry with at least ndmin dimensions. Its own dimensions start at `place`, counted from
    the end if negative, as in numpy.r_."""
    values, _ = _values(entry)
    missing = ndmin - values.ndim
    if missing <= 0:
        return values
    front = place if place >= 0 else missing + 1 + place
    if not 0 <= front <= missing:
        front = min(max(front, 0), missing)
    return values.reshape((1,) * front + values.shape + (1,) * (missing - front))


s_ = _IndexExpression("s_", as_tuple=False)
index_exp = _IndexExpression("index_exp", as_tuple=True)
r_ = _Joined("r_", 0, 1, -1)
c_ = _Joined("c_", -1, 2, 0)
