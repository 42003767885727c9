"""hd.reduce_segments and ufunc.reduceat, against NumPy."""

import numpy as np
import pytest

import heddle as hd

RNG = np.random.default_rng(5)
NUMPY = {"sum": np.sum, "prod": np.prod, "min": np.min, "max": np.max, "any": np.any, "all": np.all}
BEGINS = np.array([0, 3, 3, 7, 2, 19, 20])
ENDS = np.array([3, 3, 9, 20, 18, 20, 20])


def values(dtype, shape=(20,)):
    if dtype == "bool":
        return RNG.random(shape) < 0.5
    if np.dtype(dtype).kind in "iu":
        return RNG.integers(0, 9, shape).astype(dtype)
    x = RNG.uniform(0.5, 1.5, shape).astype(dtype)
    return x + 1j * x[::-1] if np.dtype(dtype).kind == "c" else x


def start(name, dtype):
    if name in ("min", "max"):
        return (np.inf if name == "min" else -np.inf) if np.dtype(dtype).kind == "f" else (
            np.iinfo(dtype).max if name == "min" else np.iinfo(dtype).min)
    return {"sum": 0, "prod": 1, "any": False, "all": True}[name]


def reference(name, x, begins, ends, axis):
    parts = []
    for begin, end in zip(begins, ends):
        part = x.take(range(begin, end), axis)
        whole = np.full(np.delete(x.shape, axis), start(name, x.dtype)) if begin >= end else None
        parts.append(NUMPY[name](part, axis=axis) if whole is None else whole)
    return np.stack(parts, axis)


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_every_reduction(name, dtype, index):
    x = values(dtype)
    begins, ends = hd.asarray(BEGINS.astype(index)), hd.asarray(ENDS.astype(index))
    found = hd.reduce_segments(name, hd.asarray(x), begins, ends)
    expected = reference(name, x, BEGINS, ENDS, 0)
    assert found.dtype == (NUMPY[name](x).dtype)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", ["float64", "complex64", "int16"])
def test_any_axis(axis, dtype):
    shape = [4, 5, 3]
    shape[axis] = 20
    x = values(dtype, shape)
    found = hd.reduce_segments("sum", hd.asarray(x), hd.asarray(BEGINS), hd.asarray(ENDS), axis)
    expected = reference("sum", x, BEGINS, ENDS, axis % 3)
    assert found.dtype == np.sum(x).dtype
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)


def test_products_of_a_sparse_matrix_are_one_kernel():
    offsets = hd.asarray(np.array([0, 2, 2, 5, 9], np.int32))
    columns = hd.asarray(np.array([0, 3, 1, 2, 3, 0, 1, 2, 3], np.int32))
    data, x = values("float64", 9), values("float64", 4)

    @hd.jit
    def product(data, columns, offsets, x):
        return 2 * hd.reduce_segments("sum", data * x[columns], offsets[:-1], offsets[1:]) + 1

    dense = np.zeros((4, 4))
    for row in range(4):
        for k in range(int(offsets[row]), int(offsets[row + 1])):
            dense[row, int(columns[k])] += data[k]
    arguments = hd.asarray(data), columns, offsets, hd.asarray(x)
    np.testing.assert_allclose(np.asarray(product(*arguments)), 2 * dense @ x + 1, rtol=1e-12)
    assert "1 kernels" in product.explain(*arguments)


@pytest.mark.parametrize("ufunc", ["add", "multiply", "maximum", "minimum", "logical_or"])
@pytest.mark.parametrize("indices", [[0, 4, 4, 9, 2], [5], [19, 0], list(range(20))])
def test_reduceat(ufunc, indices):
    x = values("float64")
    found = getattr(hd, ufunc).reduceat(hd.asarray(x), indices)
    expected = getattr(np, ufunc).reduceat(x, indices)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)


def test_beside_a_sum_that_keeps_its_axis():
    x = values("float64")
    offsets = hd.asarray(np.array([0, 4, 20]))

    @hd.jit
    def both(x):
        return hd.sum(x, axis=0, keepdims=True), hd.reduce_segments("sum", x, offsets[:-1], offsets[1:])

    whole, parts = both(hd.asarray(x))
    np.testing.assert_allclose(np.asarray(whole), [x.sum()])
    np.testing.assert_allclose(np.asarray(parts), [x[:4].sum(), x[4:].sum()])


def test_map_over_values_and_over_bounds():
    x = values("float64", (3, 20))
    begins, ends = np.array([[0, 4], [1, 7], [3, 3]]), np.array([[4, 20], [7, 9], [8, 3]])
    same = hd.map(lambda row: hd.reduce_segments("sum", row, hd.asarray(begins[0]), hd.asarray(ends[0])),
                  hd.asarray(x))
    np.testing.assert_allclose(np.asarray(same), reference("sum", x, begins[0], ends[0], 1))
    each = hd.map(lambda row: hd.reduce_segments("sum", *row),
                  (hd.asarray(x), hd.asarray(begins), hd.asarray(ends)))
    expected = [reference("sum", *row, 0) for row in zip(x, begins, ends)]
    np.testing.assert_allclose(np.asarray(each), expected)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_softmax_of_one_segment(axis):
    shape = [40, 40]
    x = values("float32", shape)
    begin, end = hd.asarray(np.array([3])), hd.asarray(np.array([29]))

    @hd.jit
    def shares(x):
        most = hd.reduce_segments("max", x, begin, end, axis)
        return hd.reduce_segments("sum", hd.exp(x - most), begin, end, axis)

    part = x.take(range(3, 29), axis)
    expected = np.exp(part - part.max(axis, keepdims=True)).sum(axis, keepdims=True)
    np.testing.assert_allclose(np.asarray(shares(hd.asarray(x))), expected, rtol=1e-5)


