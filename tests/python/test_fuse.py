"""hd.fuse beside the function itself with NumPy: results, and what it writes to its arguments."""

import operator
import threading

import numpy as np
import pytest
from conftest import check, sample

import heddle as hd

INTEGERS = ("i1", "u4", "i8")
FLOATS = ("f4", "f8")


def compare(function, *arguments, ulp=4, dtypes=None):
    """Calls the function with NumPy's arrays, and fused with Arrays. Results and arguments must agree
    afterwards. Returns the fused function."""
    fused = hd.fuse(function)
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    ours = [hd.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    with np.errstate(all="ignore"):
        expected = function(*theirs)
    agree(fused(*ours), expected, ulp)
    for mine, his in zip(ours, theirs):
        if isinstance(his, np.ndarray):
            check(mine, his, ulp)
    return fused


def agree(got, expected, ulp):
    if isinstance(expected, tuple):
        assert isinstance(got, tuple) and len(got) == len(expected)
        for mine, his in zip(got, expected):
            agree(mine, his, ulp)
    elif expected is None:
        assert got is None
    else:
        check(got, expected, ulp)


def arrays(dtype, count=2, shape=(3, 4)):
    return [sample(hd.dtype(dtype), shape, seed) for seed in range(count)]


BINARY = ("add", "sub", "mul", "eq", "ne", "lt", "le", "gt", "ge")


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + ("c8",))
def test_operators(dtype):
    names = BINARY[:5] if dtype == "c8" else BINARY

    def every(x, y):
        return tuple(getattr(operator, name)(x, y) for name in names) + (-x, +x, abs(x), x + 1, 2 * x)
    compare(every, *arrays(dtype))


