"""Orders and strides of elements in memory, as NumPy has them."""

import numpy as np
import pytest
from conftest import check

import heddle as hd

VIEWS = {
    "broadcast": lambda xp: xp.broadcast_to(xp.arange(2.0)[:, None], (2, 2, 2)),
    "broadcast transpose": lambda xp: xp.broadcast_to(
        xp.arange(6).reshape(2, 3).T[:, None], (3, 4, 2)),
    "transpose": lambda xp: xp.arange(24).reshape(2, 3, 4).transpose(2, 0, 1),
    "reversed": lambda xp: xp.arange(8).reshape(2, 2, 2)[:, ::-1].transpose(2, 0, 1),
    "stepped": lambda xp: xp.arange(24).reshape(4, 6)[::2, ::3].T,
    "all equal": lambda xp: xp.broadcast_to(xp.asarray(3), (2, 3)),
    "broadcast twice": lambda xp: xp.broadcast_to(
        xp.broadcast_to(xp.arange(6).reshape(3, 2).T[:, None], (2, 2, 3))[..., None], (2, 2, 3, 2)),
}


@pytest.mark.parametrize("order", ["K", "C", "F", "A"])
@pytest.mark.parametrize("view", VIEWS)
def test_ravel_and_flatten(view, order):
    theirs, ours = VIEWS[view](np), VIEWS[view](hd)
    check(hd.ravel(ours, order=order), np.ravel(theirs, order=order))
    check(ours.flatten(order), theirs.flatten(order))
    assert ours.tobytes(order) == theirs.tobytes(order)


@pytest.mark.parametrize("view", [
    lambda xp: xp.zeros((0, 3)), lambda xp: xp.zeros((3, 0, 2)), lambda xp: xp.zeros((0, 3)).T,
    lambda xp: xp.zeros((4, 3))[:0], lambda xp: xp.zeros((4, 0)).reshape(0, 7),
    lambda xp: xp.zeros(0), lambda xp: xp.zeros((1, 1))])
def test_strides_of_arrays_without_elements(view):
    assert view(hd).strides == view(np).strides
