"""Places that a mask selects, of every length around the eights and pieces in which they are counted."""

import numpy as np
import pytest

import heddle as hd

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