@pytest.mark.parametrize("dtype", INTEGERS + ("?",))
def test_operators_on_bits(dtype):
    x, y = arrays(dtype)
    shifts = dtype != "?"
    compare(lambda x, y: (x & y, x | y, x ^ y, ~x) + ((x << y, x >> y) if shifts else ()), x,
            np.abs(y) if shifts else y)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_division(dtype):
    x, y = arrays(dtype)
    y = np.where(y == 0, 3, y).astype(dtype)
    compare(lambda x, y: (x / y, x // y, x % y, *divmod(x, y)), x, y)


IN_PLACE = ("iadd", "isub", "imul", "itruediv", "imod", "ipow", "ilshift", "irshift", "iand", "ior", "ixor")


@pytest.mark.parametrize("name", IN_PLACE)
def test_operators_in_place(name):
    apply = getattr(operator, name)

    def function(x, y):
        apply(x, y)
    of_bits = name in IN_PLACE[6:]
    for dtype in (INTEGERS if of_bits else FLOATS):
        x, y = arrays(dtype)
        compare(function, x, np.abs(y) + 1, ulp=16)
    compare(function, x, 2, ulp=16)
    if name == "itruediv":
        with pytest.raises(TypeError):
            hd.fuse(function)(hd.ones(3, dtype=hd.int32), hd.ones(3, dtype=hd.int32))


def write_all(x, y):
    x[...] = y
    y[:] = x + 1


def write_twice(x, y):
    x += y
    x += y
    return x


def write_part(x, y):
    x[1:] = y[:-1] * 2
    x[0, 0] = 5


def write_where(xp, x, y):
    xp.copyto(x, y)
    xp.copyto(y, 7, where=y > 0)


def write_out(xp, x, y):
    total = xp.add(x, y, out=x)
    xp.multiply(total, y, out=y)
    return total


def module_of(function):
    return lambda *values: function(hd.get_array_module(*values), *values)


@pytest.mark.parametrize("function", [write_all, write_twice, write_part, module_of(write_where),
                                      module_of(write_out)])
def test_writes_to_arguments(function):
    compare(function, *arrays("f4"))


def test_an_array_given_twice_is_one_variable():
    x = np.arange(3.0)
    ours = hd.asarray(x)
    fused = hd.fuse(write_twice)
    write_twice(x, x)
    check(fused(ours, ours), x)
    check(ours, x)
    check(fused(ours, hd.ones(3)), x + 2)  # the same function, with two arrays
    check(ours, x + 2)


def test_writes_that_numpy_refuses():
    def grow(x, y):
        x += y
    with pytest.raises(ValueError):
        hd.fuse(grow)(hd.ones(3), hd.ones((2, 3)))
    x = hd.broadcast_to(hd.ones(3), (2, 3))
    with pytest.raises(ValueError):
        hd.fuse(grow)(x, hd.ones(3))


def test_numpys_arrays_beside_arrays_are_written():
    def both(x, y):
        x += y
        y *= 2
    x, y = np.ones(3), hd.arange(3.0)
    hd.fuse(both)(x, y)
    np.testing.assert_array_equal(x, [1, 2, 3])
    check(y, np.array([0.0, 2, 4]))
    hd.fuse(both)(x, 3.0 * np.ones(3))  # NumPy's alone: the function runs as it is
    np.testing.assert_array_equal(x, [4, 5, 6])


def test_what_is_returned():
    x = np.arange(3.0)
    for function in (lambda x: None, lambda x: (), lambda x: (x,), lambda x: (x, x), lambda x: x,
                     lambda x: (x * 2, x > 1, x.astype("i4"))):
        compare(function, x)
    assert hd.fuse(lambda x, y=None: x if y is None else y)(hd.ones(2), None).tolist() == [1, 1]
    with pytest.raises(hd.exceptions.TraceError):
        hd.fuse(lambda x: x if x > 0 else -x)(hd.ones(()))


def test_decorator_and_cache():
    @hd.fuse
    def bare(x):
        return x + 1

    @hd.fuse(kernel_name="named")
    def named(x):
        return bare(x) * 2  # composition
    assert bare.__name__ == "bare" and named.__name__ == "named"
    for dtype in ("f4", "f8"):
        for shape in ((), (3,), (2, 3)):
            x = np.ones(shape, dtype)
            check(named(hd.asarray(x)), (x + 1) * 2)
    named.clear_cache()
    check(named(hd.ones(3)), np.full(3, 4.0))


def test_threads():
    @hd.fuse
    def function(x, y):
        x += y
        return x * 2
    failed = []

    def work(dtype):
        for _ in range(20):
            x = hd.zeros(3, dtype=dtype)
            if function(x, hd.ones(3, dtype=dtype)).tolist() != [2, 2, 2] or x.tolist() != [1, 1, 1]:
                failed.append(dtype)
    threads = [threading.Thread(target=work, args=(dtype,)) for dtype in ("f4", "f8", "i4", "f4")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_scalars():
    x = np.arange(4, dtype="f4")
    for value in (2, 2.5, True, np.float32(3), np.int8(2)):
        compare(lambda x, y: (x + y, y - x, x * y), x, value)

    def local(x, y):
        y += 1
        x += y
        return x
    compare(local, x, 2.0)
    compare(lambda x: (np.float32(2) * x, x + np.int64(3), 1 - x, x * 2 + 3.5), x)
    with pytest.raises(OverflowError):
        hd.fuse(lambda x: x + 300)(hd.ones(3, dtype=hd.uint8))


def test_special_values():
    compare(lambda x: (x * np.nan, x + np.inf, x - np.inf, np.float32(-np.inf) + x), np.ones(3, "f4"))
    compare(module_of(lambda xp, x: (xp.where(x > 1, x, np.nan), xp.where(x > 1, -np.inf, x))), np.arange(3.0))


def test_indexing():
    x, y = arrays("f8", shape=(4, 4))
    compare(lambda x, y: (x[0], x[:, 1], x[::2, ::-1], x[..., None], x[1][2], x[1:][0] + y[:-1][1]), x, y)
    compare(lambda x, y: (x[0] + y[1], (x + y)[2], (x[1:] * 2)[:2, 0], x.T[1]), x, y)
    for bad in (lambda x: x[9], lambda x: x[0, 0, 0], lambda x: x["a"]):
        with pytest.raises((IndexError, TypeError)):
            hd.fuse(bad)(hd.asarray(x))


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), (0, 1, 2)])
def test_reductions(axis):
    def all_of_them(x):
        return (x.sum(axis), x.prod(axis=axis), x.max(axis=axis), x.min(axis=axis), x.any(axis=axis), x.all(axis=axis),
                x.sum(axis, keepdims=True), x.sum(axis, dtype="f8"))
    compare(all_of_them, sample(hd.float32, (3, 4, 2)), ulp=16)


def test_reductions_between_elements():
    def normalised(xp, x, gamma, beta):
        mean = x.mean(axis=0)
        variance = xp.square(x - mean).mean(axis=0)
        y = gamma * (x - mean) / xp.sqrt(variance + 1e-5) + beta
        return y, mean, variance, xp.sum(xp.max(y, axis=1) * xp.min(y, axis=1))
    x = sample(hd.float64, (5, 4))
    compare(module_of(normalised), x, np.arange(1.0, 5), np.ones(4), ulp=64)
    compare(module_of(lambda xp, x: xp.clip(x / xp.sum(x, axis=1, keepdims=True), 0, 1)), np.abs(x) + 1, ulp=16)
    compare(module_of(lambda xp, x: (xp.nansum(x), xp.nanprod(x, axis=0))), np.where(x > 0, x, np.nan), ulp=16)
    compare(lambda x: (x * 2).sum() + x.sum(axis=0).max(), np.ones((100, 300)), ulp=64)


