"""ndarray, r_, c_, s_, vectorize, errstate, and 0-d arrays in the place of NumPy's scalars."""

import decimal
import fractions
import math
import operator
import pickle
import struct
import subprocess
import sys
import typing
import warnings

import numpy as np
import pytest
from conftest import DTYPES, ON_CPU, check, numpy_dtype, sample

import heddle as hd


def test_ndarray_is_the_class_of_arrays():
    x = hd.ndarray((2, 3), "f4")
    assert isinstance(x, hd.ndarray) and hd.ndarray is hd.Array and isinstance(hd.ones(2) + 1, hd.ndarray)
    assert x.shape == (2, 3) and x.dtype == np.float32 and x.base is None and x.flags.owndata
    for args, kwargs in (((3,), {}), ((), {"shape": (2, 0)}), (((),), {"dtype": int}), ((4, "c8"), {})):
        ours, theirs = hd.ndarray(*args, **kwargs), np.ndarray(*args, **kwargs)
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    for wrong in (lambda: hd.ndarray(), lambda: hd.ndarray("a"), lambda: hd.ndarray((2,), "U3"),
                  lambda: hd.ndarray((2.5,)), lambda: hd.ndarray((True,))):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: hd.ndarray((2,), strides=(8,)), lambda: hd.ndarray((-1,))):
        with pytest.raises(ValueError):
            wrong()


def test_annotations_name_dtypes():
    from heddle.typing import ArrayLike, DTypeLike, NDArray

    def scaled(x: NDArray[hd.float64], by: ArrayLike, dtype: DTypeLike | None = None) -> hd.ndarray[hd.floating]:
        return hd.asarray(x * by, dtype)

    hints = typing.get_type_hints(scaled)
    assert hints["x"].__origin__ is hd.Array and hints["x"].__args__ == (hd.float64,)
    assert hints["return"].__origin__ is hd.Array
    assert hd.Array in typing.get_args(hints["by"]) and type(hd.int8) in typing.get_args(hints["dtype"])
    check(scaled(hd.ones(2), 3, "f4"), np.full(2, 3, "f4"))


def test_ndarray_of_a_buffer_shares_it():
    memory = bytearray(np.arange(8.0).tobytes())
    x = hd.ndarray((2, 3), buffer=memory, offset=8)
    check(x, np.arange(1.0, 7).reshape(2, 3))
    x[0, 0] = 9
    assert struct.unpack_from("d", memory, 8) == (9.0,)
    check(hd.ndarray((3, 2), float, memory, 0, (8, 24)), np.ndarray((3, 2), float, memory, 0, (8, 24)))
    with pytest.raises(TypeError, match="too small"):
        hd.ndarray((9,), buffer=memory)


SUBSCRIPTS = [np.s_[1:4], np.s_[1:4, 0, 4], np.s_[0:1:5j, 2], np.s_[[1, 2], [3.5]], np.s_[1, 2, 3],
              np.s_["0,2", [1, 2], [3, 4]], np.s_["1,2", [1, 2], [3, 4]], np.s_["-1,3,0", [1, 2], [3]],
              np.s_["0,2,0", [1, 2], [3, 4]], np.s_["-1,2,0", [1], [3]], np.s_[True, 2.5], np.s_[5],
              np.s_[0:6:2, 1j]]


@pytest.mark.parametrize("key", SUBSCRIPTS, ids=str)
@pytest.mark.parametrize("name", ["r_", "c_"])
def test_r_and_c(name, key):
    try:
        expected = getattr(np, name)[key]
    except ValueError:
        with pytest.raises(ValueError):
            getattr(hd, name)[key]
    else:
        check(getattr(hd, name)[key], expected)


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex64"])
def test_r_and_c_of_arrays(dtype):
    a = sample(getattr(hd, dtype), (2, 3))
    x = hd.asarray(a)
    check(hd.r_[x, x * 2], np.r_[a, a * 2])
    check(hd.c_[x, x[:, :1]], np.c_[a, a[:, :1]])
    check(hd.r_[x[0], 1, 2], np.r_[a[0], 1, 2])
    check(hd.c_[x[0], x[1]], np.c_[a[0], a[1]])
    check(hd.r_["-1", x, x], np.r_["-1", a, a])
    check(hd.r_[a[0], x[1]], np.r_[a[0], a[1]])


def test_r_and_c_refuse_matrices_and_nothing():
    for key in ("r", "c", "a,b", "1,2,3,4"):
        with pytest.raises(ValueError, match="directive"):
            hd.r_[key, [1], [2]]
    with pytest.raises(ValueError):
        hd.r_["0"]
    assert repr(hd.r_) == "heddle.r_" and len(hd.c_) == len(np.c_) == 0


