"""NumPy's own validation sets of elementwise functions, with the errors that NumPy allows itself.

HEDDLE_DEVICE says where they are computed. The sets are read from the installed NumPy."""

import csv
import os
import pathlib
import subprocess
import sys
from collections import defaultdict

import numpy as np
import pytest

import heddle as hd

SETS = {path.stem.split("-")[3]: path
        for path in (pathlib.Path(np.__file__).parent / "_core/tests/data").glob(
            "umath-validation-set-*.csv")}
WORDS = {"float32": np.uint32, "float64": np.uint64}


def rows_of(path):
    """Inputs, outputs and allowed errors in units in the last place, by dtype."""
    rows = defaultdict(list)
    lines = path.read_text().splitlines()[1:]
    for dtype, x, y, allowed in csv.reader(each for each in lines if each and each[0] not in "#$"):
        rows[dtype.removeprefix("np.")].append((int(x, 16), int(y, 16), int(allowed)))
    for dtype, some in rows.items():
        x, y, allowed = zip(*some)
        yield (dtype, np.array(x, WORDS[dtype]).view(dtype), np.array(y, WORDS[dtype]).view(dtype),
               np.array(allowed, WORDS[dtype]))


def steps_between(a, b):
    """Numbers from a to b: infinity stands behind the last, zeros are one, and so are NaNs."""
    words = WORDS[a.dtype.name]
    top = words(1) << words(a.itemsize * 8 - 1)

    def ordered(x):
        bits = x.view(words)
        return np.where(bits & top, top - (bits & ~top), top + bits)

    p, q = ordered(a), ordered(b)
    return np.where(np.isnan(a) & np.isnan(b), words(0), np.where(p > q, p - q, q - p))


def test_the_sets_are_there():
    assert len(SETS) >= 20
    assert sum(len(x) for path in SETS.values() for _, x, _, _ in rows_of(path)) >= 26000


@pytest.mark.parametrize("name", sorted(SETS))
def test_errors_are_those_that_numpy_allows_itself(name):
    for dtype, x, expected, allowed in rows_of(SETS[name]):
        result = np.asarray(getattr(hd, name)(hd.asarray(x)))
        assert result.dtype == dtype
        steps = steps_between(result, expected)
        wrong = steps > allowed
        assert not wrong.any(), (f"{name} of {dtype}: {wrong.sum()} of {wrong.size} rows, as of "
                                 f"{float(x[wrong][0]).hex()}: {steps[wrong][0]} units")


@pytest.mark.skipif("HEDDLE_CXX" in os.environ, reason="the child's own run")
def test_without_a_compiler_functions_are_as_accurate():
    """The interpreter has the functions of GPUs, which kernels of the CPU take from libmvec."""
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
                         env={**os.environ, "HEDDLE_CXX": "/nowhere/cc", "HEDDLE_DEVICE": "cpu"},
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-4000:]
