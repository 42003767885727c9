"""Every row of the table of functions against NumPy, over dtypes, shapes, layouts and bad calls."""

import pytest
from cases import check_bad, check_calls
from function_table import rows

import heddle as hd

CALLED = [row for row in rows().values() if row.python_name and row.calls]


@pytest.fixture(autouse=True)
def nothing_runs_early():
    """Cases are recorded, then computed together."""
    before = hd.auto_eval(False)
    yield
    hd.auto_eval(before)


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_as_numpy(row):
    failures = check_calls(row)
    assert not failures, "\n".join(failures[:8]) + f"\n{len(failures)} in all"


@pytest.mark.parametrize("row", [row for row in CALLED if row.bad], ids=lambda row: row.name)
def test_bad_arguments(row):
    failures = check_bad(row)
    assert not failures, "\n".join(failures[:8]) + f"\n{len(failures)} in all"