def test_s_and_index_exp():
    assert hd.s_[1:2, ...] == np.s_[1:2, ...] and hd.s_[3] == 3 and hd.index_exp[3] == (3,)
    x = hd.arange(12).reshape(3, 4)
    check(x[hd.s_[1:, ::2]], np.arange(12).reshape(3, 4)[1:, ::2])


def test_vectorize():
    def clipped(x, top):
        """Not above the top."""
        return x if x < top else top

    ours, theirs = hd.vectorize(clipped), np.vectorize(clipped)
    a = np.arange(6.0).reshape(2, 3)
    for args in ((a, 2.5), (a, a[:1] + 1), (a.T, 2), (a[0, 0], 3)):
        check(ours(*(hd.asarray(v) if isinstance(v, np.ndarray) else v for v in args)), theirs(*args))
    assert ours.__doc__ == clipped.__doc__ and ours.__name__ == "clipped"
    check(hd.vectorize(lambda x: (x, -x))(hd.arange(3))[1], -np.arange(3))
    check(hd.vectorize(lambda x: x, otypes=[hd.float32])(hd.arange(3)), np.arange(3, dtype="f4"))
    check(hd.vectorize(lambda x: x, otypes="f")(hd.arange(0)), np.zeros(0, "f4"))
    check(hd.vectorize(math.pow, excluded={1})(hd.arange(3), 2), np.arange(3.0) ** 2)
    check(hd.vectorize(lambda v: sum(v), signature="(n)->()")(hd.asarray(a)), a.sum(1))

    @hd.vectorize
    def plain(x):
        return x + 1

    @hd.vectorize(otypes=[float])
    def typed(x):
        """With a dtype."""
        return x + 1

    check(plain(hd.arange(3)), np.arange(3) + 1)
    check(typed(hd.arange(3)), np.arange(3) + 1.0)
    assert typed.__doc__ == "With a dtype."
    with pytest.raises(hd.TraceError):
        hd.jit(lambda x: plain(x))(hd.arange(3))
    with pytest.raises(ZeroDivisionError):
        hd.vectorize(lambda x: 1 // x)(hd.arange(3))


def test_errstate_takes_numpys_keywords():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with hd.errstate(divide="ignore", invalid="warn"), hd.errstate(all="ignore"):
            assert hd.isinf(hd.ones(1) / 0).item()

        @hd.errstate(over="ignore", linalg="ignore")
        def decorated():
            return hd.linalg.cholesky(hd.asarray([[-1.0]]))

        for _ in range(2):
            assert hd.isnan(decorated()).item()
    with pytest.raises(hd.LinAlgError):
        hd.linalg.cholesky(hd.asarray([[-1.0]]))
    for value in ("raise", "call", "print", "log"):
        with pytest.raises(ValueError, match="isfinite"):
            hd.errstate(divide=value)
    with pytest.raises(ValueError, match="'ignore' or 'warn'"):
        hd.seterr(all="sometimes")
    assert hd.seterr(over="warn") == hd.geterr() and set(hd.geterr()) == set(np.geterr())


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != hd.bfloat16], ids=str)
@pytest.mark.parametrize("value", [0, 1, 3])
def test_zero_dimensions_are_as_numpys_scalars(dtype, value):
    n = np.asarray(value).astype(numpy_dtype(dtype))[()]
    x = hd.asarray(value, dtype=dtype)

    def both(call, expected=True):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = call(n)
        except Exception as error:
            with pytest.raises(next(c for c in type(error).__mro__ if c.__module__ == "builtins")):
                call(x)
            return
        got = call(x)
        got = got.item() if isinstance(got, hd.Array) else got
        assert got == want and (not expected or type(got) is type(want)), (got, want)

    both(hash)
    both(bool)
    both(complex)
    both(str)
    both(lambda v: f"{v}")
    both(lambda v: int(v) if dtype.kind != "c" else 0)
    both(lambda v: float(v) if dtype.kind != "c" else 0)
    both(lambda v: {n: "found"}[v])
    both(lambda v: f"{v:.2f}" if dtype.kind == "f" else "")
    both(lambda v: f"{v:5d}" if dtype.kind in "iu" else "")
    both(lambda v: round(v) if dtype.kind in "fiu" else 0, expected=False)
    both(lambda v: math.floor(v) if dtype.kind in "fiu" else 0)
    both(lambda v: math.sqrt(v) if dtype.kind != "c" else 0)
    both(lambda v: v in [0, 1], expected=False)
    if dtype.kind in "iu":
        both(operator.index)
        both(lambda v: [10, 11, 12, 13][v])
        both(lambda v: list(range(v)))
        both(lambda v: "ab" * v)
        both(hex)
    else:
        with pytest.raises(TypeError):
            operator.index(x)
    for call in (len, iter, list):
        with pytest.raises(TypeError):
            call(x)


