"""NumPy's ufuncs: what they take, have, and their methods, beside NumPy."""

import inspect
import warnings

import numpy as np
import pytest
from conftest import check, numpy_dtype, sample

import heddle as hd

UFUNCS = sorted(name for name, value in vars(np).items() if isinstance(value, np.ufunc)
                and isinstance(getattr(hd, name, None), hd.ufunc))
# Not here: dates, and generalised ufuncs, which are plain functions.
NOT_HERE = {"isnat", "matmul", "matvec", "vecdot", "vecmat"}
# A view in another order, one with gaps, one that repeats, 0-d and empty.
LAYOUTS = {"plain": lambda a: a, "transposed": lambda a: a.T, "strided": lambda a: a[::2, 1:],
           "reversed": lambda a: a[::-1, ::-1], "offset": lambda a: a[1:, 2:],
           "one": lambda a: a[1, 2], "empty": lambda a: a[:, :0]}


def pair(a):
    return a, hd.asarray(a)


def same_error(call, expected):
    """Both raise, and the same class among Python's own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as theirs:
            expected()
    classes = [c for c in type(theirs.value).__mro__ if c.__module__ == "builtins"]
    with pytest.raises(tuple(classes[:classes.index(Exception)])):
        call()


def test_every_ufunc_of_numpys_is_one_here():
    theirs = {name for name, value in vars(np).items() if isinstance(value, np.ufunc)}
    assert theirs - set(UFUNCS) == NOT_HERE


@pytest.mark.parametrize("name", UFUNCS)
def test_attributes(name):
    ours, theirs = getattr(hd, name), getattr(np, name)
    assert (ours.nin, ours.nout, ours.nargs) == (theirs.nin, theirs.nout, theirs.nargs)
    assert ours.signature is None
    assert ours.identity == theirs.identity and type(ours.identity) is type(theirs.identity)
    assert ours.ntypes == len(ours.types) > 0
    for loop in ours.types:
        assert name == "signbit" or loop in theirs.types or loop.replace("l", "q").replace("L", "Q") in theirs.types, loop
    names = list(inspect.signature(theirs).parameters)
    assert [n for n in inspect.signature(ours).parameters if n not in ("out1", "out2")] == names
    if name in (ours.__name__,):
        assert repr(ours) == f"<ufunc '{name}'>"


def test_ufuncs_are_no_methods_of_the_class_that_they_stand_in():
    class Model:
        activation = hd.tanh

    check(Model().activation(hd.ones(2)), np.tanh(np.ones(2)), ulp=4)
    with pytest.raises(TypeError):
        hd.ufunc()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_out_where_and_dtype(dtype, layout):
    a = sample(getattr(hd, dtype), (4, 6))
    b = sample(getattr(hd, dtype), (4, 6), seed=1)
    (a, x), (b, y) = pair(LAYOUTS[layout](a)), pair(LAYOUTS[layout](b))
    mask = np.asarray(sample(hd.bool, a.shape))
    for options in ({}, {"where": mask}, {"where": False}, {"dtype": "complex128"},
                    {"dtype": "complex128", "where": mask}, {"casting": "unsafe"},
                    {"order": "F"}, {"subok": False}, {"signature": "DD->D"}):
        n = np.full(a.shape, 7, dtype="complex128")
        out = hd.asarray(n)
        theirs = {**options, "out": n}
        ours = {**options, "out": out}
        if "where" in options and options["where"] is mask:
            ours["where"] = hd.asarray(mask)
        np.multiply(a, b, **theirs)
        assert hd.multiply(x, y, **ours) is out
        check(out, n)
    n, out = np.zeros((2,) + a.shape, a.dtype), hd.zeros((2,) + a.shape, dtype=dtype)
    np.add(a, b, n)
    assert hd.add(x, y, out) is out  # broadcast to it
    check(out, n)
    n, out = np.zeros(a.shape, a.dtype), hd.zeros(a.shape, dtype=dtype)
    np.add(a, 1, out=(n,), where=mask)
    assert hd.add(x, 1, out=(out,), where=mask) is out
    check(out, n)


def test_where_without_out_is_0_elsewhere():
    x, mask = hd.arange(6.0).reshape(2, 3), np.array([True, False, True])
    check(hd.negative(x, where=mask), np.where(mask, -np.arange(6.0).reshape(2, 3), 0))
    check(hd.add(1, 2, where=mask), np.where(mask, 3, 0))
    check(hd.add(x, 1, where=True), np.arange(6.0).reshape(2, 3) + 1)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("out", ["float32", "float64", "int8", "int64", "uint8", "complex64"])
@pytest.mark.parametrize("dtype", [None, "float32", "int16", "float64"])
@pytest.mark.parametrize("operand", ["float32", "int16", "int64"])
def test_casting(operand, dtype, out, casting):
    a = np.arange(4).astype(operand)
    n, o = np.zeros(4, out), hd.zeros(4, dtype=out)

    def ours():
        return hd.add(hd.asarray(a), hd.asarray(a), dtype=dtype, out=o, casting=casting)

    try:
        np.add(a, a, dtype=dtype, out=n, casting=casting)
    except TypeError:
        with pytest.raises(TypeError, match="casting="):
            ours()
    else:
        ours()
        check(o, n)


@pytest.mark.parametrize("call", [
    lambda m, x: m.sin(m.asarray(3), dtype="f4"), lambda m, x: m.sin(x, dtype="i4"),
    lambda m, x: m.divide(m.asarray(3), 2, dtype="i4"), lambda m, x: m.add(1.5, 2, dtype="i4"),
    lambda m, x: m.add(1.5, 2, dtype="i4", casting="unsafe"),
    lambda m, x: m.add(m.asarray([1], dtype="i1"), 300, dtype="i1"),
    lambda m, x: m.add(m.asarray([1], dtype="i1"), 300, dtype="i2"),
    lambda m, x: m.less(x, 2.0, dtype=bool), lambda m, x: m.less(x, 2.0, dtype=float),
    lambda m, x: m.isnan(x, dtype=bool), lambda m, x: m.isnan(x, dtype=float),
    lambda m, x: m.absolute(m.asarray([1j], dtype="c8"), dtype="f4"),
    lambda m, x: m.absolute(m.asarray([1j], dtype="c8"), dtype="f8"),
    lambda m, x: m.absolute(m.asarray([1j], dtype="c8"), dtype="c8"),
    lambda m, x: m.bitwise_count(5, dtype="u1"), lambda m, x: m.bitwise_count(5, dtype="i4"),
    lambda m, x: m.frexp(x, dtype="f4"), lambda m, x: m.divmod(x, 2, dtype="f4"),
    lambda m, x: m.modf(x, dtype="f4"), lambda m, x: m.add(x, 2, signature=(None, None, "f4")),
    lambda m, x: m.add(x, 2, signature=("f4", "f4", None)), lambda m, x: m.add(x, 2, signature="dd->d"),
    lambda m, x: m.add(x, 2, signature="f4"), lambda m, x: m.add(x, 2, signature=("f4", "f4")),
    lambda m, x: m.add(x, 2, signature="dd->d", dtype="f4"), lambda m, x: m.add(x, 2, order="X"),
    lambda m, x: m.add(x, 2, casting="X"), lambda m, x: m.add(x, 2, casting=3),
    lambda m, x: m.add(x, out=m.zeros(3)), lambda m, x: m.add(x, 2, m.zeros(4), 5),
    lambda m, x: m.add(x, 2, nothing=3), lambda m, x: m.add(x, 2, out=[1]),
    lambda m, x: m.add(x, 2, out=(m.zeros(4), m.zeros(4))), lambda m, x: m.add(x, 2, out=m.zeros(3)),
    lambda m, x: m.add(x, 2, out=m.zeros(1)), lambda m, x: m.add(x, 2, out=m.zeros((4, 1))),
    lambda m, x: m.add(x, 2, where=m.asarray([1, 0, 1, 0]), out=m.zeros(4)),
    lambda m, x: m.add(x, 2, where=m.ones((2, 4), dtype=bool), out=m.zeros(4)),
    lambda m, x: m.modf(x, out=m.zeros(4)), lambda m, x: m.modf(x, out=(m.zeros(4),)),
    lambda m, x: m.modf(x, m.zeros(4), out=(None, m.zeros(4)))], ids=str)
def test_dtypes_and_mistakes_as_in_numpy(call):
    n = np.array([1.5, 2.25, -3.0, 0.5])
    try:
        with np.errstate(all="ignore"):
            expected = call(np, n)
    except Exception:
        return same_error(lambda: call(hd, hd.asarray(n)), lambda: call(np, n))
    result = call(hd, hd.asarray(n))
    for one, other in zip(*((r if isinstance(r, tuple) else (r,)) for r in (result, expected))):
        check(one, other, ulp=4)


def test_several_results():
    n, x = pair(np.array([1.5, -2.25, 3.0]))
    one, other = hd.zeros(3), hd.zeros(3)
    assert hd.modf(x, one, other) == (one, other) or True
    result = hd.modf(x, out=(None, other))
    assert result[1] is other
    check(result[0], np.modf(n)[0])
    check(other, np.modf(n)[1])
    result = hd.divmod(x, 2, out=(one, None))
    assert result[0] is one
    check(one, n // 2)
    check(result[1], n % 2)
    mask = hd.asarray([True, False, True])
    hd.divmod(x, 2, one, other, where=mask)
    check(one, np.where([True, False, True], n // 2, n // 2))
    check(other, np.where([True, False, True], n % 2, np.modf(n)[1]))


def test_operands_that_overlap_out():
    n, x = pair(np.arange(8.0))
    hd.add(x[:-1], x[1:], out=x[1:])
    np.add(n[:-1], n[1:], out=n[1:])
    check(x, n)


def test_traced_functions_take_all_of_it():
    @hd.jit
    def f(x, y, mask):
        out = hd.zeros(x.shape)
        hd.add(x, y, out=out, where=mask)
        return out + hd.multiply(x, y, dtype=hd.float64) + hd.maximum.reduce(y)

    a, b = np.arange(5, dtype="f4"), np.arange(5, 0, -1).astype("f4")
    mask = a > 2
    check(f(hd.asarray(a), hd.asarray(b), hd.asarray(mask)),
          np.where(mask, a + b, 0.0) + a.astype("f8") * b + 5)


REDUCIBLE = ["add", "multiply", "maximum", "fmin", "logical_and", "logical_xor", "bitwise_or", "gcd",
             "lcm", "hypot", "logaddexp", "subtract", "divide", "power", "less"]


def both(call, ulp=8):
    """call(module, asarray) here and with NumPy: equal results, or errors of one class."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = call(np, np.asarray)
        except Exception:
            return same_error(lambda: call(hd, hd.asarray), lambda: call(np, np.asarray))
        check(call(hd, hd.asarray), expected, ulp=ulp)