def test_indices_of_reduceat_in_an_array_are_clipped():
    x = np.arange(1.0, 21.0)
    found = np.asarray(hd.add.reduceat(hd.asarray(x), hd.asarray(np.array([0, 100, -3]))))
    np.testing.assert_array_equal(found, np.add.reduceat(x, [0, 19, 0]))


def test_bounds_outside_are_clipped():
    x = values("float32")
    begins, ends = hd.asarray(np.array([0, 15, 40, -5, -9])), hd.asarray(np.array([99, 2**40, 50, 4, -2]))
    found = np.asarray(hd.reduce_segments("sum", hd.asarray(x), begins, ends))
    np.testing.assert_allclose(found, [x.sum(), x[15:].sum(), 0, x[:4].sum(), 0], rtol=1e-5)
    huge = hd.asarray(np.array([2**63 + 5], np.uint64))
    found = np.asarray(hd.reduce_segments("sum", hd.asarray(x), hd.asarray(np.array([18])), huge))
    np.testing.assert_allclose(found, [x[18:].sum()], rtol=1e-5)


def test_nothing_to_reduce_and_no_segments():
    empty = hd.zeros(0, dtype=hd.float32)
    two, none = hd.asarray(np.array([0, 0])), hd.asarray(np.zeros(0, int))
    np.testing.assert_array_equal(np.asarray(hd.reduce_segments("max", empty, two, two)), -np.inf)
    assert hd.reduce_segments("sum", hd.ones(5), none, none).shape == (0,)
    one = hd.asarray(values("float64", 1))
    bounds = hd.asarray(np.array([0, 0, 1, 1]))
    found = np.asarray(hd.reduce_segments("sum", one, bounds[:-1], bounds[1:]))
    np.testing.assert_array_equal(found, [0, np.asarray(one)[0], 0])


def test_bad_arguments():
    x, bounds = hd.ones(5), hd.asarray(np.array([0, 2]))
    with pytest.raises(ValueError, match="'median' is none of sum"):
        hd.reduce_segments("median", x, bounds, bounds)
    with pytest.raises(hd.ShapeError, match="of one length"):
        hd.reduce_segments("sum", x, bounds, bounds[:1])
    with pytest.raises(hd.DTypeError, match="must be integers"):
        hd.reduce_segments("sum", x, hd.ones(2), bounds)
    with pytest.raises(IndexError):
        hd.reduce_segments("sum", x, bounds, bounds, 1)


def in_runs(x, length=32):
    """The sum in the CPU's order: runs in sequence, and a tree of them."""
    tree = []
    for count, run in enumerate(range(0, len(x), length)):
        state = x.dtype.type(0)
        for each in x[run:run + length]:
            state = state + each
        while count & 1:
            state, count = tree.pop() + state, count >> 1
        tree.append(state)
    while len(tree) > 1:
        last = tree.pop()
        tree.append(tree.pop() + last)
    return tree[0] if tree else x.dtype.type(0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [None, 5])
def test_the_order_of_sums_on_a_cpu(dtype, columns):
    offsets = np.cumsum([0, 0, 1, 31, 32, 33, 128, 0, 300, 1000, 3])
    x = RNG.standard_normal((offsets[-1], *([columns] if columns else []))).astype(dtype)
    found = [hd.reduce_segments("sum", hd.asarray(x, device="cpu"), hd.asarray(offsets[:-1], device="cpu"),
                                hd.asarray(offsets[1:], device="cpu"))]
    whole = hd.jit(lambda x, offsets: hd.reduce_segments("sum", x, offsets[:-1], offsets[1:]))
    for _ in range(3):
        found.append(whole(hd.asarray(x, device="cpu"), hd.asarray(offsets, device="cpu")))
    lines = x.reshape(len(x), -1).T
    expected = np.array([[in_runs(line[begin:end]) for line in lines]
                         for begin, end in zip(offsets[:-1], offsets[1:])]).reshape(found[0].shape)
    for each in found:
        np.testing.assert_array_equal(hd.asnumpy(each), expected)


@pytest.mark.parametrize("width", [None, 3])
def test_bounds_and_indices_out_of_range_are_clipped(width):
    offsets = np.array([-3, 2, 1, 1, 50, 5, 9], np.int32)
    columns = np.array([0, -1, 4, -5, 99, 2, -99, 1, 3], np.int32)
    data = values("float64", 9)
    x = values("float64", (5, *([width] if width else [])))

    @hd.jit
    def product(data, columns, offsets, x):
        right = x[columns]
        left = data if width is None else data[:, None]
        return hd.reduce_segments("sum", left * right, offsets[:-1], offsets[1:])

    taken = x[np.clip(np.where(columns < 0, columns + 5, columns), 0, 4)]
    terms = (data if width is None else data[:, None]) * taken
    ends = np.clip(offsets, 0, 9)
    expected = np.stack([terms[begin:end].sum(axis=0) for begin, end in zip(ends[:-1], ends[1:])])
    found = product(*map(hd.asarray, (data, columns, offsets, x)))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-14)
