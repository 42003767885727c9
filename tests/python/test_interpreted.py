"""Without a C++ compiler programs are interpreted: one program for many extents as well."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import check

import heddle as hd

INTERPRETED = os.environ.get("HEDDLE_CXX") == "/nowhere/cc"


def written(x):
    x[::2] = 0
    return x


def increased(x, mask):
    x[mask] += 1
    return x


SHAPES = [(3, 4), (2, 3), (7, 3), (3, 3), (8, 1), (4, 1)]
FUNCTIONS = {
    "trace": lambda xp, x: x.trace(),
    "diagonal": lambda xp, x: x.diagonal(),
    "slice": lambda xp, x: x[::2],
    "reversed": lambda xp, x: x[::-2],
    "written": lambda xp, x: written(x),
    "split": lambda xp, x: xp.array_split(x, 3)[1],
    "compress": lambda xp, x: xp.compress(xp.asarray([True, False]), x, axis=0),
    "repeat": lambda xp, x: xp.repeat(x, 2, axis=0),
    "picked": lambda xp, x: x[x >= 0],
    "some picked": lambda xp, x: x[x % 2 == 0],
    "increased": lambda xp, x: increased(x, x % 2 == 0),
}


@pytest.mark.skipif(not INTERPRETED, reason="the child of the test below")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_changing_extents(name):
    for shape in SHAPES:
        a = np.arange(float(np.prod(shape))).reshape(shape)
        check(FUNCTIONS[name](hd, hd.asarray(a)), FUNCTIONS[name](np, a))


@pytest.mark.skipif(INTERPRETED, reason="the child's own run")
def test_without_a_compiler():
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
                         env={**os.environ, "HEDDLE_CXX": "/nowhere/cc", "HEDDLE_DEVICE": "cpu"},
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-4000:]
