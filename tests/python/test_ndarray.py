"""The methods and attributes of numpy.ndarray, beside NumPy."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from conftest import DTYPES, check, numpy_dtype, sample

import heddle as hd

# What numpy.ndarray has and Array has not, and why.
NOT_HERE = {
    "byteswap": "elements have the machine's byte order",
    "ctypes": "the elements may lie on a GPU; data, __dlpack__ and asnumpy share them",
    "getfield": "there are no fields", "setfield": "there are no fields",
}
# Parameters beside NumPy's, or in place of them.
OTHER_PARAMETERS = {
    "argsort": "descending is the array standard's", "clip": "no **kwargs",
    "reshape": "as NumPy's", "sort": "descending is that of NumPys to come", "view": "NumPy's signature says *args",
}


def test_every_attribute_is_here_or_left_out_for_a_reason():
    missing = {name for name in dir(np.ndarray) if not name.startswith("_")} - set(dir(hd.Array))
    assert missing == set(NOT_HERE)


@pytest.mark.parametrize("name", sorted(
    name for name in dir(np.ndarray)
    if not name.startswith("_") and callable(getattr(np.ndarray, name)) and name not in NOT_HERE))
def test_methods_take_numpys_parameters(name):
    if name in OTHER_PARAMETERS:
        return
    ours = inspect.signature(getattr(hd.Array, name)).parameters
    theirs = inspect.signature(getattr(np.ndarray, name)).parameters
    names = [n for n, p in theirs.items() if p.kind is not p.VAR_KEYWORD]
    assert len(ours) >= len(names)
    named = [n for n in names if theirs[n].kind is not inspect.Parameter.POSITIONAL_ONLY]
    assert [n for n in list(ours)[:len(names)] if n in named] == named
    for n in named:
        assert ours[n].default == theirs[n].default or name in ("copy", "all", "any"), n


LAYOUTS = {"plain": lambda a: a, "transposed": lambda a: a.T, "strided": lambda a: a[::2, 1:],
           "reversed": lambda a: a[::-1, ::-1], "offset": lambda a: a[1:, 2:],
           "empty": lambda a: a[:, :0], "one": lambda a: a[1:2, 2:3].reshape(()),
           "row": lambda a: a[1]}


def arrays(dtype, layout, shape=(4, 6)):
    """NumPy's array and ours of one history, with what they are views of."""
    a = sample(getattr(hd, dtype) if isinstance(dtype, str) else dtype, shape)
    x = hd.asarray(a)
    return LAYOUTS[layout](a), LAYOUTS[layout](x), a, x


def raises_as(call, *each):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as theirs:
            call(each[0])
    builtin = next(c for c in type(theirs.value).__mro__ if c.__module__ == "builtins")
    with pytest.raises(builtin):
        call(each[1])


def both(call, n, x, ulp=0):
    """call() of each: equal results, or errors of one class."""
    try:
        expected = call(n)
    except Exception:
        return raises_as(call, n, x)
    result = call(x)
    if expected is None:
        assert result is None
    else:
        check(result, expected, ulp=ulp)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64"])
def test_writing_in_place(dtype, layout):
    for call in (lambda a: a.sort(), lambda a: a.sort(axis=0), lambda a: a.sort(0, "stable"),
                 lambda a: a.sort(stable=True), lambda a: a.sort(axis=7), lambda a: a.sort(order="f"),
                 lambda a: a.fill(1), lambda a: a.fill(a.dtype.type(1) if hasattr(a.dtype, "type")
                                                       else np.dtype(dtype).type(1)),
                 lambda a: a.put([0, -1], [1, 0]), lambda a: a.put([1, 99], 1, mode="wrap"),
                 lambda a: a.put([1, 99], 1, mode="clip"), lambda a: a.put(0, 1)):
        n, x, whole, ours = arrays(dtype, layout)
        both(call, n, x)
        check(x, n)
        check(ours, whole)


