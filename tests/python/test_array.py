"""Array objects: operators, views that write through, exchange with NumPy and Python."""

import operator

import numpy as np
import pytest
from conftest import check, numpy_dtype, sample

import heddle as hd

BINARY = [operator.add, operator.mul, operator.sub, operator.truediv, operator.floordiv,
          operator.mod, operator.eq, operator.ne, operator.lt, operator.le, operator.gt,
          operator.ge]


def test_operators_promote_as_numpy():
    a, b = sample(hd.int16, (3, 4)), sample(hd.float32, 4, 1) + 1
    x, y = hd.asarray(a), hd.asarray(b)
    results = [(op(x, y), op(a, b)) for op in BINARY]
    results += [(op(y, x), op(b, np.where(a == 0, 1, a).astype(a.dtype)))
                for op in BINARY[:3]]
    hd.eval(*[got for got, _ in results])
    for got, expected in results[:12]:
        check(got, expected)


@pytest.mark.parametrize("scalar", [True, 3, -2, 2.5])
def test_python_scalars_are_weak(scalar):
    pairs = []
    for dtype in (hd.int8, hd.int64, hd.float16, hd.float32, hd.float64):
        a = sample(dtype, 5)
        x = hd.asarray(a)
        pairs += [(x + scalar, a + scalar), (scalar - x, scalar - a), (x * scalar, a * scalar),
                  (x < scalar, a < scalar)]
    hd.eval(*[got for got, _ in pairs])
    for got, expected in pairs:
        check(got, expected)


def test_integers_that_do_not_fit():
    x = hd.ones(3, dtype=hd.uint8)
    with pytest.raises(hd.DTypeError, match="300"):
        x + 300
    with pytest.raises(OverflowError):
        x + 2**80
    assert issubclass(hd.DTypeError, TypeError)
    assert hd.asnumpy(x < 300).all()


def test_unary_and_matmul():
    a = sample(hd.float64, (2, 3))
    x = hd.asarray(a)
    for got, expected in [(-x, -a), (+x, +a), (abs(x), abs(a)), (x @ x.T, a @ a.T),
                          (x ** 2, a ** 2), (~hd.asarray(a > 0), ~(a > 0))]:
        check(got, expected)
    for got, expected in zip(divmod(x, 1.5), divmod(a, 1.5)):
        check(got, expected)


def test_in_place_keeps_dtype_and_aliases():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = hd.asarray(a)
    alias = x
    row = x[1]
    x += 1
    x[0] *= 2
    row -= 0.5
    a += 1
    a[0] *= 2
    a[1] -= 0.5
    check(alias, a)
    n = hd.arange(3)
    with pytest.raises(TypeError):
        n += 0.5
    with pytest.raises(ValueError):
        n += hd.ones((2, 3), dtype=hd.int64)


INDICES = [np.s_[1], np.s_[-1], np.s_[1:], np.s_[::-1], np.s_[..., 0], np.s_[:, 1], np.s_[0, 1],
           np.s_[None, 1:3, None], np.s_[2:0:-1, ::2], np.s_[()], np.s_[...], np.s_[5:2],
           np.s_[-100:100:3, -2], np.s_[0, ..., 1], np.s_[0, 0, 0]]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_basic_indexing_reads_and_writes(index):
    a = np.arange(60).reshape(4, 3, 5)
    x = hd.asarray(a)
    check(x[index], a[index])
    x[index] = -1
    a[index] = -1
    check(x, a)
    value = np.arange(np.size(a[index])).reshape(np.shape(a[index]))
    x[index] = hd.asarray(value)
    a[index] = value
    check(x, a)


def test_index_errors():
    x = hd.zeros((2, 3))
    for bad in [2, -3, (0, 3), (0, 0, 0), (..., ...)]:
        with pytest.raises(IndexError):
            x[bad]
    for bad in ["a", 1.0, object()]:
        with pytest.raises(IndexError):
            x[bad]
    with pytest.raises(ValueError):
        x[0] = hd.zeros(4)
    with pytest.raises(ValueError):
        x[::0]


