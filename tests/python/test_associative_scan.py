"""heddle.associative_scan against loops of NumPy."""

import dataclasses

import numpy as np
import pytest

import heddle as hd


@pytest.fixture(params=["recorded", "jitted"])
def run(request):
    """Calls a function of Arrays as it is, or jitted."""
    if request.param == "recorded":
        return lambda function, *arguments: function(*arguments)
    return lambda function, *arguments: hd.jit(function)(*arguments)


def cumulated(function, x, axis=0, reverse=False):
    """The results of a loop over the elements of NumPy arrays."""
    rows = [np.moveaxis(each, axis, 0)[::-1 if reverse else 1] for each in x]
    results = [[row[0] for row in rows]] if len(rows[0]) else []
    for k in range(1, len(rows[0])):
        results.append(function(results[-1], [row[k] for row in rows]))
    stacked = [np.stack([each[i] for each in results]) if results else row
               for i, row in enumerate(rows)]
    return [np.moveaxis(each[::-1 if reverse else 1], 0, axis) for each in stacked]


def same(found, expected, tolerance=0.0):
    assert np.asarray(found).dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 64, 100])
@pytest.mark.parametrize("reverse", [False, True])
def test_extremes_of_any_length(run, n, reverse):
    x = np.random.default_rng(n).integers(-50, 50, (n, 3))
    found = run(lambda x: hd.associative_scan(hd.maximum, x, reverse), hd.asarray(x))
    same(found, cumulated(lambda a, b: [np.maximum(a[0], b[0])], [x], 0, reverse)[0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int8", "uint32", "bool"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_every_axis_and_dtype(run, axis, dtype):
    x = (np.random.default_rng(1).integers(0, 2, (5, 4, 7)) * (1j + 1 if dtype == "complex64" else 1)).astype(dtype)
    found = run(lambda x: hd.associative_scan(lambda a, b: a + b, x, axis=axis), hd.asarray(x))
    same(found, cumulated(lambda a, b: [a[0] + b[0]], [x], axis)[0])


@pytest.mark.parametrize("layout", [lambda x: x.T, lambda x: x[::2, ::-1], lambda x: x[:, 1:2], lambda x: x[3:3]])
def test_views_are_scanned(run, layout):
    x = np.random.default_rng(2).integers(0, 9, (8, 6))
    found = run(lambda x: hd.associative_scan(hd.add, layout(x), axis=1), hd.asarray(x))
    same(found, np.cumsum(layout(x), 1))


def affine(a, b):
    """The composition of x -> a[0] x + a[1] and then b, which does not commute."""
    return b[0] * a[0], b[0] * a[1] + b[1]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 2, 7, 32])
def test_a_linear_recurrence(run, n, reverse):
    rng = np.random.default_rng(n)
    decay, x = rng.uniform(0.5, 1, (n, 2)), rng.normal(size=(n, 2))
    found = run(lambda d, x: hd.associative_scan(affine, (d, x), reverse=reverse), hd.asarray(decay), hd.asarray(x))
    assert isinstance(found, tuple)
    for one, expected in zip(found, cumulated(lambda a, b: list(affine(a, b)), [decay, x], 0, reverse)):
        same(one, expected, 1e-13)


def test_products_of_matrices(run):
    x = np.random.default_rng(3).normal(size=(9, 3, 3))
    found = run(lambda x: hd.associative_scan(hd.matmul, x), hd.asarray(x))
    same(found, cumulated(lambda a, b: [a[0] @ b[0]], [x])[0], 1e-11)


@dataclasses.dataclass
class Best:
    value: hd.Array
    place: hd.Array


def test_trees_are_scanned(run):
    x = np.random.default_rng(4).permutation(12).reshape(3, 4)
    place = np.broadcast_to(np.arange(4), (3, 4)).copy()

    def better(a, b):
        left = a.value >= b.value
        return Best(hd.where(left, a.value, b.value), hd.where(left, a.place, b.place))

    found = run(lambda x, p: hd.associative_scan(better, Best(x, p), axis=1), hd.asarray(x), hd.asarray(place))
    same(found.value, np.maximum.accumulate(x, 1))
    same(found.place, np.stack([[np.argmax(row[:k + 1]) for k in range(4)] for row in x]))
    found = run(lambda x: hd.associative_scan(
        lambda a, b: {"sum": [a["sum"][0] + b["sum"][0]], "last": b["last"]}, {"sum": [x], "last": x}), hd.asarray(x))
    same(found["sum"][0], np.cumsum(x, 0))
    same(found["last"], x)


def test_scans_inside_of_loops():
    x = np.random.default_rng(5).integers(0, 9, (5, 6))
    found = hd.map(lambda row: hd.associative_scan(hd.add, row), hd.asarray(x))
    same(found, np.cumsum(x, 1))
    found = hd.fori_loop(0, 3, lambda i, x: hd.associative_scan(hd.maximum, x + i, axis=1), hd.asarray(x))
    expected = x
    for i in range(3):
        expected = np.maximum.accumulate(expected + i, 1)
    same(found, expected)


def test_the_number_of_calls_is_logarithmic():
    calls = []

    def add(a, b):
        calls.append(a.shape)
        return a + b

    same(hd.associative_scan(add, hd.arange(1000)), np.cumsum(np.arange(1000)))
    assert len(calls) == 2 * 9 and calls[0] == (500,)


def test_nothing_is_called_for_an_element():
    def never(a, b):
        raise AssertionError("called")

    same(hd.associative_scan(never, hd.ones((1, 2))), np.ones((1, 2)))
    same(hd.associative_scan(never, hd.ones((0, 2))), np.ones((0, 2)))
    assert hd.associative_scan(never, ()) == ()


@pytest.mark.parametrize("call, error, text", [
    (lambda: hd.associative_scan(hd.add, (hd.ones(3), hd.ones(4))), ValueError,
     r"elems\[0\] is float64\[3\], but elems\[1\] is float64\[4\]"),
    (lambda: hd.associative_scan(hd.add, {"a": hd.ones((3, 2)), "b": hd.ones(3)}, axis=1), ValueError,
     r"elems\['b'\] is float64\[3\]"),
    (lambda: hd.associative_scan(lambda a, b: a[:1], hd.ones(8)), ValueError,
     r"elems that are float64\[4\], but returns float64\[1\]"),
    (lambda: hd.associative_scan(lambda a, b: {"x": a["x"] + 0.5}, {"x": hd.arange(3)}), TypeError,
     r"elems\['x'\] that are int64\[1\], but returns float64\[1\]"),
    (lambda: hd.associative_scan(lambda a, b: (a, b), hd.ones(3)), TypeError, "elems is elems, but fn returns"),
    (lambda: hd.associative_scan(hd.add, hd.ones(3), axis=1), hd.exceptions.AxisError, "axis 1"),
    (lambda: hd.associative_scan(hd.add, hd.asarray(3.0)), hd.exceptions.AxisError, "axis 0"),
    (lambda: hd.associative_scan(3, hd.ones(3)), TypeError, "fn must be a function"),
    (lambda: hd.jit(lambda x: hd.associative_scan(hd.add, x)).lower(hd.spec(("n",), hd.float64)), ValueError, "fixed"),
    (lambda: hd.associative_scan(hd.add, hd.ones(3), axis=None), TypeError, "axis"),
])
def test_bad_arguments_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
    same(hd.associative_scan(hd.add, hd.ones(3)), np.arange(1.0, 4))  # goes on working
