"""Messages name what is wrong, what to do, and the user's line."""

import os
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import heddle as hd

REFUSED = [
    (["a"], "<U1", "astype"), (np.array(["a"]), "<U1", "text"), ([1, "a"], "<U", "text"),
    ([None], "object", "dtype=float"), ([1, None], "object", "Python objects"),
    (np.longdouble(1), "float128", "float64"), (np.ones(2, "g"), "float128", "float64"),
    (np.ones(2, "G"), "complex256", "complex128"), (np.datetime64("2020"), "datetime64", "int64"),
    (np.zeros(2, "M8[D]"), "datetime64", "dates"), (np.zeros(2, "m8[s]"), "timedelta64", "durations"),
    (np.zeros(2, [("x", "f4"), ("y", "i4")]), "'<f4'", r"x\['name'\]"), (b"abc", "S3", "bytes"),
    ("abc", "str", "float"), (None, "NoneType", "Array"), ({1: 2}, "dict", "Array"),
]


@pytest.mark.parametrize("value,dtype,advice", REFUSED, ids=lambda v: str(v)[:20])
def test_asarray_names_the_dtype_and_what_to_do(value, dtype, advice):
    with pytest.raises(TypeError, match=advice) as error:
        hd.asarray(value)
    assert dtype in str(error.value) and "pointer" not in str(error.value)


@pytest.mark.parametrize("value", [np.array(["a"]), np.longdouble(1), np.datetime64("2020")], ids=str)
def test_operators_say_the_same(value):
    with pytest.raises(TypeError, match="which is "):
        hd.ones(1) + value


@pytest.mark.parametrize("dtype", ["U3", object, np.longdouble, "datetime64[s]", str, ">f4", 3])
def test_dtype_arguments_name_what_there_is(dtype):
    with pytest.raises(TypeError, match="float64, complex64 and complex128"):
        hd.zeros(2, dtype=dtype)


def test_a_jitted_function_that_only_writes_its_arguments_says_so_once():
    @hd.jit
    def scale(x, y):
        x *= 2
        y[0] = 1

    line = scale.__wrapped__.__code__.co_firstlineno
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for n in (3, 4, 3):
            x = hd.ones(n)
            assert scale(x, x + 1) is None
            assert hd.all(x == 1)
    assert len(seen) == 1
    assert seen[0].category is UserWarning and seen[0].filename == __file__
    message = str(seen[0].message)
    assert "scale" in message and f"test_messages.py:{line}" in message and "return" in message


def test_other_jitted_functions_do_not_warn():
    @hd.jit
    def writes_and_returns(x):
        x += 1
        return x

    @hd.jit
    def writes_its_own(x):
        y = x.copy()
        y[0] = 1
        return {"y": y}

    @hd.jit
    def returns_nothing(x):
        x + 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (writes_and_returns, writes_its_own, returns_nothing):
            function(hd.ones(3))


def test_setdiff1d_asks_for_its_flag_before_it_waits():
    x = hd.asarray([1, 2])
    with pytest.raises(ValueError, match="ambiguous"):
        hd.setdiff1d(x, x, hd.ones((2, 3)))


BOUNDS = textwrap.dedent("""
    import heddle as hd
    x = hd.arange(12.0).reshape(3, 4)
    wide = hd.asarray([1, 9])
    def refused(use, text):
        try:
            use()
        except hd.IndexError as error:
            assert text in str(error) and "<string>" in str(error), error
            assert isinstance(error, IndexError)
        else:
            raise AssertionError(text)
    refused(lambda: x[wide], "index 9 is out of bounds for axis 0 of float64[3,4], whose extent is 3")
    refused(lambda: x[:, wide - 14], "index -13 is out of bounds for axis 1")
    refused(lambda: x[hd.asarray([0]), wide], "index 9 is out of bounds for axis 1")
    refused(lambda: hd.take(x, wide, axis=1), "index 9 is out of bounds for axis 1")
    refused(lambda: x.take(wide + 3), "index 12 is out of bounds for axis 0 of float64[12]")
    refused(lambda: hd.take_along_axis(x, hd.full((3, 1), 4), axis=1), "index 4 is out of bounds")
    refused(lambda: x.put(wide * 2, 1), "index 18 is out of bounds for axis 0 of float64[12]")
    refused(lambda: hd.put_along_axis(x, hd.full((3, 1), -5), 1, axis=1), "index -5 is out of bounds")
    def assign(): x[wide] = 1
    refused(assign, "index 9 is out of bounds for axis 0")
    refused(lambda: x[hd.asarray([2**63 + 2], dtype="u8")], "is out of bounds")
    assert x[hd.asarray([2**64 - 1], dtype="u8")].tolist() == [[8, 9, 10, 11]]  # -1, as in NumPy
    assert hd.all(x == hd.arange(12.0).reshape(3, 4))
    for good in ([-3, 2], [0, 1]):
        assert x[hd.asarray(good)].shape == (2, 4) and hd.take(x, hd.asarray(good), axis=0).shape == (2, 4)
    assert hd.take(x, wide, axis=1, mode="clip")[0, 1] == 3
    assert x[hd.asarray([], dtype=int)].shape == (0, 4)
    f = hd.jit(lambda x, i: x[i] * 2)
    assert f(x, hd.asarray([0, 2])).shape == (2, 4)
    y = f(x, wide)
    refused(y.tolist, "index 9 is out of bounds for axis 0 of float64[3,4]")
    f(x, hd.asarray([0, -1])).tolist()
""")


def run(code, **variables):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, **variables})


def test_bounds_of_index_arrays_are_checked_where_asked():
    done = run(BOUNDS, HEDDLE_CHECK_BOUNDS="1")
    assert done.returncode == 0, done.stderr


def test_bounds_of_index_arrays_are_clipped_by_default():
    x = hd.arange(3.0)
    assert x[hd.asarray([0, 9])].tolist() == [0.0, 2.0]
    done = run(BOUNDS, HEDDLE_CHECK_BOUNDS="0")
    assert "AssertionError: index 9 is out of bounds" in done.stderr


MISUSED = textwrap.dedent("""
    import inspect, itertools, re
    import heddle as hd
    arrays = [hd.asarray([True, False]), hd.ones((2, 3)), hd.asarray(3), hd.zeros((0,)),
              hd.asarray([1j, 2])]
    values = arrays + [1, -1, 2.5, (1, 2), [1, 2], "a", None]
    failed, named = 0, set()
    def use(name, function, *args):
        global failed
        try:
            function(*args)
        except Exception as error:
            failed += 1
            if re.search(r"\\.(cpp|h):[0-9]|string pointer", str(error)):
                named.add((name, str(error)))
    modules = {"": hd, "fft.": hd.fft, "linalg.": hd.linalg, "Array.": hd.Array}
    for prefix, module in modules.items():
        for name in dir(module):
            function = getattr(module, name)
            if name.startswith("_") or not isinstance(function, hd.Function) or "save" in name:
                continue
            for value in values:
                use(prefix + name, function, value)
            for pair in itertools.product(arrays, values):
                use(prefix + name, function, *pair)
    assert failed > 5000, failed
    assert not named, named
""")


def test_no_message_names_a_source_file_of_the_library(tmp_path):
    code = tmp_path / "misuse.py"
    code.write_text(MISUSED)
    done = subprocess.run([sys.executable, "-W", "ignore", code], capture_output=True, text=True,
                          cwd=tmp_path, env={**os.environ, "HEDDLE_CXX": "/nowhere/cc",
                                             "HEDDLE_DEVICE": "cpu", "HEDDLE_LOG": "error"})
    assert done.returncode == 0, done.stderr[-3000:]
