"""numpy.mgrid and numpy.ogrid: coordinate grids made from slices."""

import builtins
import math

from heddle import _heddle


def _along(key):
    """The coordinates that one slice denotes, as a 1-d Array."""
    start, stop = (0, key.start) if key.stop is None else (key.start or 0, key.stop)
    step = 1 if key.step is None else key.step
    if isinstance(step, complex):
        count = int(builtins.abs(step))
        spacing = (stop - start) / (count - 1) if count > 1 else step.real + 1.0
        return _heddle.arange(count, dtype=_heddle.float64) * float(spacing) + start
    is_float = any(isinstance(value, float) for value in (start, stop, step))
    count = builtins.max(math.ceil((stop - start) / step), 0)
    places = _heddle.arange(count, dtype=_heddle.float64 if is_float else _heddle.int64)
    return places * step + start


class _Grid:
    """Takes one slice for each dimension. A step of n * 1j means n points, including stop."""

    def __init__(self, name, sparse):
        self._name, self._sparse = name, sparse

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _along(key)
        vectors = [_along(each) for each in key]
        floats = any(v.dtype == _heddle.float64 for v in vectors)
        vectors = [v.astype(_heddle.float64) if floats else v for v in vectors]
        grids = _heddle.meshgrid(*vectors, sparse=self._sparse, indexing="ij")
        return tuple(grids) if self._sparse else _heddle.stack(grids)

    def __repr__(self):
        return f"heddle.{self._name}"


mgrid = _Grid("mgrid", sparse=False)
ogrid = _Grid("ogrid", sparse=True)
