"""NumPy's arrays and scalars, lists and NumPy's own functions next to Arrays."""

import copy
import inspect
import operator
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import heddle as hd

ON_GPU = not os.environ.get("HEDDLE_DEVICE", hd.device()).startswith("cpu")
pytestmark = pytest.mark.filterwarnings("ignore:an Array is combined with:RuntimeWarning")

OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
             operator.mod, operator.pow, operator.lt, operator.le, operator.eq, operator.ne,
             operator.gt, operator.ge, operator.matmul, divmod]
SCALARS = [np.bool_(True), np.int8(3), np.uint64(7), np.int64(-2), np.float16(1.5),
           np.float32(0.1), np.float64(0.1), np.complex64(1 + 2j), np.complex128(0.1j)]


def same(actual, expected):
    if isinstance(expected, tuple):
        assert isinstance(actual, tuple) and len(actual) == len(expected)
        for a, b in zip(actual, expected):
            same(a, b)
        return
    assert isinstance(actual, hd.Array)
    expected = np.asarray(expected)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=2e-6)


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_operators_take_numpy_arrays_on_both_sides(op, dtype):
    a, b = np.arange(1, 5).astype(dtype), np.array([4, 3, 2, 1]).astype(dtype)
    same(op(hd.array(a), b), op(a, b))
    same(op(a, hd.array(b)), op(a, b))
    if op is not operator.matmul:
        same(op(hd.array(a), b[:1]), op(a, b[:1]))
        same(op(a[:, None], hd.array(b)), op(a[:, None], b))


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda s: s.dtype.name)
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "float64",
                                   "complex64"])
def test_numpy_scalars_have_their_dtype(scalar, dtype):
    a = np.array([0, 1, 1]).astype(dtype)
    same(hd.array(a) + scalar, a + scalar)
    same(scalar + hd.array(a), scalar + a)
    same(hd.multiply(scalar, hd.array(a)), np.multiply(scalar, a))
    same(hd.array(a) == scalar, a == scalar)


def test_scalars_of_one_dtype_share_a_program():
    x = hd.ones(7, dtype="float32")
    np.asarray(x * np.float32(1.5))
    before = hd.statistics()["programs"]
    for value in (2.5, 3.5, 4.5):
        same(x * np.float32(value), np.ones(7, np.float32) * np.float32(value))
    assert hd.statistics()["programs"] == before


def test_augmented_assignment():
    x, n = hd.ones(4), np.ones(4)
    x += np.arange(4.0)
    n += np.arange(4.0)
    same(x, n)
    x *= np.float32(2)
    same(x, n * 2)
    m = np.ones(4)
    m += hd.arange(4.0)
    assert isinstance(m, np.ndarray)
    np.testing.assert_array_equal(m, [1, 2, 3, 4])
    with pytest.raises(TypeError, match="cast|casting"):
        k = np.ones(4, dtype=int)
        k += hd.arange(4.0)


def test_functions_take_numpy_arrays_scalars_and_lists():
    n = np.arange(6.0)
    same(hd.sin(n), np.sin(n))
    same(hd.add(n, hd.array(n)), n + n)
    same(hd.where(n > 2, hd.array(n), 0), np.where(n > 2, n, 0.0))
    same(hd.sum([1, 2, 3]), np.sum([1, 2, 3]))
    same(hd.sum([[1.5, 2], [3, 4]], axis=0), np.sum([[1.5, 2], [3, 4]], axis=0))
    same(hd.concatenate([[1, 2], [3]]), np.concatenate([[1, 2], [3]]))
    same(hd.concatenate(np.ones((2, 3))), np.concatenate(np.ones((2, 3))))
    same(hd.stack([[1, 2], n[:2], hd.arange(2)]), np.stack([[1, 2], n[:2], [0, 1]]))
    same(hd.dot(n, n), np.dot(n, n))
    same(hd.full((2,), np.float32(3)), np.full((2,), np.float32(3)))
    same(hd.clip(hd.array(n), np.float64(1), n - 1), np.clip(n, 1, n - 1))
    same(hd.sort([3, 1, 2]), np.sort([3, 1, 2]))
    same(hd.transpose(n.reshape(2, 3)), n.reshape(2, 3).T)
    same(hd.array(n).dot(n), n.dot(n))
    assert hd.allclose(hd.array(n), n)