@pytest.mark.parametrize("kth", [0, 2, -1, (1, 3), [0], 9])
def test_partition(kth):
    n, x, whole, ours = arrays("float32", "strided", (8, 10))
    if kth == 9:
        raises_as(lambda a: a.partition(kth), n, x)
        raises_as(lambda a: a.argpartition(kth), n, x)
        return
    assert x.partition(kth) is None
    for one in np.atleast_1d(kth):
        check(x[:, int(one)], np.sort(n, axis=-1)[:, one])
    check(hd.sort(ours[::2, 1:]), np.sort(n))
    np.testing.assert_array_equal(np.sort(np.asarray(hd.asnumpy(ours))), np.sort(whole))
    places = hd.asnumpy(hd.asarray(n).argpartition(kth, 0))
    for one in np.atleast_1d(kth):
        if abs(one) < 4:
            np.testing.assert_array_equal(np.take_along_axis(n, places, 0)[one], np.sort(n, 0)[one])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int8", "float64", "complex64"])
def test_methods_that_read(dtype, layout):
    n, x, _, _ = arrays(dtype, layout)
    mask = [True, False, True]
    for call in (lambda a: a.take([0, -1]), lambda a: a.take([0, 1], 0), lambda a: a.take([0, 9], mode="clip"),
                 lambda a: a.take(indices=[[1], [0]], axis=-1), lambda a: a.take(1, axis=5),
                 lambda a: a.compress(mask), lambda a: a.compress(mask, 1), lambda a: a.compress(mask, axis=0),
                 lambda a: a.repeat(2), lambda a: a.repeat(3, 0), lambda a: a.diagonal(), lambda a: a.trace(),
                 lambda a: a.diagonal(1, 0, 1), lambda a: a.trace(1), lambda a: a.swapaxes(0, -1),
                 lambda a: a.conjugate(), lambda a: a.conj(), lambda a: a.astype("float64"),
                 lambda a: a.astype("f4", casting="unsafe"), lambda a: a.astype(dtype="c16"),
                 lambda a: a.astype("i1", casting="safe"), lambda a: a.astype("c8", "C", "same_kind"),
                 lambda a: a.copy("F"), lambda a: a.copy(order="K"), lambda a: a.copy("Q"),
                 lambda a: a.ravel("F"), lambda a: a.ravel("K"), lambda a: a.ravel("A"), lambda a: a.ravel(),
                 lambda a: a.flatten("F"), lambda a: a.flatten("A"), lambda a: a.flatten("K"),
                 lambda a: a.ravel("Q"), lambda a: a.reshape(-1, order="F"), lambda a: a.reshape(a.shape[::-1], order="F"),
                 lambda a: a.reshape((1,) + a.shape, order="A"), lambda a: a.reshape(-1, order="K"),
                 lambda a: a.mT, lambda a: a.T, lambda a: a.real, lambda a: a.imag,
                 lambda a: np.asarray(a.item(0)) if a.size else a.item()):
        both_or_value(call, n, x)


