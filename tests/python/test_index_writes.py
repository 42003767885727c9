"""Elements that index arrays select, written: on the CPU in place, without a program."""

import numpy as np
import pytest

import heddle as hd
from conftest import ON_CPU

SHAPES = [((11,), 1, (20,)), ((7, 9), 2, (30,)), ((7, 9), 1, (4,)), ((5, 4, 3), 2, (2, 6)), ((5, 4, 3), 3, ()),
          ((6, 2), 1, (0,))]


def subscripts(random, shape, axes, picked):
    """Positive and negative indices of the leading axes, with repetitions."""
    return tuple(random.integers(-extent, extent, picked) for extent in shape[:axes])


@pytest.mark.parametrize("dtype", ["float64", "complex128", "bool", "int16", "float16"])
@pytest.mark.parametrize("shape, axes, picked", SHAPES, ids=str)
def test_values_and_numbers(dtype, shape, axes, picked):
    random = np.random.default_rng(3)
    expected = (random.random(shape) * 9).astype(dtype)
    at = subscripts(random, shape, axes, picked)
    ours, ours_at = hd.asarray(expected), tuple(hd.asarray(index) for index in at)
    before, numbers = ours + 0, expected.copy()
    values = (random.random(expected[at].shape) * 9).astype("float32")
    for value in (values, values[..., :1] if values.ndim else values, values.astype("int8"), 3, np.float32(1.5)):
        ours[ours_at] = hd.asarray(value) if isinstance(value, np.ndarray) else value
        expected[at] = value
        np.testing.assert_array_equal(np.asarray(ours), expected)
        if values.ndim:
            ours[ours_at] += hd.asarray(values).astype(dtype) if dtype != "bool" else True
            expected[at] += values.astype(dtype) if dtype != "bool" else True
            np.testing.assert_array_equal(np.asarray(ours), expected)
    np.testing.assert_array_equal(np.asarray(before), numbers)


def test_who_holds_the_array_sees_the_write():
    expected = np.arange(12.0).reshape(3, 4)
    ours, rows = hd.asarray(expected), hd.asarray([2, 0])
    view, part, copy, pending = ours[1:], ours[:, ::2], ours.copy(), ours * 2
    numbers = expected.copy()
    ours[rows] = hd.ones((2, 4)) * 7
    expected[[2, 0]] = 7
    np.testing.assert_array_equal(np.asarray(view), expected[1:])
    np.testing.assert_array_equal(np.asarray(part), expected[:, ::2])
    np.testing.assert_array_equal(np.asarray(copy), numbers)
    np.testing.assert_array_equal(np.asarray(pending), numbers * 2)
    view[rows[1:]] = -1.0  # through a view
    expected[1:][[0]] = -1
    ours[rows] = ours[rows[::-1]]
    expected[[2, 0]] = expected[[0, 2]]
    np.testing.assert_array_equal(np.asarray(ours), expected)
    exported = np.from_dlpack(ours) if ON_CPU else hd.from_dlpack(ours)
    ours[rows, hd.asarray([1, 1])] = hd.asarray([40.0, 50.0])
    expected[[2, 0], [1, 1]] = [40, 50]
    np.testing.assert_array_equal(np.asarray(exported), expected)


def test_indices_that_are_the_array_itself():
    expected = np.array([3, 0, 1, 2, 2])
    ours = hd.asarray(expected).eval()
    ours[ours] = hd.arange(5)
    expected[expected.copy()] = np.arange(5)
    np.testing.assert_array_equal(np.asarray(ours), expected)
    ours[ours] = ours
    expected[expected.copy()] = expected.copy()
    np.testing.assert_array_equal(np.asarray(ours), expected)


def test_indices_outside():
    ours = hd.zeros(4).eval()
    with pytest.raises(IndexError):
        ours[[1, 4]] = 1.0
    ours[hd.asarray([1, 4, -5, -4]) + hd.asarray(0)] = hd.asarray([1.0, 2.0, 3.0, 4.0])  # unknown: no write
    np.testing.assert_array_equal(np.asarray(ours), [4, 1, 0, 0])
    with pytest.raises((hd.ShapeError, ValueError)):
        ours[hd.asarray([1, 2])] = hd.ones(3)
    with pytest.raises(ValueError):
        hd.broadcast_to(ours, (2, 4))[hd.asarray([1])] = 1.0


@pytest.mark.skipif(not ON_CPU, reason="a GPU records the write")
def test_no_program_runs():
    ours, rows, values = hd.zeros((50, 40)).eval(), hd.arange(8).eval(), hd.ones((8, 40)).eval()
    before = hd.statistics()
    for _ in range(3):
        ours[rows] = values
        ours[rows, rows] = 2.0
    after = hd.statistics()
    assert after["kernels_launched"] == before["kernels_launched"]
    assert after["pending_ops"] == before["pending_ops"]
    assert float(ours[3, 3]) == 2 and float(ours.sum()) == 8 * 40 + 8


def test_traced_functions_record_the_write():
    @hd.jit
    def written(x, rows, values):
        x[rows] = values
        return x

    x = np.zeros((5, 3))
    got = written(hd.asarray(x), hd.asarray([4, 1, 4]), hd.asarray(np.arange(9.0).reshape(3, 3)))
    x[[4, 1, 4]] = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(np.asarray(got), x)
