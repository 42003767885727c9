"""Numba's functions on the CPU, which read and write the memory of Arrays."""

import numpy as np
import pytest

import heddle as hd

numba = pytest.importorskip("numba")
pytestmark = pytest.mark.usefixtures("on_host")


@numba.njit
def total(values):
    result = 0.0
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            result += values[row, column]
    return result


@numba.njit
def increment(values):
    for i in range(values.shape[0]):
        values[i] += 1


def test_elements_are_read_where_they_are():
    x = hd.arange(6.0).reshape(2, 3)
    assert total(np.asarray(x)) == total(memoryview(x)) == 15
    assert total(np.asarray(x.T)) == 15
    assert np.asarray(x).ctypes.data == np.asarray(memoryview(x)).ctypes.data


def test_elements_are_written():
    x = hd.arange(4.0)
    before = x * 1
    increment(np.from_dlpack(x))
    assert x.tolist() == [1, 2, 3, 4]
    assert before.tolist() == [0, 1, 2, 3]
    with pytest.raises(Exception, match="(?i)read.?only|Cannot modify"):
        increment(np.asarray(x))
    assert x.tolist() == [1, 2, 3, 4]


def test_ufuncs_of_numba_take_arrays():
    @numba.vectorize
    def twice(a, b):
        return 2 * a + b

    x = hd.arange(3.0)
    result = twice(x, x)
    assert isinstance(result, np.ndarray)
    assert result.tolist() == [0, 3, 6]
