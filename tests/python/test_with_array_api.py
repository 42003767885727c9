"""array-api-compat, by which libraries find out what an Array is, and einops, whose module for the array
API standard takes Arrays."""

import numpy as np
import pytest
from conftest import check, neighbour

import heddle as hd

compat = neighbour("array_api_compat")
einops = neighbour("einops")
ours = neighbour("einops.array_api")
pytestmark = pytest.mark.usefixtures("on_host")
IMAGES = np.arange(2 * 4 * 6 * 3.0).reshape(2, 4, 6, 3)


def test_what_an_array_is():
    x = hd.arange(6.0).reshape(2, 3)
    assert compat.is_array_api_obj(x)
    assert not compat.is_numpy_array(x)
    assert not compat.is_lazy_array(x)
    assert compat.is_writeable_array(x)
    assert compat.device(x) == "cpu"
    assert compat.size(x) == 6
    check(compat.to_device(x, "cpu"), np.asarray(x))


def test_namespaces():
    x = hd.ones(2)
    for arguments in ((x,), (x, x), (x, 1.0, None)):
        assert compat.array_namespace(*arguments) is hd
    for version in ("2022.12", "2023.12", "2024.12"):
        assert compat.array_namespace(x, api_version=version) is hd
    with pytest.raises(TypeError, match="namespaces"):
        compat.array_namespace(x, np.ones(2))


def normalised(x):
    """Code for any library, as it is written with array-api-compat."""
    xp = compat.array_namespace(x)
    centred = x - xp.mean(x, axis=0, keepdims=True)
    values = xp.linalg.svdvals(centred)
    kept = xp.where(xp.abs(centred) > 0.5, centred, xp.zeros((), dtype=x.dtype, device=compat.device(x)))
    return xp.concat([kept, values[None, :]]), xp.unique_values(xp.astype(x, xp.int64))


def test_code_for_any_library():
    a = np.random.default_rng(0).random((4, 3)) * 4
    for got, expected in zip(normalised(hd.asarray(a)), normalised(a), strict=True):
        assert isinstance(got, hd.Array)
        np.testing.assert_allclose(got.get(), expected, atol=1e-12)


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