def test_scalars_of_numpys_numbers_tower():
    x = hd.asarray(2.5)
    assert math.trunc(x) == 2 and math.ceil(x) == 3 and math.floor(-x) == -3
    assert x.is_integer() is False and hd.asarray(4.0).is_integer() is True and hd.asarray(3).is_integer()
    assert decimal.Decimal(float(x)) == decimal.Decimal("2.5") and fractions.Fraction(float(x)) == 2.5
    assert divmod(x, 2)[0] == 1 and x.item() == 2.5
    with pytest.raises(TypeError):
        hd.arange(3).is_integer()


@pytest.mark.skipif(not ON_CPU, reason="structs are packed from host memory")
def test_zero_dimensions_have_a_buffer():
    assert bytes(memoryview(hd.asarray(2.5))) == struct.pack("d", 2.5)


@pytest.mark.parametrize("name", ["f4", "float16", float, bool, "<i8", np.uint8, np.dtype("c16"), None])
def test_dtype_makes_dtypes(name):
    assert hd.dtype(name) == np.dtype(name)
    assert isinstance(hd.dtype(name), hd.dtype)
    assert hd.dtype(hd.dtype(name)) is hd.dtype(name)


@pytest.mark.parametrize("name", ["U3", object, [("a", "i4")], "datetime64[s]", "nonsense"])
def test_dtype_refuses_what_is_none_here(name):
    with pytest.raises(TypeError, match="heddle has"):
        hd.dtype(name)


def test_names_that_are_numpys():
    assert hd.binary_repr(5, 8) == np.binary_repr(5, 8)
    assert hd.base_repr(10, 3) == "101"
    assert hd.str_ is np.str_ and hd.floating is np.floating
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hd.nothing


def test_testing():
    from heddle.testing import assert_allclose

    x = hd.arange(3.0)
    assert_allclose(x, [0, 1, 2])
    hd.testing.assert_array_equal(x, np.arange(3))
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 3"):
        assert_allclose(x, [0, 1, 3])


def test_printoptions():
    x = hd.asarray([1 / 3])
    before = hd.get_printoptions()
    with hd.printoptions(precision=2, suppress=True) as inside:
        assert (str(x), inside["precision"], inside["suppress"]) == ("[0.33]", 2, True)
    assert str(x) == "[0.33333333]" and hd.get_printoptions() == before
    with pytest.raises(ZeroDivisionError):
        with hd.printoptions(precision=1):
            1 / 0
    assert hd.get_printoptions() == before


@pytest.mark.parametrize("options", [
    {"formatter": {"float": lambda x: f"<{x:.1f}>"}}, {"sign": "+"}, {"floatmode": "fixed", "precision": 3},
    {"nanstr": "NA", "infstr": "inf!"}, {"floatmode": "unique"}, {"threshold": 2, "edgeitems": 1, "sign": " "}])
@pytest.mark.parametrize("values", [[[1.5, float("nan")], [float("inf"), -2]], 0.25, [1, 2, 3], [True], [1 + 2j]])
def test_options_that_numpy_formats(options, values):
    with hd.printoptions(**options), np.printoptions(**options):
        ours, numpys = hd.asarray(values), np.asarray(values)
        assert (str(ours), repr(ours)) == (str(numpys), np.array_repr(numpys))
    assert str(hd.asarray([0.5])) == "[0.5]"
    with pytest.raises(ValueError, match="sign"):
        hd.set_printoptions(precision=2, sign="x")
    assert hd.get_printoptions()["precision"] == 8


