"""einops, whose module for the array API standard takes Arrays."""

import numpy as np
import pytest
from conftest import check, neighbour

import heddle as hd

einops = neighbour("einops")
ours = neighbour("einops.array_api")
pytestmark = pytest.mark.usefixtures("on_host")
IMAGES = np.arange(2 * 4 * 6 * 3.0).reshape(2, 4, 6, 3)


@pytest.mark.parametrize("pattern, lengths", [
    ("b h w c -> b (h w) c", {}), ("b h w c -> h (b w) c", {}),
    ("b (h h2) (w w2) c -> (b h w) h2 w2 c", {"h2": 2, "w2": 3}), ("b h w c -> b c h w", {})])
def test_rearrange(pattern, lengths):
    expected = einops.rearrange(IMAGES, pattern, **lengths)
    check(ours.rearrange(hd.asarray(IMAGES), pattern, **lengths), expected)
    check(hd.jit(lambda x: ours.rearrange(x, pattern, **lengths))(hd.asarray(IMAGES)), expected)


@pytest.mark.parametrize("reduction", ["sum", "mean", "max", "min", "prod"])
def test_reduce(reduction):
    pattern = "b (h h2) w c -> b h c"
    values = IMAGES / 100
    check(ours.reduce(hd.asarray(values), pattern, reduction, h2=2),
          einops.reduce(values, pattern, reduction, h2=2), ulp=32)


def test_repeat_and_pack():
    x = hd.asarray(IMAGES)
    check(ours.repeat(x, "b h w c -> b (h 2) w c"), einops.repeat(IMAGES, "b h w c -> b (h 2) w c"))
    check(ours.rearrange([x, x], "n b h w c -> b n h w c"), np.stack([IMAGES, IMAGES], axis=1))
    packed, shapes = ours.pack([x, x[:, 0]], "b * c")
    check(packed, einops.pack([IMAGES, IMAGES[:, 0]], "b * c")[0])
    for got, expected in zip(ours.unpack(packed, shapes, "b * c"), (IMAGES, IMAGES[:, 0]), strict=True):
        check(got, expected)
