"""Dtypes and shapes of results over all dtypes of operands, and of several together. Nothing is
computed."""

import itertools

import numpy as np
import pytest
from cases import Case
from function_table import rows
from operands import DTYPES, SHAPES, Operands

import heddle as hd

# Rows whose own dtypes are a choice of this library: they name it in `deviates`, or NumPy lacks
# them and cases.py makes their reference of several functions. piecewise calls its functions where
# no condition holds, too.
OWN_RULE = {"logcumsumexp", "logsumexp", "percentile", "quantile", "nanpercentile", "nanquantile",
            "piecewise", "rsqrt", "sinc"}
RECORDED = [row for row in rows().values()
            if row.python_name and row.calls and row.name not in OWN_RULE
            and not (row.kernel or "").startswith("evaluates")]


@pytest.fixture(autouse=True)
def nothing_runs():
    """Cases are recorded only."""
    before = hd.auto_eval(False)
    yield
    hd.auto_eval(before)


def type_of(result):
    """What is compared: dtypes and shapes, and whether there is a result."""
    if isinstance(result, Exception):
        return "an exception"
    if isinstance(result, hd.DType | np.dtype):
        return str(result)
    if isinstance(result, (list, tuple)):
        return [type_of(each) for each in result]
    if hasattr(result, "dtype"):
        return f"{result.dtype}{list(result.shape)}"
    return type(result).__name__


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: row.name)
def test_results_have_numpys_dtype(row):
    shape = eval(row.shapes[0]) if row.shapes else SHAPES[0]  # noqa: S307: our own table
    failures = []
    for call, dtype in itertools.product(row.calls, DTYPES):
        case = Case(row, call, Operands(dtype, shape, "contiguous", row.domain))
        if case.used() or dtype == DTYPES[0]:
            got, want = type_of(case.heddle()), type_of(case.numpy())
            if got != want:
                failures.append(f"{case}: got {got}, NumPy {want}")
    assert not failures, "\n".join(failures)


def test_three_dtypes_promote_as_numpys():
    weak = (True, 3, 0.5, 1j)
    failures = []
    for given in itertools.combinations_with_replacement((*DTYPES, *weak), 3):
        for order in {given, given[::-1], (given[1], given[0], given[2])}:
            want = str(np.result_type(*order))
            of_dtypes = [getattr(hd, each) if isinstance(each, str) else each for each in order]
            got = {str(hd.result_type(*of_dtypes))}
            if all(isinstance(each, str) for each in order):
                parts = [hd.zeros((1,), dtype=each) for each in order]
                got |= {str(join(parts).dtype) for join in (hd.concat, hd.stack, hd.hstack)}
            if got != {want}:
                failures.append(f"{order}: got {got}, NumPy {want}")
    assert not failures, f"{len(failures)}: " + "\n".join(failures[:20])
