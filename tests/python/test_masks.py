"""Places that a mask selects, of every length around the eights and pieces in which they are counted."""

import numpy as np
import pytest

import heddle as hd
from conftest import ON_CPU

LENGTHS = [*range(0, 20), 63, 255 * 8, 255 * 8 + 9, 2**18 - 3, 2**18, 2**18 + 5, 3 * 2**18 + 1]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("length", LENGTHS)
def test_places_of_a_mask(length, share):
    random = np.random.default_rng(length)
    mask = random.random(length) < share
    values = random.random(length)
    places = hd.nonzero(hd.asarray(mask))[0]
    assert places.dtype == np.int64
    np.testing.assert_array_equal(np.asarray(places), np.nonzero(mask)[0])
    np.testing.assert_array_equal(np.asarray(hd.asarray(values)[hd.asarray(mask)]), values[mask])


@pytest.mark.parametrize("shape", [(), (1,), (3, 0, 2), (7, 9), (5, 1, 6, 3)])
def test_places_of_masks_with_axes(shape):
    numbers = np.random.default_rng(0).integers(-1, 2, shape)
    ours = hd.asarray(numbers)
    for pending in (ours, ours.T, ours[..., None][..., 0]):
        host = np.asarray(pending)
        if host.ndim:
            for found, expected in zip(hd.nonzero(pending), np.nonzero(host), strict=True):
                np.testing.assert_array_equal(np.asarray(found), expected)
        np.testing.assert_array_equal(np.asarray(hd.argwhere(pending)), np.argwhere(host))
        np.testing.assert_array_equal(np.asarray(pending[pending != 0]), host[host != 0])


def test_a_slice_of_a_mask_and_a_mask_of_other_true_bytes():
    mask = np.random.default_rng(1).random((40, 50)) < 0.3
    part = hd.asarray(mask)[3:33:2, 7:]
    np.testing.assert_array_equal(np.asarray(hd.flatnonzero(part)), np.flatnonzero(mask[3:33:2, 7:]))
    odd = np.array([0, 2, 128, 255, 0, 1, 64, 0, 3, 0, 16], np.uint8)
    np.testing.assert_array_equal(np.asarray(hd.flatnonzero(hd.asarray(odd))), np.flatnonzero(odd))
    np.testing.assert_array_equal(np.asarray(hd.flatnonzero(hd.asarray(odd.view(bool)))), np.flatnonzero(odd))


SELECTED = [("float64", (31, 17), 2), ("complex128", (31, 17), 2), ("bool", (40,), 1), ("int16", (9, 5, 7), 1),
            ("float32", (6, 4, 3), 2), ("float16", (2**18 + 9,), 1)]


@pytest.mark.parametrize("dtype, shape, axes", SELECTED, ids=str)
def test_values_of_a_mask_are_read_and_written(dtype, shape, axes):
    random = np.random.default_rng(2)
    numbers = (random.random(shape) * 9).astype(dtype)
    mask = random.random(shape[:axes]) < 0.4
    ours, flags = hd.asarray(numbers), hd.asarray(mask)
    np.testing.assert_array_equal(np.asarray(ours[flags]), numbers[mask])
    pending, before = ours * 1, ours + 0  # before the write, and read after it
    ours[flags] = ours[flags][::-1]
    expected = numbers.copy()
    expected[mask] = numbers[mask][::-1]
    np.testing.assert_array_equal(np.asarray(ours), expected)
    for old in (pending, before):
        np.testing.assert_array_equal(np.asarray(old), numbers)
    small = numbers.real.astype("int8")
    ours[flags] = hd.asarray(small)[flags]  # cast
    expected[mask] = small[mask]
    np.testing.assert_array_equal(np.asarray(ours), expected)


def test_who_holds_an_array_sees_what_a_mask_writes():
    numbers = np.arange(12.0).reshape(3, 4)
    mask = numbers % 3 == 1
    ours, flags = hd.asarray(numbers).eval(), hd.asarray(mask).eval()
    view, copy, part = ours[1:], ours.copy(), ours[:, ::2]
    held = float(view[0, 0])
    ours[flags] = -hd.arange(4.0)
    expected = numbers.copy()
    expected[mask] = -np.arange(4.0)
    assert held == 4
    np.testing.assert_array_equal(np.asarray(view), expected[1:])
    np.testing.assert_array_equal(np.asarray(part), expected[:, ::2])
    np.testing.assert_array_equal(np.asarray(copy), numbers)
    part[flags[:, ::2]] = hd.asarray([7.0, 8.0])  # through a view
    expected[:, ::2][mask[:, ::2]] = [7.0, 8.0]
    np.testing.assert_array_equal(np.asarray(ours), expected)
    exported = np.from_dlpack(ours) if ON_CPU else hd.from_dlpack(ours)
    ours[flags] = hd.arange(4.0)
    expected[mask] = np.arange(4.0)
    np.testing.assert_array_equal(np.asarray(exported), expected)


def test_a_mask_writes_itself():
    mask = np.array([True, False, True, True])
    ours = hd.asarray(mask).eval()
    ours[ours] = hd.asarray([False, True, False])
    mask[mask] = [False, True, False]
    np.testing.assert_array_equal(np.asarray(ours), mask)


def test_values_that_do_not_fit_a_mask():
    ours = hd.arange(6.0).eval()
    flags = (ours > 2).eval()
    for wrong in (hd.ones(2), hd.ones(4), hd.ones((3, 3))):
        with pytest.raises((hd.ShapeError, ValueError)):
            ours[flags] = wrong
    ours[flags] = hd.ones(1) * 5  # broadcast
    np.testing.assert_array_equal(np.asarray(ours), [0, 1, 2, 5, 5, 5])
    with pytest.raises(ValueError):
        hd.broadcast_to(ours, (2, 6))[hd.ones((2, 6), dtype=bool)] = hd.ones(12)