@pytest.mark.parametrize("layout", ["plain", "transposed", "strided", "one", "empty"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
@pytest.mark.parametrize("name", REDUCIBLE)
def test_reduce_and_accumulate(name, dtype, layout):
    a = LAYOUTS[layout](sample(getattr(hd, dtype), (4, 6)))
    if name == "power":
        a = abs(a) if dtype == "complex128" else a % 3
    if getattr(hd, name).identity is None and name not in ("maximum", "minimum", "fmax", "fmin"):
        a = a.copy()  # of other layouts NumPy takes the elements in another order
    for options in ({}, {"axis": -1}, {"axis": None}, {"axis": (0, 1)}, {"axis": 5},
                    {"axis": 0, "keepdims": True}, {"axis": ()}):
        both(lambda m, make: getattr(m, name).reduce(make(a), **options))
    for axis in (0, -1, 3):
        both(lambda m, make: getattr(m, name).accumulate(make(a), axis))


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "logical_and", "bitwise_or", "gcd",
                                  "hypot", "logaddexp", "logical_xor", "subtract"])
def test_reduce_takes_initial_where_dtype_and_out(name):
    a = np.arange(12).reshape(3, 4) % 5
    mask = a > 1
    for options in ({"initial": 3}, {"where": mask, "initial": 2}, {"where": mask},
                    {"initial": None}, {"dtype": "f4"}, {"dtype": "f4", "axis": 1, "keepdims": True},
                    {"axis": 1, "dtype": "c16"}, {"where": mask[:, :1], "initial": 2}):
        both(lambda m, make: getattr(m, name).reduce(
            make(a), **{k: make(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}))
    for initial in (None, 3):
        options = {} if initial is None else {"initial": initial}
        both(lambda m, make: getattr(m, name).reduce(make(a[:0]), **options))
        both(lambda m, make: getattr(m, name).reduce(make(a[:, :0]), axis=1, **options))
        both(lambda m, make: getattr(m, name).reduce(make(a[:, :0]), axis=0, **options))
    dtype = getattr(np, name).reduce(a).dtype
    out = hd.zeros(4, dtype=str(dtype))
    assert getattr(hd, name).reduce(hd.asarray(a), out=out) is out
    check(out, getattr(np, name).reduce(a), ulp=8)
    for wrong in (hd.zeros(3), np.zeros(4)):
        with pytest.raises((ValueError, TypeError)):
            getattr(hd, name).reduce(hd.asarray(a), out=wrong)


@pytest.mark.parametrize("name", ["bitwise_xor", "gcd", "logaddexp2", "hypot"])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 100, 1000])
def test_folds_of_any_length(name, n):
    a = np.random.default_rng(n).integers(1, 100, (n, 3))
    for method in ("reduce", "accumulate"):
        both(lambda m, make: getattr(getattr(m, name), method)(make(a)), ulp=40)
        both(lambda m, make: getattr(getattr(m, name), method)(make(a.T), axis=1), ulp=40)


