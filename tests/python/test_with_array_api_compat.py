"""array-api-compat, by which libraries find out what an Array is."""

import numpy as np
import pytest
from conftest import check, neighbour

import heddle as hd

compat = neighbour("array_api_compat")
pytestmark = pytest.mark.usefixtures("on_host")


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