VIEWS = [
    lambda xp, x: x[1:, ::2],
    lambda xp, x: x.T,
    lambda xp, x: x[2],
    lambda xp, x: x.reshape(6, 4),
    lambda xp, x: x.reshape(-1)[3:20:4],
    lambda xp, x: x.T[1:3].T,
    lambda xp, x: xp.flip(x, axis=1),
    lambda xp, x: xp.expand_dims(x, axis=1)[:, 0, 1],
    lambda xp, x: xp.moveaxis(x, 0, 1),
    lambda xp, x: x[:, None][1:][::-1, 0],
    lambda xp, x: x[:, :1].reshape(4),
    lambda xp, x: x.ravel()[::-1],
    lambda xp, x: x.swapaxes(0, 1)[::-1],
    lambda xp, x: x[1:3, 1:5].mT,
    lambda xp, x: x.T.reshape(3, 8),  # a copy in NumPy
]


@pytest.mark.parametrize("view", VIEWS)
def test_views_alias_as_in_numpy(view):
    a = np.arange(24, dtype=np.int32).reshape(4, 6)
    x = hd.asarray(a)
    v, w = view(hd, x), view(np, a)
    check(v, w)
    assert v.strides == w.strides
    x[1, 1] = 100  # seen through the view
    a[1, 1] = 100
    check(v, w)
    v[...] = v * 2  # and the other way
    w[...] = w * 2
    check(x, a)
    v[0] = 7
    w[0] = 7
    check(x, a)
    check(v, w)


def test_overlapping_assignment_reads_before_it_writes():
    a = np.arange(8)
    x = hd.asarray(a)
    x[1:] = x[:-1]
    a[1:] = a[:-1]
    check(x, a)
    x[...] = x[::-1]
    check(x, a[::-1])


def test_broadcast_views_are_read_only():
    x = hd.arange(3)
    y = hd.broadcast_to(x, (2, 3))
    x[0] = 9
    check(y, np.array([[9, 1, 2]] * 2))
    with pytest.raises(ValueError, match="read-only"):
        y[0, 0] = 1


def test_mask_assignment():
    a = sample(hd.float32, (3, 4))
    x = hd.asarray(a)
    x[x < 0] = 0
    a[a < 0] = 0
    check(x, a)


def test_to_python():
    x = hd.asarray([[1.5, 2.0], [3.0, -0.0]])
    assert x.tolist() == [[1.5, 2.0], [3.0, -0.0]]
    assert x[0, 0].item() == 1.5 and float(x[1, 0]) == 3.0 and int(x[1, 0]) == 3
    assert complex(x[0, 1]) == 2 and bool(x[0, 0]) and not bool(x[1, 1])
    assert operator.index(hd.asarray(7)) == 7 and list(range(5))[hd.asarray(2)] == 2
    assert len(x) == 2 and [row.tolist() for row in x] == x.tolist()
    assert 3.0 in x and 4.0 not in x
    with pytest.raises(TypeError):
        operator.index(hd.asarray(1.0))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError):
        len(x[0, 0])
    with pytest.raises(TypeError):
        hash(x)


def test_attributes():
    x = hd.zeros((2, 3, 4), dtype=hd.int16)
    a = np.zeros((2, 3, 4), dtype=np.int16)
    for name in ("shape", "ndim", "size", "itemsize", "nbytes", "strides"):
        assert getattr(x, name) == getattr(a, name)
    assert x.T.shape == (4, 3, 2) and x.mT.shape == (2, 4, 3)
    assert x.device in hd.__array_namespace_info__().devices()
    assert x.__array_namespace__() is hd
    assert x.to_device(x.device) is x


def test_printing_is_numpys(dtype):
    if dtype == hd.bfloat16:
        pytest.skip("NumPy prints it through ml_dtypes")
    a = sample(dtype, (2, 3))
    assert str(hd.asarray(a)) == str(a)
    assert repr(hd.asarray(a)) == repr(a)


