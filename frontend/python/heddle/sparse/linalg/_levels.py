"""Triangular solves by levels, for factors whose structure is known on the host.

Rows that do not need each other form a level; a level needs the levels before it. Rows are sorted by
level, and a loop on the device computes windows of consecutive rows. A window is not wider than needed
for short levels, and long levels take several windows. All windows have the same number of rows, so the
last window of a level may reach into the next level. These rows are computed again when it is their
turn, and no row reads them before.
"""

import heddle as hd
from heddle import _heddle

_sparse = _heddle._sparse

# What a step of the loop costs, in elements that could be computed in the same time.
_STEP_COST = {"cpu": 4096, "cuda": 65536}
_WIDTHS = [2**k for k in range(11)]


def _ranges(begins, lengths):
    """begins[i] .. begins[i] + lengths[i] - 1 for each i, in one array."""
    import numpy as np

    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if ends.size else 0) + np.repeat(begins - ends + lengths, lengths)


def _levels_of(rows):
    """The rows sorted by level, and where each level begins; `rows` is SciPy's CSR without a
    diagonal."""
    import numpy as np

    columns = rows.tocsc()
    waiting = np.diff(rows.indptr)
    ready = np.flatnonzero(waiting == 0)
    levels, begins = [], [0]
    while ready.size:
        levels.append(ready)
        begins.append(begins[-1] + ready.size)
        first = columns.indptr[ready]
        freed = columns.indices[_ranges(first, columns.indptr[ready + 1] - first)]
        np.subtract.at(waiting, freed, 1)
        ready = np.unique(freed[waiting[freed] == 0])
    return np.concatenate(levels), np.asarray(begins)


def _windows(begins, indptr, step_cost):
    """(width, first row of each window) with the least estimated time."""
    import numpy as np

    best = None
    for width in _WIDTHS:
        counts = -(-np.diff(begins) // width)
        starts = _ranges(np.zeros_like(counts), counts) * width + np.repeat(begins[:-1], counts)
        elements = indptr[np.minimum(starts + width, begins[-1])] - indptr[starts]
        cost = starts.size * step_cost + elements.sum()
        if best is None or cost < best[0]:
            best = cost, width, starts
    return best[1:]


class TriangularSolver:
    """Solves systems with one triangular matrix, lower or upper, that SciPy has as CSR. A diagonal of
    ones need not be stored if `unit` is true."""

    def __init__(self, matrix, device, unit=False):
        import numpy as np
        import scipy.sparse

        n = matrix.shape[0]
        row = np.repeat(np.arange(n), np.diff(matrix.indptr))
        off = matrix.indices != row
        strict = scipy.sparse.csr_array((matrix.data[off], (row[off], matrix.indices[off])), (n, n))
        order, begins = _levels_of(strict)
        place = np.empty_like(order)
        place[order] = np.arange(n)
        sorted_rows = strict[order]
        step_cost = _STEP_COST[device.split(":")[0]]
        self._width, starts = _windows(begins, sorted_rows.indptr, step_cost)
        diagonal = np.ones(n, matrix.dtype) if unit else matrix.diagonal()[order]
        padding = (0, self._width)
        self._device, self._cached = device, None
        self._host = {"data": sorted_rows.data, "indices": place[sorted_rows.indices],
                      "indptr": np.pad(sorted_rows.indptr, padding, mode="edge"),
                      "diagonal": np.pad(diagonal, padding, constant_values=1),
                      "order": order, "place": place, "starts": starts}

    def _arrays(self):
        """The arrays on the device. Those that are made inside a trace belong to it."""
        if self._cached is not None:
            return self._cached
        arrays = {name: hd.asarray(value, device=self._device) for name, value in self._host.items()}
        if not _sparse.is_tracing():
            self._cached = arrays
        return arrays

    def solve(self, b):
        """The solution for b, [n] or [n, k]."""
        a, n, width = self._arrays(), b.shape[0], self._width
        padding = hd.zeros((width, *b.shape[1:]), dtype=b.dtype)
        b = hd.concatenate([b[a["order"]], padding])
        diagonal = a["diagonal"] if b.ndim == 1 else a["diagonal"][:, None]
        data = a["data"] if b.ndim == 1 else a["data"][:, None]

        def window(x, start, rows=width):
            return hd.dynamic_slice_in_dim(x, start, rows)

        def step(k, x):
            start = a["starts"][k]
            sums = _sparse.segment_sum(data * x[a["indices"]], window(a["indptr"], start, width + 1))
            values = (window(b, start) - sums) / window(diagonal, start)
            return hd.dynamic_update_slice_in_dim(x, values, start, 0)

        return hd.fori_loop(0, a["starts"].shape[0], step, hd.zeros_like(b))[a["place"]]
