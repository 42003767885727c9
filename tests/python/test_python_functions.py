"""The functions that are written in Python; tests/vocabulary holds most of them to NumPy."""

import numpy as np
import pytest
from conftest import DTYPES, check, numpy_dtype, sample

import heddle as hd


def test_text():
    x = hd.asarray([[1.5, 2.25], [3.125, 4.0]])
    assert hd.array_str(x) == str(x) and hd.array_repr(x) == repr(x)
    assert hd.array_str(x, precision=1) == np.array_str(np.asarray(x), precision=1)
    assert hd.array_repr(x, precision=1) == "array([[1.5, 2.2],\n       [3.1, 4. ]], dtype=float64)"


def test_common_types(dtype):
    x, wide = sample(dtype, (2, 3)), sample(hd.float32, 3)
    if dtype in (hd.bool, hd.bfloat16):
        return
    for arrays in ([x], [x, wide], [wide, x, wide]):
        assert hd.common_type(*map(hd.asarray, arrays)) == np.common_type(*arrays)


def test_common_types_of_bools():
    with pytest.raises(TypeError, match="bool"):
        hd.common_type(hd.asarray([True]))


def test_subtypes():
    kinds = ("complexfloating", "floating", "generic", "inexact", "integer", "number",
             "signedinteger", "unsignedinteger")
    for dtype in DTYPES:
        if dtype == hd.bfloat16:
            continue
        for kind in kinds:
            found = hd.issubdtype(dtype, getattr(hd, kind))
            assert found == np.issubdtype(numpy_dtype(dtype), getattr(np, kind))
        assert hd.issubdtype(dtype, dtype) and hd.issubdtype(dtype, numpy_dtype(dtype))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hd.nothing


@pytest.mark.parametrize("value", [0, 1, 255, 256, -1, -129, 2**40, 1.5, 1e300, 2j, True])
def test_smallest_dtypes(value):
    assert hd.min_scalar_type(value) == np.min_scalar_type(value)
    assert hd.min_scalar_type(hd.asarray(value)) == np.min_scalar_type(np.asarray(value))
    assert hd.min_scalar_type(hd.asarray([value])) == np.asarray([value]).dtype


def test_files(tmp_path):
    x = sample(hd.float32, (6,))
    x.tofile(tmp_path / "x")
    check(hd.fromfile(tmp_path / "x", hd.float32), x)
    check(hd.fromfile(tmp_path / "x", "float32", 2, offset=8), x[2:4])
    (tmp_path / "text").write_text("1, 2\n3, \n")
    check(hd.genfromtxt(tmp_path / "text", delimiter=",", filling_values=7), [[1.0, 2], [3, 7]])
    with pytest.raises(FileNotFoundError):
        hd.fromfile(tmp_path / "nothing")


def test_buffers_are_copied():
    memory = bytearray(8)
    x = hd.frombuffer(memory, hd.uint8)
    memory[0] = 3
    assert x.tolist() == [0] * 8


def test_enumeration():
    x = sample(hd.int32, (2, 3))
    assert list(hd.ndenumerate(hd.asarray(x))) == list(np.ndenumerate(x))


def test_division_of_polynomials():
    for u, v in (([3.0, 5, 2], [2.0, 1]), ([1, 0, 0, -1], [1, -1]), ([1.0, 2], [3.0, 4, 5]),
                 ([4.0, 2], [2.0])):
        quotient, rest = hd.polydiv(u, v)
        wanted, wanted_rest = np.polydiv(u, v)
        check(quotient, wanted, ulp=4)
        found = np.trim_zeros(np.where(abs(np.asarray(rest)) < 1e-14, 0, rest), "f")
        np.testing.assert_allclose(found, np.trim_zeros(wanted_rest, "f"))


def test_layouts():
    x = hd.asarray(sample(hd.float32, (3, 4)))
    assert hd.ascontiguousarray(x) is x and hd.asfortranarray(x.T).strides == x.T.strides
    turned = hd.ascontiguousarray(x.T)
    assert turned.strides == np.ascontiguousarray(np.asarray(x).T).strides
    turned[0, 0] = 99
    assert x[0, 0].item() != 99
    assert hd.isfortran(hd.asfortranarray(x)) and not hd.isfortran(x) and hd.isfortran(x.T)


def test_submodules():
    import heddle.exceptions
    import heddle.lib.stride_tricks

    assert heddle.exceptions.AxisError is hd.AxisError
    windows = heddle.lib.stride_tricks.sliding_window_view(hd.arange(5), 3)
    check(windows, np.lib.stride_tricks.sliding_window_view(np.arange(5), 3))


def test_strides():
    from numpy.lib.stride_tricks import as_strided as expected

    from heddle.lib.stride_tricks import as_strided

    a = np.arange(12, dtype=np.int32)
    for shape, strides in (((3, 3), (4, 4)), ((2, 3), (24, 8)), ((), ()), ((0, 2), (4, 4)), ((5,), (0,)),
                           (None, None)):
        check(as_strided(hd.asarray(a), shape, strides), expected(a, shape, strides))
    x = hd.asarray(a)
    for shape, strides in (((13,), (4,)), ((2,), (-4,)), ((2,), (2,)), ((2, 2), (4,))):
        with pytest.raises(ValueError, match="as_strided"):
            as_strided(x, shape, strides)
    with pytest.raises(ValueError, match="order"):
        as_strided(x.reshape(3, 4).T)
    with pytest.raises(ValueError, match="read-only"):
        as_strided(x, (2,), (4,))[0] = 1


def test_what_numpy_knows_of_dtypes():
    for dtype in DTYPES:
        expected = numpy_dtype(dtype)
        for name in ("char", "type", "str", "num", "alignment", "isnative", "names", "byteorder"):
            assert getattr(dtype, name) == getattr(expected, name)
    with pytest.raises(AttributeError):
        hd.float32.nothing