def test_numpy_round_trip(dtype):
    for a in (sample(dtype, (3, 4)), sample(dtype, (3, 4)).T, sample(dtype, (0, 2)),
              sample(dtype, ()), sample(dtype, (6,))[::-2]):
        check(hd.asarray(a), a)
        assert np.asarray(hd.asarray(a)).dtype == numpy_dtype(dtype)


def test_an_array_of_another_library_by_mistake_names_asarray():
    class Foreign:
        def __array__(self, dtype=None, copy=None):
            return np.ones(3)

    a, x = Foreign(), hd.ones(3)
    for mistake in (lambda: x + a, lambda: a + x, lambda: hd.sin(a), lambda: hd.concat([x, a]),
                    lambda: x.dot(a)):
        with pytest.raises(TypeError, match="heddle.asarray"):
            mistake()


def test_asarray_of_python_objects():
    for value in (True, 3, 2.5, [], [[]], [1, 2.5, True], [[1, 2], [3, 4]], [True, False], [2**63],
                  ((1, 2), [3, 4])):
        check(hd.asarray(value), np.asarray(value))
    check(hd.asarray([hd.asarray(1), 2]), np.asarray([1, 2]))
    check(hd.asarray([[hd.asarray(1.0), 2], [3, hd.asarray(4)]]), np.asarray([[1.0, 2], [3, 4]]))
    check(hd.asarray([hd.ones(2), [3, 4]]), np.asarray([[1.0, 1], [3, 4]]))
    check(hd.asarray([np.float32(1), 2]), np.asarray([np.float32(1), 2]))
    check(hd.asarray([1.7, -1.7], dtype="int32"), np.asarray([1, -1], dtype=np.int32))
    check(hd.asarray(memoryview(b"abc")), np.asarray(memoryview(b"abc")))
    with pytest.raises(ValueError):
        hd.asarray([[1, 2], [3]])
    with pytest.raises(ValueError):
        hd.asarray([[1], 2])
    with pytest.raises(OverflowError):
        hd.asarray([300], dtype=hd.uint8)
    with pytest.raises(TypeError):
        hd.asarray("abc")
    x = hd.ones(3)
    assert hd.asarray(x) is x and hd.asarray(x, copy=True) is not x
    with pytest.raises(ValueError):
        hd.asarray(x, dtype=hd.int8, copy=False)


def test_errors_name_the_users_line():
    with pytest.raises(hd.ShapeError, match=r"test_array\.py:\d+"):
        hd.ones(2) + hd.ones(3)


def test_out():
    x, target = hd.asarray([1.0, 2.0]), hd.zeros(2, dtype=hd.float32)
    assert hd.add(x, 1, out=target) is target
    check(target, np.array([2, 3], np.float32))
    matrix = hd.zeros((2, 2))
    hd.multiply(x, 2, out=matrix[1])
    check(matrix, np.array([[0, 0], [2.0, 4]]))
    with pytest.raises(TypeError):
        hd.add(x, 1, out=hd.zeros(2, dtype=hd.int64))
    with pytest.raises(ValueError):
        hd.add(x, 1, out=hd.zeros(3))


def test_long_loops_are_evaluated_automatically():
    before = hd.statistics()
    x = hd.ones(4)
    for _ in range(400):
        x = x * 0.5 + 1
    after = hd.statistics()
    assert after["auto_evaluations"] > before["auto_evaluations"]
    assert after["programs"] - before["programs"] <= 3
    check(x, np.full(4, 2.0))


