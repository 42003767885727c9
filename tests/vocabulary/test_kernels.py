"""What the table of functions says about kernels: those that fuse are one kernel for each result,
with the elementwise work before them in it."""

from operator import attrgetter

import numpy as np
import pytest
from cases import Case, arrays_in
from function_table import rows
from operands import SETS, SHAPES, Operands

import heddle as hd

FUSING = [row for row in rows().values()
          if row.python_name and row.calls and row.kernel != ""
          and not (row.kernel or "").startswith("evaluates")]


def pending(array):
    """The same values, still to be computed."""
    return array if array.dtype.kind != "f" else hd.add(array, hd.zeros_like(array))


def results(row):
    """The arrays of the row's first call that NumPy would take."""
    is_view = row.kernel == "view"
    for call in row.calls:
        for dtype in SETS[row.dtypes]:
            operands = Operands(dtype, SHAPES[0], "contiguous", row.domain)

            def operand(name, operands=operands):
                return operands.heddle(name) if is_view else pending(operands.heddle(name))

            got = Case(row, call, operands).run(hd, attrgetter(row.python_name)(hd), operand)
            if not isinstance(got, Exception):
                return [pending(array) if is_view else array for array in arrays_in(got)]
    raise AssertionError(f"no call of {row.name} works")


@pytest.mark.parametrize("row", FUSING, ids=lambda row: row.name)
def test_kernels(row):
    with np.errstate(all="ignore"):
        arrays = results(row)
    before = hd.statistics()["kernels_launched"]
    hd.eval(*arrays)
    kernels = hd.statistics()["kernels_launched"] - before
    if (row.kernel or "fuses") in ("fuses", "view"):
        assert kernels <= len(arrays)
    else:
        assert kernels > 0