def both_or_value(call, n, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = call(n)
        except Exception:
            return raises_as(call, n, x)
        result = call(x)
    if isinstance(result, hd.Array):
        check(result, expected)
    else:
        assert np.asarray(result) == expected


def test_searchsorted_and_choose():
    n, x = np.array([1.0, 2, 2, 5]), hd.asarray([1.0, 2, 2, 5])
    for args in (([2, 3],), (2.0, "right"), ([0, 9], "left")):
        check(x.searchsorted(*args), n.searchsorted(*args))
    order = np.array([3, 0, 2, 1])
    check(x[hd.asarray(np.argsort(order))].searchsorted([2.0], sorter=hd.asarray(order)),
          n[np.argsort(order)].searchsorted([2.0], sorter=order))
    k, i = np.array([0, 1, 0]), hd.asarray([0, 1, 0])
    choices = [np.array([1, 2, 3]), np.array([10, 20, 30])]
    check(i.choose(choices), k.choose(choices))
    check((i + 2).choose(choices, mode="wrap"), (k + 2).choose(choices, mode="wrap"))
    out = hd.zeros(3, dtype=hd.int64)
    assert i.choose(choices, out) is out
    check(out, k.choose(choices))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_views_in_an_order_write_through(layout):
    for order in "CFAK":
        n, x, whole, ours = arrays("int64", layout)
        v, w = n.ravel(order), x.ravel(order)
        assert np.shares_memory(v, n) == (w.base is not None) or n.size < 2
        v[:1] = 9
        w[:1] = 9
        check(ours, whole)
        if order == "K":
            continue
        v, w = n.reshape(-1, 1, order=order), x.reshape(-1, 1, order=order)
        v[-1:] = 8
        w[-1:] = 8
        check(ours, whole)


def test_item():
    n, x, _, _ = arrays("int64", "transposed")
    for args in ((3,), (-1,), (2, 1), ((2, 1),), (-1, -2)):
        assert x.item(*args) == n.item(*args) and type(x.item(*args)) is int
    for args in ((), (99,), (1, 2, 3), (0, 9)):
        raises_as(lambda a: a.item(*args), n, x)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bytes_and_files(dtype, layout, tmp_path):
    n, x, _, _ = arrays(dtype, layout)
    for order in ("C", "F", "A", None):
        assert x.tobytes(order) == n.tobytes(order)
    x.tofile(tmp_path / "x.bin")
    assert (tmp_path / "x.bin").read_bytes() == n.tobytes()
    assert pickle.loads(x.dumps()).tolist() == n.tolist()
    got = x.get()
    assert type(got) is np.ndarray and got.dtype == n.dtype and not np.shares_memory(got, x.get())
    np.testing.assert_array_equal(got, n)
    if dtype == hd.int32:
        x.tofile(tmp_path / "x.txt", sep=",")
        assert (tmp_path / "x.txt").read_text() == ",".join(map(str, n.ravel()))


def test_get_and_set():
    n, x, _, ours = arrays("float32", "strided")
    x.set(n * 2)
    check(x, n * 2)
    check(ours[::2, 1:], n * 2)
    out = np.zeros_like(n)
    assert x.get(out=out) is out
    np.testing.assert_array_equal(out, n * 2)
    assert x.get(order="F").flags.f_contiguous
    with pytest.raises(ValueError, match="shape"):
        x.set(n[:1])
    with pytest.raises(TypeError, match="dtype"):
        x.set(n.astype("f8"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_flags_strides_and_base(layout):
    n, x, _, ours = arrays("float32", layout)
    for name in ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "fnc", "forc",
                 "behaved", "carray", "farray", "contiguous", "fortran", "writebackifcopy"):
        assert getattr(x.flags, name) == getattr(n.flags, name), name
    for name in ("C", "F", "O", "W", "A", "X", "C_CONTIGUOUS", "CA"):
        assert x.flags[name] == n.flags[name]
    assert str(x.flags).split() == str(n.flags).split()
    assert x.strides == n.strides and x.itemsize == 4 and x.nbytes == n.nbytes
    assert (x.base is ours) == (n.base is not None)
    assert (x.base is None) == (n.base is None)
    with pytest.raises(KeyError):
        x.flags["NOTHING"]


def test_base_is_the_array_that_owns_the_elements():
    x = hd.arange(12.0)
    assert x.base is None and x[2:].base is x and x[2:][1:].base is x and x.reshape(3, 4).T.base is x
    assert (x + 1).base is None and x[[0, 1]].base is None and x.copy().base is None
    assert x.view().base is x and x[...].base is x
    y = hd.arange(4)[1:]
    assert y.base is not None and y.base.shape == (4,)
    y.base[1] = 7
    assert y[0] == 7


def test_read_only():
    n, x = np.arange(4.0), hd.arange(4.0)
    before = x[1:]
    x.flags.writeable = False
    n.flags.writeable = False
    for write in (lambda a: a.fill(1), lambda a: a.__setitem__(0, 1), lambda a: a[1:].sort(),
                  lambda a: a.__iadd__(1), lambda a: a.put(0, 1), lambda a: a.partition(0)):
        raises_as(write, n, x)
    before[0] = 9  # as in NumPy
    assert x[1] == 9
    x.setflags(write=True)
    x[0] = 5
    assert x[0] == 5
    for locked in (hd.broadcast_to(x, (2, 4)), hd.asarray(1 + 0j).real.imag):
        with pytest.raises(ValueError, match="writable"):
            locked.flags.writeable = True


@pytest.mark.parametrize("layout", LAYOUTS)
def test_shape_is_assigned(layout):
    for shape in (-1, (3, -1), (1, -1, 2), (2, 2, 2, 3), (5,), (24,)):
        n, x, whole, ours = arrays("int32", layout)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                n.shape = shape
            except Exception as error:
                with pytest.raises(type(error)):
                    x.shape = shape
                continue
        x.shape = shape
        check(x, n)
        assert x.strides == n.strides and (x.base is None) == (n.base is None)
        x += 1
        n += 1
        check(ours, whole)


def test_resize():
    n, x = np.arange(6), hd.arange(6)
    for shape in ((2, 2), (3, 4), 2, (0,), (2, 1)):
        n.resize(shape, refcheck=False)
        assert x.resize(shape) is None
        check(x, n)
    x.resize(2, 2)
    assert x.shape == (2, 2)
    view = x[0]
    with pytest.raises(ValueError, match="heddle.resize"):
        x.resize(9)
    with pytest.raises(ValueError):
        view.resize(1)
    with pytest.raises(ValueError):
        x.resize(-1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64", "uint8", "bool"])
def test_views_in_another_dtype(dtype, layout):
    for other in ("int8", "uint32", "float32", "int64", "float64", "complex64", "complex128", "bool"):
        n, x, whole, ours = arrays(dtype, layout, (4, 8))
        try:
            v = n.view(other)
        except Exception as error:
            with pytest.raises(type(error)):
                x.view(other)
            continue
        gaps = n.size and not n.flags.c_contiguous and v.dtype.itemsize != n.itemsize
        if gaps or (dtype != other and v.dtype.itemsize != n.itemsize and n.strides != tuple(
                np.zeros(n.shape, n.dtype).strides)):
            with pytest.raises(ValueError, match="copy"):
                x.view(other)
            continue
        w = x.view(other)
        if other == "bool" != dtype:
            check(w, v.view("u1") != 0)
            continue
        assert w.tobytes() == v.tobytes() and w.shape == v.shape and w.dtype == other
        if v.size and "bool" not in (other, dtype):
            v[...] = 1
            w[...] = 1
            assert ours.tobytes() == whole.tobytes()
            n[...] = 0
            x[...] = 0
            assert w.tobytes() == v.tobytes()
            x[...] = 1
            n[...] = 1
            check(x + 1, n + 1)
            assert w.tobytes() == v.tobytes()


def test_bits_of_floats():
    x = hd.asarray([1.0, -2.5, 0.0], dtype=hd.float32)
    check(x.view("u4") >> 23, np.asarray([1.0, -2.5, 0.0], "f4").view("u4") >> 23)
    check(x.view(np.uint8), np.asarray([1.0, -2.5, 0.0], "f4").view(np.uint8))

    @hd.jit
    def f(y):
        return y.view("u4")

    with pytest.raises(hd.TraceError):
        f(x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_flat(layout):
    n, x, whole, ours = arrays("int64", layout)
    assert len(x.flat) == len(n.flat) and x.flat.base is x
    assert [int(e) for e in x.flat] == [int(e) for e in n.flat]
    for key in (0, -1, slice(1, None, 2), [0, 1], np.array([True] * n.size, dtype=bool), ..., 99):
        both(lambda a: a.flat[key], n, x)
    check(x.flat == 1, n.flat == 1)
    check(x.flat.copy(), n.flat.copy())
    np.testing.assert_array_equal(np.asarray(x.flat), np.asarray(n.flat))
    for key, value in ((0, 7), (slice(None, None, 2), [1, 2, 3]), ([0, -1], 5), (slice(1), 2.5)):
        both(lambda a: a.flat.__setitem__(key, value), n, x)
        check(ours, whole)
    n.flat = x.flat = 3
    check(ours, whole)
    n.flat = [1, 2]
    x.flat = [1, 2]
    check(ours, whole)
    one, other = iter(n.flat), iter(x.flat)
    for _ in range(min(n.size, 3)):
        assert one.coords == other.coords and one.index == other.index
        assert next(one) == next(other)


def test_parts_are_assigned():
    n, x = np.zeros(3, "c8"), hd.zeros(3, dtype="c8")
    n.real, x.real = [1, 2, 3], [1, 2, 3]
    n.imag, x.imag = 5, 5
    check(x, n)
    n.T[1:], x.T[1:] = 0, 0
    n.real += 1
    x.real += 1
    check(x, n)