@pytest.mark.parametrize("floating", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("source", ["bool", "int8", "uint8", "int16", "int32"])
def test_signs_of_floats_cast_from_integers(source, floating):
    """In one kernel: ptxas (CUDA 13.0) lost what was done to the sign bit of such numbers."""
    whole = np.array([-1, 2, 0, 1, -128, 127, -2, 5] * 4).astype(source)
    number = hd.asarray(whole).astype(getattr(hd, floating))
    for ours, numpys in [(hd.fabs, np.fabs), (hd.absolute, np.absolute), (hd.negative, np.negative)]:
        got = np.asarray(ours(number).astype(hd.float64))
        want = numpys(whole.astype("float64"))
        assert np.array_equal(got, want) and np.array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function, columns", [("exp", 96), ("exp", 300), ("sin", 6000)])
def test_argmax_and_argmin_of_computed_values(dtype, function, columns):
    """Which may come out one unit apart in loops of a vector and of a number at a time."""
    x = np.random.default_rng([502, columns]).random((100, columns)).astype(dtype)
    for view in (lambda x: x, lambda x: x[:, ::3], lambda x: x[:, ::-1]):
        for name in ("argmax", "argmin"):
            def both(x):
                y = getattr(hd, function)(view(x))
                return y, getattr(hd, name)(y, axis=1)
            y, place = (np.asarray(each) for each in hd.jit(both)(hd.asarray(x)))
            alone = np.asarray(hd.jit(lambda x: both(x)[1])(hd.asarray(x)))
            want = getattr(np, name[3:])(y, axis=1)
            for each in (place, alone):
                found = np.take_along_axis(y, each[:, None], axis=1)[:, 0]
                assert np.allclose(found, want, rtol=4 * np.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("columns", [10, 63, 2058])
def test_a_product_that_underflows_to_negative_zero_is_not_less_than_zero(columns):
    a, b = np.full((2, columns), 1e-30, "float32"), np.zeros((2, columns), "float32")
    b[:, -3] = -1e-30
    for axis in (0, 1):
        ours = hd.jit(lambda a, b: hd.argmin(a * b, axis=axis))(hd.asarray(a), hd.asarray(b))
        assert np.array_equal(np.asarray(ours), np.argmin(a * b, axis=axis))


def test_inverses_and_roots_of_every_mantissa():
    """Which decide a quick one's rounding, in both kinds of exponents of a root."""
    x = np.arange(0x3F800000, 0x40800000, dtype="int32").view("float32")
    y = np.random.default_rng(501).uniform(1, 2, x.size).astype("float32")

    def many(xp, x, y):
        return 1 / x, xp.sqrt(x), y / x

    assert x[0] == 1 and x[-1] < 4 and x.size == 1 << 24
    for got, want in zip(hd.jit(lambda x, y: many(hd, x, y))(hd.asarray(x), hd.asarray(y)),
                         many(np, x, y), strict=True):
        assert np.array_equal(np.asarray(got).view("int32"), want.view("int32"))


@pytest.mark.parametrize("exponents", [(-30, 30), (-149, 128), (-70, -50), (100, 128)])
@pytest.mark.parametrize("rows", [1, 1000])
def test_many_quotients_and_roots_are_rounded_once(exponents, rows):
    """Several in one kernel are made without a branch each, and again where one is unusual."""
    random = np.random.default_rng([500 + exponents[0], rows])
    shape = (rows, 1024)

    def numbers():
        exponent = random.integers(*exponents, size=shape)
        with np.errstate(over="ignore", under="ignore"):
            number = np.ldexp(random.uniform(1, 2, shape), exponent).astype("float32")
        return np.where(random.random(shape) < 0.5, number, -number)

    x, y = numbers(), numbers()
    y[0, :12] = [0, -0.0, np.inf, -np.inf, np.nan, 1, 2, 3, 1e-45, -1e-45, 3e38, 0]
    x[0, :12] = [0, -0.0, np.inf, 1, 1, 0, -0.0, np.inf, 3, 1e-45, 1e-45, -1]

    def many(xp, x, y):
        return x / y, y / x, 1 / y, xp.sqrt(xp.fabs(x)), xp.sqrt(y)

    ours = hd.jit(lambda x, y: many(hd, x, y))(hd.asarray(x), hd.asarray(y))
    with np.errstate(all="ignore"):
        for got, want in zip(ours, many(np, x, y), strict=True):
            got = np.asarray(got)
            assert np.array_equal(np.isnan(got), np.isnan(want))
            number = ~np.isnan(want)
            assert np.array_equal(got.view("int32")[number], want.view("int32")[number])