def test_subscripts():
    n = np.arange(12.0).reshape(3, 4)
    x = hd.array(n)
    for key in (np.array([0, 2]), np.array([True, False, True]), np.int64(1), np.array(1),
                (np.array([0, 1]), np.array([2, 3])), (slice(None), np.array([[0], [3]])),
                np.array([], dtype=int), n > 5, np.array([-1, 0], dtype=np.int8),
                (np.uint8(2), np.int16(-1)), np.bool_(True), np.ix_([0, 2], [1, 3])):
        same(x[key], n[key])
    for key in (np.array([0, 3]), np.array([-4]), (slice(None), np.array([4]))):
        with pytest.raises(IndexError):
            x[key]
    with pytest.raises(IndexError):
        x[np.array([0.5])]


def test_assignment():
    n = np.zeros((3, 4))
    x = hd.array(n)
    for key, value in ((np.array([0, 2]), np.arange(4.0)), (1, np.float32(7)),
                       (slice(None, 2), np.ones((2, 4), dtype=np.int8)),
                       (np.array([True, False, False]), np.int64(3)),
                       ((slice(None), 1), np.array([1, 2, 3])), (n > 5, np.bool_(True)),
                       ((2, 2), np.array(5.5))):
        n[key] = value
        x[key] = value
        same(x, n)
    with pytest.raises(hd.ShapeError):
        x[0] = np.ones(3)


def test_numpys_functions_compute_here():
    n = np.linspace(0.1, 0.9, 12).reshape(3, 4)
    x = hd.array(n)
    for call in (np.sin, np.exp, np.sum, np.mean, lambda a: np.sum(a, axis=1, keepdims=True),
                 lambda a: np.concatenate([a, a], axis=1), lambda a: np.stack((a, n)),
                 lambda a: np.add(a, 1), lambda a: np.add.reduce(a),
                 lambda a: np.multiply.reduce(a, axis=None), lambda a: np.maximum.reduce(a, axis=1),
                 lambda a: np.add.accumulate(a, axis=1), lambda a: np.where(n > 0.5, a, 0.0),
                 lambda a: np.clip(a, 0.2, 0.8), lambda a: np.reshape(a, (4, 3)), np.transpose,
                 lambda a: np.max(a, axis=0), lambda a: np.dot(a, n.T), lambda a: np.divmod(a, 0.3),
                 lambda a: np.linalg.cholesky(np.matmul(a, n.T) + 3 * np.eye(3))):
        same(call(x), call(n))


def test_what_is_not_here_goes_to_numpy():
    x = hd.array([[2.0, 1.0], [1.0, 3.0]])
    n = np.asarray(x)
    for call in (lambda a: np.add.outer(a, a), lambda a: np.array2string(a),
                 lambda a: np.sum(a, where=n > 1, initial=2.0), lambda a: np.isin(a, [1.0]),
                 lambda a: np.array_equal(a, None), lambda a: np.array_str(a[0]),
                 lambda a: np.logaddexp.reduce(a, axis=None), lambda a: np.clip(a, None, a_max=2)):
        np.testing.assert_array_equal(np.asarray(call(x)), np.asarray(call(n)))
    both = np.broadcast_arrays(x, None)
    assert both[1].shape == (2, 2) and both[1][0, 0] is None
    with pytest.raises(TypeError):
        np.sin(x, nothing=1)
    target = np.zeros((2, 2))
    np.copyto(target, x)
    np.testing.assert_array_equal(target, n)
    assert np.add(x, 1, out=target) is target
    np.testing.assert_array_equal(target, n + 1)
    out = hd.zeros((2, 2))
    assert np.add(n, 1, out=out) is out
    same(out, n + 1)
    np.testing.assert_allclose(x, n)