@pytest.mark.parametrize("call", [
    lambda m, x: m.sin.reduce(x), lambda m, x: m.divmod.reduce(x), lambda m, x: m.modf.accumulate(x),
    lambda m, x: m.sin.outer(x, x), lambda m, x: m.add.accumulate(3.0), lambda m, x: m.sin.reduceat(x, [0]),
    lambda m, x: m.add.reduceat(x, [0, 9]), lambda m, x: m.add.reduceat(x, [-1]),
    lambda m, x: m.add.reduce(x, axis=(0, 0)),
    lambda m, x: m.add.at(x, [0, 9], 1), lambda m, x: m.add.at(x, [0]), lambda m, x: m.sin.at(x, [0], 1),
    lambda m, x: m.add.at(3.0, [0], 1), lambda m, x: m.add.reduce(x, axis="a")], ids=str)
def test_methods_refuse_what_numpys_do(call):
    n = np.arange(4.0)
    same_error(lambda: call(hd, hd.asarray(n)), lambda: call(np, n))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint32", "float32", "complex64"])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "fmin", "logical_or", "logical_xor",
                                  "bitwise_and", "gcd", "logaddexp", "subtract", "divide"])
def test_reduceat(name, dtype):
    a = sample(getattr(hd, dtype), (9, 7))
    for axis, indices in ((0, [0, 4, 1, 5]), (1, [2, 2, 6]), (-1, [0]), (0, [8, 0, 3, 3]), (1, [])):
        both(lambda m, make: getattr(m, name).reduceat(make(a), indices, axis=axis), ulp=20)
        if indices:
            both(lambda m, make: getattr(m, name).reduceat(make(a), make(indices), axis), ulp=20)
    both(lambda m, make: getattr(m, name).reduceat(make(a.T[::2]), [0, 3, 3], axis=1), ulp=20)


