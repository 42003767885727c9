"""NumPy's rules for the number of equal-width bins: the strings for histogram's `bins`."""

import math

from heddle import _heddle


def _spread(x):
    """The difference of the greatest and the least element, and the number of elements."""
    return _heddle.max(x).item() - _heddle.min(x).item(), x.size


def _sqrt(x, range=None):
    spread, count = _spread(x)
    return spread / math.sqrt(count)


def _sturges(x, range=None):
    spread, count = _spread(x)
    return spread / (math.log2(count) + 1)


def _rice(x, range=None):
    spread, count = _spread(x)
    return spread / (2 * count ** (1 / 3))


def _scott(x, range=None):
    return (24 * math.sqrt(math.pi) / x.size) ** (1 / 3) * _heddle.std(x).item()


def _doane(x, range=None):
    spread, count = _spread(x)
    deviation = _heddle.std(x).item()
    if count <= 2 or deviation == 0:
        return 0
    skewness = _heddle.mean(((x - _heddle.mean(x)) / deviation) ** 3).item()
    expected = math.sqrt(6 * (count - 2) / ((count + 1) * (count + 3)))
    return spread / (1 + math.log2(count) + math.log2(1 + abs(skewness) / expected))


def _fd(x, range=None):
    low, high = _heddle.percentile(x, _heddle.asarray([25, 75])).tolist()
    return 2 * (high - low) / x.size ** (1 / 3)


def _auto(x, range=None):
    return min(max(_fd(x), _sqrt(x) / 2), _sturges(x))


def _stone(x, range=None):
    """The number with the least estimated error, from 1 to the root of the count, or to 100."""
    import numpy

    spread, count = _spread(x)
    if count <= 1 or spread == 0:
        return 0
    values = _heddle.asnumpy(x)

    def error(bins):
        shares = numpy.histogram(values, bins, range)[0] / count
        return (2 - (count + 1) * shares.dot(shares)) * bins / spread

    return spread / min(numpy.arange(1, max(100, int(math.sqrt(count))) + 1), key=error)


_WIDTHS = {"auto": _auto, "doane": _doane, "fd": _fd, "rice": _rice, "scott": _scott, "sqrt": _sqrt,
           "stone": _stone, "sturges": _sturges}


def number(rule, a, range, has_weights):
    """The number of bins that a rule gives. Evaluates and waits. Raises ValueError for an unknown
    rule, and TypeError for data with weights."""
    if rule not in _WIDTHS:
        raise ValueError(f"histogram: unknown rule for bins '{rule}'; use one of "
                         f"{', '.join(sorted(_WIDTHS))}")
    if has_weights:
        raise TypeError("histogram: rules for bins do not support weights")
    x = _heddle.ravel(_heddle.asarray(a))
    x = x.astype(_heddle.uint8) if x.dtype.kind == "b" else x
    if range is not None:
        low, high = map(float, range)
        x = x[(x >= low) & (x <= high)]
    if x.size == 0:
        return 1
    if range is None:
        low, high = float(_heddle.min(x)), float(_heddle.max(x))
    if low == high:
        low, high = low - 0.5, high + 0.5
    width = _WIDTHS[rule](x, range)
    if width and x.dtype.kind in "iu":
        width = max(width, 1)
    return math.ceil((high - low) / width) if width else 1