UNARY = ("sin cos tan arctan sinh cosh tanh arcsinh exp expm1 exp2 sqrt cbrt square absolute sign floor ceil trunc rint "
         "negative positive isfinite isinf isnan signbit logical_not deg2rad rad2deg degrees radians sinc "
         "reciprocal conjugate angle real nan_to_num").split()
POSITIVE = "log log2 log10 log1p".split()
WITHIN = "arcsin arccos arctanh".split()
TWO = ("add subtract multiply true_divide floor_divide remainder fmod power arctan2 hypot logaddexp logaddexp2 maximum "
       "minimum fmax fmin copysign nextafter equal not_equal less less_equal greater greater_equal logical_and "
       "logical_or logical_xor").split()


def test_routines():
    x, y = arrays("f4")
    positive = np.abs(x) + 1

    def of_one(xp, x):
        return tuple(getattr(xp, name)(x) for name in UNARY)
    compare(module_of(of_one), positive, ulp=16)
    compare(module_of(lambda xp, x: tuple(getattr(xp, name)(x) for name in POSITIVE) + (xp.arccosh(x),)), positive)
    compare(module_of(lambda xp, x: tuple(getattr(xp, name)(x) for name in WITHIN)), x / np.float32(3))
    compare(module_of(lambda xp, x, y: tuple(getattr(xp, name)(x, y) for name in TWO)), positive, np.abs(y) + 1, ulp=16)
    compare(module_of(lambda xp, x, n: (xp.ldexp(x, n), *xp.frexp(x), *xp.modf(x))), x, np.arange(4, dtype="i4"))
    compare(module_of(lambda xp, x, y: (xp.where(x > y, x, y), xp.clip(x, -1, 1), xp.around(x, 1))), x, y)


def test_broadcasting_and_dtypes():
    x = sample(hd.float32, (3, 1))
    compare(lambda x, y: (x + y, x * y.sum()), x, np.arange(4, dtype="i4"), ulp=16)
    compare(module_of(lambda xp, x, out: xp.add(x, x, out=out)), x, np.zeros((3, 1)))
    with pytest.raises(ValueError):
        hd.fuse(lambda x, y: x + y)(hd.ones(3), hd.ones(4))
    for wrong in (lambda x: hd.add(x), lambda x: hd.add(x, None), lambda x: hd.add(x, object()),
                  lambda x: hd.add(x, x, out=object()), lambda x: hd.add(x, x, x, x)):
        with pytest.raises(TypeError):
            hd.fuse(wrong)(hd.ones(3))
    check(hd.fuse(lambda x: hd.add(x, x, out=None))(hd.ones(3)), np.full(3, 2.0))


def test_options_that_count_arguments():
    @hd.fuse(donate=(1,))
    def function(x, z, y):
        z += x
        return x + z + y

    x, z, y = hd.ones(3), hd.full(3, 2.0), hd.full(3, 4.0)
    np.testing.assert_array_equal(function(x, z, y).get(), np.full(3, 8.0))
    np.testing.assert_array_equal(y.get(), np.full(3, 4.0))
    with pytest.raises(hd.ValueError, match="donated"):
        z.get()
    # An array that is given twice is read as it was.
    w = hd.ones(3)
    np.testing.assert_array_equal(function(w, w.copy(), w).get(), np.full(3, 4.0))
    np.testing.assert_array_equal(w.get(), np.ones(3))


def test_names_and_forms_of_the_decorator():
    @hd.fuse(kernel_name="squared")
    def function(x, y):
        return hd.sum((x - y) ** 2, axis=-1)

    @hd.fuse()
    def bare(x):
        return x + 1

    x, y = np.arange(6.0).reshape(2, 3), np.ones(3)
    check(function(hd.asarray(x), hd.asarray(y)), ((x - y) ** 2).sum(-1))
    check(function(hd.asarray(x), 1.0), ((x - y) ** 2).sum(-1))
    check(function(hd.asarray(x), y), ((x - y) ** 2).sum(-1))
    check(bare(hd.asarray(x)), x + 1)
    assert isinstance(bare(x), np.ndarray)
    check(hd.fuse(lambda a: a * 2)(hd.asarray(x)), x * 2)
    with pytest.raises(TypeError):
        hd.fuse(lambda a: a, 3)