@pytest.mark.parametrize("name", ["add", "multiply", "less", "arctan2", "divmod", "gcd"])
def test_outer(name):
    a, b = np.arange(1, 7).reshape(2, 3), np.arange(1, 5, dtype="i2")
    for left, right in ((a, b), (b, 3), (2, a), (a.T, a[:, 0]), (a, a[:, :0])):
        expected = getattr(np, name).outer(left, right)
        make = lambda v: hd.asarray(v) if isinstance(v, np.ndarray) else v  # noqa: E731
        result = getattr(hd, name).outer(make(left), make(right))
        for one, other in zip(*((r if isinstance(r, tuple) else (r,)) for r in (result, expected))):
            check(one, other, ulp=4)
    check(hd.add.outer(hd.asarray(a), b, dtype="f4"), np.add.outer(a, b, dtype="f4"))


INDICES = [[0, 1, 1, 3, 0], np.array([[2, 2], [0, -1]]), slice(1, 4), 2, [],
           np.array([True, False, True, True, False])]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "fmin", "bitwise_xor", "logical_and",
                                  "divide", "negative"])
def test_at(name, dtype):
    a = sample(getattr(hd, dtype), (5,))
    unary = getattr(np, name).nin == 1
    for indices in INDICES:
        count = np.arange(5)[indices].shape
        values = sample(getattr(hd, dtype), count, seed=3)
        for value in ((values, 1, 2.5) if not unary else (None,)):
            def written(m, make):
                x = make(a.copy())
                given = () if value is None else (make(value) if isinstance(value, np.ndarray) else value,)
                assert getattr(m, name).at(x, indices, *given) is None
                return x

            both(written, ulp=8)