def test_numpys_functions_that_write():
    def written(make):
        a = make(np.zeros((3, 3)))
        np.add.at(a, (np.array([0, 0]), np.array([1, 1])), 2.0)
        np.put(a, [4, 8], [5.0, 6.0], mode="clip")
        np.put(a, [5], [7.0])
        np.place(a, make(np.eye(3, dtype=bool)), [1.0, 2.0])
        np.copyto(a, make(np.full((3, 3), 9.0)), where=make(np.tri(3, k=-2, dtype=bool)))
        np.fill_diagonal(a[:2, :2], 3)
        return a

    same(written(hd.array), written(np.array))
    n = np.zeros(3)
    np.add.at(n, [0, 0], hd.ones(2))
    np.copyto(n[1:], hd.ones(2) * 3)
    np.testing.assert_array_equal(n, [2, 3, 3])


def test_facts_need_no_elements():
    x = hd.ones((2, 3), dtype="complex64") * 2
    before = hd.statistics()["evaluations"]
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6
    assert np.iscomplexobj(x) and not np.isrealobj(x)
    assert hd.statistics()["evaluations"] == before
    assert np.size(x, 1) == 3


def test_dtypes_compare_with_numpys():
    x = hd.ones(2, dtype="f4")
    for one in (np.float32, np.dtype("float32"), "float32", "f4", "<f4", "single", hd.float32):
        assert x.dtype == one and not x.dtype != one
    for other in (np.float64, "float64", float, int, None, 3, "nothing", hd.float64, object()):
        assert x.dtype != other
    assert hd.float64 == float and hd.int64 == int and hd.bool == bool
    assert np.dtype(x.dtype) == np.float32 and np.zeros(2, x.dtype).dtype == np.float32
    assert {hd.float32: 1}[x.dtype] == 1 and {"float32": 1}[x.dtype] == 1
    for text in ("?", "i1", "u2", "e", "d", "F", "c16", "int", "uint", "half", "complex"):
        assert hd.zeros(1, dtype=text).dtype == np.dtype(text)
    for text in (">f4", "U3", "O", "f3", ""):
        with pytest.raises(TypeError):
            hd.zeros(1, dtype=text)
    assert hd.bool_ == np.bool_ and hd.int_ == np.int_ and hd.float_ == np.float64


def test_zero_dimensions_are_as_numpys_scalars():
    x = hd.arange(5.0)
    assert f"{x.mean():.3f}" == "2.000" and f"{x[1]}" == "1.0" and f"{x}" == str(x)
    assert f"{x.sum():g}" == "10" and "%d" % x[3] == "3"
    assert round(x.mean()) == 2 and type(round(x.mean())) is int
    same(round(x / 3, 1), np.round(np.arange(5.0) / 3, 1))
    assert hash(x[1]) == hash(1.0) and {1.0: "one"}[x[1]] == "one"
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(TypeError, match="support a format spec"):
        f"{x:.2f}"


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float32",
                                   "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 4)])
def test_copies_and_pickles(dtype, shape):
    x = hd.ones(shape, dtype=dtype)
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)),
                 copy.deepcopy({"x": [x]})["x"][0]):
        assert made.dtype == x.dtype and made.shape == x.shape
        assert made.tolist() == x.tolist()
    made = copy.copy(x)
    made[...] = 0
    assert hd.all(x == 1)


def test_notebooks_show_what_repr_says():
    x = hd.arange(3) < 2
    assert x._repr_html_() == "<pre>" + repr(x) + "</pre>"


def test_jitted_functions_take_numpys_values():
    calls = []

    @hd.jit
    def f(a, b, axis=0):
        calls.append(axis)
        return hd.sum(a * b, axis=axis)

    line = inspect.unwrap(f).__code__.co_firstlineno
    assert repr(f).startswith("<heddle.jit of test_jitted") and repr(f).endswith(f".py:{line})>")
    assert repr(hd.jit(abs)) == "<heddle.jit of abs>"
    n = np.arange(6, dtype=np.float32).reshape(2, 3)
    for scale in (1.5, 2.5, 3.5):
        same(f(n, np.float32(scale)), np.sum(n * np.float32(scale), axis=0))
        same(f(hd.array(n), np.float64(scale)), np.sum(n * np.float64(scale), axis=0))
    assert len(calls) == 2
    same(f(n, np.float32(2), np.int64(1)), np.sum(n * np.float32(2), axis=1))

    @hd.jit
    def g(a):
        return a + n[0] * np.float32(2)

    same(g(hd.array(n)), n + n[0] * np.float32(2))


