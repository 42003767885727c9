"""NumPy's protocols, as programs of NumPy use them: __array__, ufuncs and functions, the buffer protocol,
and operands that define operators of their own."""

import hashlib
import io
import pickle

import numpy as np
import pytest
from conftest import check

import heddle as hd

pytestmark = pytest.mark.usefixtures("on_host")


class Metres(np.lib.mixins.NDArrayOperatorsMixin):
    """An array with a unit, which computes NumPy's ufuncs itself."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [each.values if isinstance(each, Metres) else each for each in inputs]
        return Metres(getattr(ufunc, method)(*plain, **options))


class Tagged(np.ndarray):
    """A subclass of NumPy's arrays that computes ufuncs itself."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [np.asarray(each) for each in inputs]
        return getattr(ufunc, method)(*plain, **options).view(Tagged)


OPERATORS = {"add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "divide": lambda a, b: a / b,
             "power": lambda a, b: a ** b, "less": lambda a, b: a < b, "equal": lambda a, b: a == b,
             "matmul": lambda a, b: a @ b}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("swapped", [False, True])
def test_arrays_with_units_decide(name, swapped):
    x, values = hd.arange(1.0, 4.0), np.array([3.0, 2.0, 1.0])
    first, second = (Metres(values), x) if swapped else (x, Metres(values))
    result = OPERATORS[name](first, second)
    assert isinstance(result, Metres)
    plain = (values, np.asarray(x)) if swapped else (np.asarray(x), values)
    np.testing.assert_array_equal(np.asarray(result), OPERATORS[name](*plain))


def test_the_ufuncs_of_subclasses_decide():
    x, tagged = hd.arange(1.0, 4.0), np.ones(3).view(Tagged)
    for result in (x + tagged, tagged + x, np.add(x, tagged), np.add(tagged, x)):
        assert type(result) is Tagged
        np.testing.assert_array_equal(result, [2.0, 3.0, 4.0])
    plain = np.ones(3).view(type("Plain", (np.ndarray,), {}))
    check(x + plain, np.array([2.0, 3.0, 4.0]))


@pytest.mark.parametrize("name", [name for name in OPERATORS if name != "matmul"])
@pytest.mark.parametrize("swapped", [False, True])
def test_masks_are_kept(name, swapped):
    x, masked = hd.arange(1.0, 4.0), np.ma.array([3.0, 2.0, 1.0], mask=[0, 1, 0])
    pair = (masked, x) if swapped else (x, masked)
    result = OPERATORS[name](*pair)
    expected = OPERATORS[name](*(np.asarray(each) if each is x else each for each in pair))
    assert isinstance(result, np.ma.MaskedArray)
    np.testing.assert_array_equal(result.mask, [False, True, False])
    np.testing.assert_array_equal(result.compressed(), expected.compressed())
    assert isinstance(np.add(x, masked), np.ma.MaskedArray)


@pytest.mark.parametrize("other", [lambda: Metres(np.ones(3)), lambda: np.ma.ones(3)])
def test_in_place_operators_refuse_them(other):
    x = hd.ones(3)
    with pytest.raises(TypeError, match="heddle.asarray"):
        x += other()
    check(x, np.ones(3))
    x += hd.asarray(np.asarray(other()))
    check(x, np.full(3, 2.0))


def test_bytes():
    a = np.arange(6.0).reshape(2, 3)
    x = hd.asarray(a)
    view = memoryview(x)
    assert (view.format, view.shape, view.strides, view.readonly) == ("d", (2, 3), (24, 8), True)
    assert bytes(x) == bytearray(x) == a.tobytes()
    assert hashlib.sha256(x[0]).digest() == hashlib.sha256(a[0]).digest()
    stream = io.BytesIO()
    assert stream.write(x) == 48
    assert memoryview(x.T).tolist() == a.T.tolist()


def test_files_and_pickles():
    x = hd.arange(6.0).reshape(2, 3)
    stream = io.BytesIO()
    np.save(stream, x)
    stream.seek(0)
    np.testing.assert_array_equal(np.load(stream), np.asarray(x))
    check(pickle.loads(pickle.dumps(x, 5)), np.asarray(x))


def test_numpys_memory_takes_arrays():
    b = np.zeros(4)
    same = b
    b[:3] = hd.ones(3)
    b[hd.asarray([1])] = 5
    b[3] = hd.sum(hd.ones(2))
    b += hd.ones(4)
    np.add(b, hd.ones(4), out=b)
    assert same is b
    assert b.tolist() == [3, 7, 3, 4]
    assert np.arange(5)[hd.asarray([0, 2])].tolist() == [0, 2]
    assert np.arange(5)[hd.asarray([True, False, True, False, False])].tolist() == [0, 2]
    assert np.array([hd.ones(2), hd.zeros(2)]).tolist() == [[1, 1], [0, 0]]


def test_array_arguments():
    x = hd.arange(3.0)
    assert not np.asarray(x).flags.writeable
    assert not np.array(x, copy=False).flags.writeable
    assert np.array(x).flags.writeable
    assert np.asarray(x, dtype="float32").dtype == "float32"
    with pytest.raises(ValueError, match="copy"):
        np.array(x, dtype="float32", copy=False)


def test_modules_of_scipy_and_of_heddle():
    scipy = pytest.importorskip("scipy")
    a = np.array([[4.0, 3.0], [6.0, 3.0]])
    for array in (a, hd.asarray(a)):
        p, lower, upper = hd.scipy.get_array_module(array).linalg.lu(array)
        np.testing.assert_allclose(np.asarray(p @ lower @ upper), a)
    assert hd.scipy.get_array_module(1, hd.asarray(a)) is hd.scipy
    assert hd.scipy.get_array_module() is hd.scipy.get_array_module(a) is scipy
    sparse = hd.sparse.csr_array(hd.asarray(a))
    assert hd.scipy.get_array_module(sparse) is hd.scipy
    assert hd.get_array_module(sparse) is hd


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bool"])
def test_numbers_of_numpy_in_operators(dtype):
    want = np.linspace(0, 3, 12).astype(dtype)
    have = hd.asarray(want.copy())
    for number in (np.float64(1.5), np.float32(2.5), np.float16(0.5), np.int64(3), np.uint8(200), np.complex64(1 + 2j),
                   np.bool_(True)):
        check(number * have, number * want)
        check(have * number, want * number)
        check(number + have, number + want)
        check(number > have.real, number > want.real) if number.dtype.kind != "c" else None
        check(np.maximum(number, have), np.maximum(number, want))
    check(np.float64(2) ** have, np.float64(2) ** want, ulp=4)