def test_at_writes_along_several_axes_and_through_views():
    def written(m, make):
        x = make(np.zeros((4, 5)))
        m.add.at(x, ([0, 0, 3], [1, 1, 2]), make(np.array([1.0, 2.0, 3.0])))
        m.add.at(x.T[1:], [0, 0, 2], 5)
        m.maximum.at(x[::2], (slice(None), [1, 4]), make(np.array([[7.0], [9.0]])))
        return x

    check(written(hd, hd.asarray), written(np, np.asarray))


def test_many_updates_at_few_places():
    rng = np.random.default_rng(0)
    keys, values = rng.integers(0, 50, 5000), rng.integers(-9, 9, 5000)
    for name in ("add", "maximum", "bitwise_xor"):
        n, x = pair(np.zeros(50, dtype=np.int64))
        getattr(np, name).at(n, keys, values)
        getattr(hd, name).at(x, hd.asarray(keys), hd.asarray(values))
        check(x, n)


def test_numpys_ufuncs_use_the_methods_here():
    n, x = pair(np.arange(1.0, 13.0).reshape(3, 4))
    for call in (lambda a: np.bitwise_or.reduce(a.astype(int), axis=1),
                 lambda a: np.logaddexp.accumulate(a, axis=1), lambda a: np.add.reduceat(a, [0, 2]),
                 lambda a: np.subtract.outer(a[0], a[1]), lambda a: np.add(a, a, dtype="f4"),
                 lambda a: np.sqrt(a, where=np.asarray(a) > 0)):
        check(call(x), call(n), ulp=8)
    out = hd.zeros((3, 4))
    assert np.add(x, 1, out=out, where=np.asarray(n) > 5) is out
    check(out, np.where(n > 5, n + 1, 0))
    target = np.zeros((3, 4))
    np.add(x, 1, out=target, where=n > 5)
    np.testing.assert_array_equal(target, np.where(n > 5, n + 1, 0))
    np.add.at(x, [0, 0], 1)
    np.add.at(n, [0, 0], 1)
    check(x, n)


def test_the_users_line_is_named():
    x = hd.ones(3)
    with pytest.raises(hd.DTypeError, match=r"test_ufuncs\.py:\d+"):
        hd.bitwise_or.reduce(x)
    with pytest.raises(hd.DTypeError, match=r"test_ufuncs\.py:\d+"):
        hd.add(x, 1, dtype="i4")