@pytest.mark.parametrize("value", [np.array(["a"]), np.array([None]), np.array([1], dtype="M8[s]"),
                                   np.longdouble(1), np.datetime64("2020")], ids=str)
def test_other_dtypes_are_refused_by_name(value):
    x = hd.ones(1)
    for use in (lambda: x + value, lambda: hd.sin(value), lambda: hd.where(x > 0, value, x)):
        with pytest.raises(TypeError, match="heddle has no equivalent of NumPy's dtype"):
            use()


def test_what_is_written_to_must_be_an_array():
    n = np.zeros(3)
    with pytest.raises(TypeError, match="an Array, which is written to"):
        hd.put(n, [0], [1.0])
    with pytest.raises(TypeError, match="an Array, which is written to"):
        hd.copyto(n, hd.ones(3))


def run(code, **variables):
    return subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True,
                          text=True, env={**os.environ, **variables})


PROGRAM = """
import numpy as np
import heddle as hd
x = hd.ones(3)
for _ in range(2):
    y = x + np.ones(3)
    z = x + np.float32(2) + 1 + hd.sum([1, 2])
print(y, z)
"""


def test_the_environment_decides_what_numpy_arrays_do():
    done = run(PROGRAM, HEDDLE_HOST_ARRAYS="allow")
    assert done.returncode == 0 and "RuntimeWarning" not in done.stderr, done.stderr
    done = run(PROGRAM, HEDDLE_HOST_ARRAYS="warn")
    assert done.returncode == 0 and "an Array is combined with a numpy.ndarray" in done.stderr, done.stderr
    done = run(PROGRAM, HEDDLE_HOST_ARRAYS="forbid")
    assert "TypeError: an Array is combined with a numpy.ndarray" in done.stderr, done.stderr
    assert "HEDDLE_HOST_ARRAYS=forbid" in done.stderr
    done = run("import numpy as np, heddle as hd; x = hd.zeros(3); x.set(np.ones(3)); print(x.sum())",
               HEDDLE_HOST_ARRAYS="forbid")
    assert done.stdout.strip() == "3.0", done.stderr
    done = run(PROGRAM, HEDDLE_HOST_ARRAYS="sometimes")
    assert "'allow', 'warn' or 'forbid'" in done.stderr, done.stderr
    done = run(PROGRAM, HEDDLE_DEVICE="cpu", HEDDLE_HOST_ARRAYS="")
    assert done.returncode == 0 and "RuntimeWarning" not in done.stderr, done.stderr


@pytest.mark.skipif(not ON_GPU, reason="host and device are one")
def test_a_gpu_warns_of_transfers_once_a_line():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            hd.ones(3) + np.ones(3)
    assert len(seen) == 1 and "copied to" in str(seen[0].message)


def test_parameters_by_position_and_name_as_in_numpy():
    n = np.arange(12.0).reshape(3, 4)
    x = hd.array(n)
    same(hd.triu(x, 1), np.triu(n, 1))
    same(hd.tril(x, -1), np.tril(n, -1))
    same(hd.eye(3, 4, 1, "f4"), np.eye(3, 4, 1, "f4"))
    same(hd.eye(N=2, M=3), np.eye(N=2, M=3))
    same(hd.concatenate([x, x], 1), np.concatenate([n, n], 1))
    same(hd.stack([x, x], -1), np.stack([n, n], -1))
    same(hd.take(x, [0, 2], 1), np.take(n, [0, 2], 1))
    same(hd.take_along_axis(x, hd.array([[0], [1], [2]]), 1),
         np.take_along_axis(n, np.array([[0], [1], [2]]), 1))
    same(hd.compress([True, False, True], x, 0), np.compress([True, False, True], n, 0))
    same(hd.tensordot(x, x.T, 1), np.tensordot(n, n.T, 1))
    same(hd.isin(x, [1, 2], False, True), np.isin(n, [1, 2], False, True))
    out = hd.zeros((3, 4))
    assert hd.add(x, x, out) is out and hd.sin(x, out) is out and hd.clip(x, 1, 2, out) is out
    same(out, np.clip(n, 1, 2))
    hd.fill_diagonal(a=out, val=7)
    expected = np.clip(n, 1, 2)
    np.fill_diagonal(expected, val=7)
    same(out, expected)