@pytest.mark.parametrize("shapes", [[(2, 1), (3,)], [(), (2, 0)], [(3,)], [(4, 1, 2), (1, 5, 1), ()]])
def test_broadcast(shapes):
    theirs = np.broadcast(*(np.arange(np.prod(s, dtype=int)).reshape(s) for s in shapes))
    ours = hd.broadcast(*(hd.asarray(np.arange(np.prod(s, dtype=int)).reshape(s)) for s in shapes))
    for name in ("shape", "ndim", "nd", "size", "numiter", "index"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert [tuple(map(int, each)) for each in ours] == [tuple(map(int, each)) for each in theirs]
    ours.reset()
    assert ours.index == 0 and all(each.shape == ours.shape for each in ours.values)
    with pytest.raises(ValueError, match="broadcast"):
        hd.broadcast(hd.ones(2), hd.ones(3))


def test_complex_warnings():
    z = hd.asarray([1 + 2j])
    for cast in (lambda: z.astype("float32"), lambda: z.astype(int),
                 lambda: hd.concatenate([z, z], dtype="float64", casting="unsafe")):
        with pytest.warns(np.exceptions.ComplexWarning):
            assert cast()[0] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert z.astype("complex64")[0] == 1 + 2j and z.astype(bool)[0] and z.real[0] == 1


def test_broadcast_while_memory_is_shared():
    x = hd.ones(3, device="cpu")
    shared = np.from_dlpack(x)
    for other in (1.0, [[1], [2]], hd.zeros((2, 1), device="cpu")):
        assert hd.broadcast(x, other).shape == np.broadcast(shared, np.asarray(other)).shape
        assert hd.broadcast_arrays(x, other)[0].tolist() == np.broadcast_arrays(shared, np.asarray(other))[0].tolist()


def test_axis_errors_near_the_recursion_limit():
    script = """
import sys
import heddle as hd
x = hd.ones((2, 3))
hd.eval(x)
caught = set()

def deep(n):
    if n > 0:
        return deep(n - 1)
    try:
        hd.sum(x, axis=9)
    except (RecursionError, hd.AxisError) as error:
        caught.add(type(error).__name__)

for n in range(sys.getrecursionlimit() - 60, sys.getrecursionlimit()):
    try:
        deep(n)
    except RecursionError:
        pass
print(sorted(caught))
"""
    made = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert made.stdout == "['AxisError', 'RecursionError']\n", made.stderr


def test_axis_errors_have_the_axis_and_the_number_of_axes():
    a = np.ones((2, 3))
    for call in (lambda m, x: m.sum(x, axis=5), lambda m, x: m.expand_dims(x, -4), lambda m, x: m.stack([x, x], 3),
                 lambda m, x: m.size(x, 2), lambda m, x: m.linalg.norm(x, axis=2),
                 lambda m, x: m.add.reduce(x, axis=-3)):
        found = []
        for module, x in ((np, a), (hd, hd.asarray(a))):
            with pytest.raises(np.exceptions.AxisError) as caught:
                call(module, x)
            found.append((caught.value.axis, caught.value.ndim))
        assert found[1] == found[0]
        assert f"axis {found[1][0]} is out of bounds" in str(caught.value)
        again = pickle.loads(pickle.dumps(caught.value))
        assert (again.axis, again.ndim, str(again)) == (*found[1], str(caught.value))
    with pytest.raises(hd.AxisError) as caught:
        hd.pad(a, {7: (1, 1)})
    assert (caught.value.axis, caught.value.ndim) == (7, 2)
    assert str(hd.AxisError(3, 2, "f")) == str(np.exceptions.AxisError(3, 2, "f"))


def test_exceptions_are_pickled():
    for kind in ("OutOfMemory", "DeviceError", "CommunicationError", "CompileError", "ShapeError", "LinAlgError"):
        error = getattr(hd.exceptions, kind, None) or getattr(hd, kind, None) or getattr(hd.cuda.nccl, "NcclError")
        made = pickle.loads(pickle.dumps(error(124, "of 1024")))
        assert type(made) is error and made.args == (124, "of 1024") and str(made) == str(error(124, "of 1024"))


def test_numpys_exceptions():
    for make in (lambda: hd.linalg.cholesky(-hd.eye(2)).eval(), lambda: hd.linalg.inv(hd.zeros((2, 2))).eval()):
        with pytest.raises(np.linalg.LinAlgError) as caught:
            make()
        assert isinstance(caught.value, hd.linalg.LinAlgError)
    wide = np.ones((2, 3))
    for name, arguments in {"inv": [wide], "det": [wide], "eigvalsh": [wide], "cholesky": [wide], "matrix_power": [wide, 2],
                            "solve": [wide, np.ones(2)], "qr": [wide[0]], "svd": [wide[0]], "pinv": [wide[0]]}.items():
        for module in (np, hd):
            with pytest.raises(np.linalg.LinAlgError) as caught:
                getattr(module.linalg, name)(*arguments)
        assert isinstance(caught.value, hd.exceptions.ShapeError), name
    for b in (np.ones(4), np.ones((4, 2))):
        for module in (np, hd):
            with pytest.raises(ValueError) as caught:
                module.linalg.solve(np.eye(3), b)
            assert not isinstance(caught.value, np.linalg.LinAlgError)
    assert str(hd.AxisError("axis 3")) == "axis 3" and hd.AxisError("axis 3").axis is None
    for name in ("ComplexWarning", "RankWarning", "VisibleDeprecationWarning"):
        assert getattr(hd.exceptions, name) is getattr(np.exceptions, name)
    with pytest.raises(AttributeError):
        hd.exceptions.NoSuchError
