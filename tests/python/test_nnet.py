"""heddle.nnet against NumPy, in float64, with the definitions written out."""

import numpy as np
import pytest

import heddle as hd
from conftest import check

nnet = hd.nnet
FLOATS = [hd.float16, hd.float32, hd.float64]


def numbers(shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def close(got, expected, dtype=np.float64, terms=1):
    """Within some units of the dtype for each term of a sum of numbers around 1."""
    assert got.shape == expected.shape and got.dtype.name == np.dtype(dtype).name
    unit = np.finfo(dtype).eps * (8 + 2 * np.sqrt(terms))
    np.testing.assert_allclose(hd.asnumpy(got).astype(np.float64), expected, rtol=unit,
                               atol=unit * max(1.0, float(np.abs(expected).max(initial=0))))


def sigmoid(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


ACTIVATIONS = {
    "relu": (lambda x, *out: nnet.relu(x, *out), lambda x: np.maximum(0, x)),
    "relu_d": (lambda x, *out: nnet.relu_d(x, *out), lambda x: (x >= 0) * 1.0),
    "sigmoid": (lambda x, *out: nnet.sigmoid(x, *out), sigmoid),
    "sigmoid_d": (lambda x, *out: nnet.sigmoid_d(x, *out), lambda x: sigmoid(x) * (1 - sigmoid(x))),
    "tanh_d": (lambda x, *out: nnet.tanh_d(x, *out), lambda x: 1 - np.tanh(x) ** 2),
    "softplus": (lambda x, *out: nnet.softplus(x, *out), lambda x: np.logaddexp(x, 0)),
    "softplus_d": (lambda x, *out: nnet.softplus_d(x, *out), sigmoid),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("function, definition", ACTIVATIONS.values(), ids=ACTIVATIONS)
def test_activations(function, definition, dtype):
    special = [0.0, -0.0, 1e-3, -1e-3, 30.0, -30.0, 80.0, -80.0, np.inf, -np.inf]
    x = np.concatenate([special, numbers(50) * 4]).astype(dtype.name)
    got = function(hd.asarray(x))
    finite = np.isfinite(x)
    close(got[hd.asarray(finite)], definition(x[finite].astype(np.float64)), dtype.name)
    out = hd.zeros(x.shape, dtype=dtype)
    assert function(hd.asarray(x), out) is out
    np.testing.assert_array_equal(hd.asnumpy(out), hd.asnumpy(got))


def test_activations_of_integers_and_nan():
    assert nnet.sigmoid(hd.asarray([1, 2])).dtype == hd.float64
    assert nnet.relu(hd.asarray([-1, 2])).dtype == hd.int64
    check(nnet.relu_d(hd.asarray([-1, 0, 2])), np.array([0, 1, 1]))
    assert np.isnan(hd.asnumpy(nnet.relu(hd.asarray([np.nan]))))[0]
    check(nnet.relu_d(hd.asarray([np.nan])), np.array([0.0]))


@pytest.mark.parametrize("shape", [(4, 7), (3, 5, 2), (0, 3), (2, 1)], ids=str)
def test_softmax(shape):
    x = numbers(shape) * 100
    e = np.exp(x - x.max(axis=1, keepdims=True))
    close(nnet.softmax(hd.asarray(x)), e / e.sum(axis=1, keepdims=True))


def test_cross_entropy():
    predicted = np.abs(numbers((6, 4)))
    predicted /= predicted.sum(1, keepdims=True)
    predicted[0] = [1, 0, 0, 0]
    true = np.eye(4)[[1, 0, 3, 2, 1, 1]]
    for eps in (1e-15, 0.1):
        clipped = np.clip(predicted, eps, 1 - eps)
        clipped /= clipped.sum(1, keepdims=True)
        expected = -(true * np.log(clipped)).sum(1)
        close(nnet.categorical_cross_entropy(hd.asarray(predicted), hd.asarray(true), eps), expected)


@pytest.mark.parametrize("dtype", [hd.int32, hd.int64, hd.uint8], ids=str)
def test_one_hot(dtype):
    labels = np.array([[2, 0, 1], [3, 3, 0]])
    rows = np.eye(5)[labels.ravel()]
    given = hd.asarray(labels).astype(dtype)
    check(nnet.one_hot_encode(given, 5), rows)
    out = hd.zeros((6, 5), dtype=hd.float32)
    assert nnet.one_hot_encode(given, 5, out) is out
    check(out, rows.astype(np.float32))
    check(nnet.one_hot_decode(hd.asarray(rows)), labels.ravel().astype(np.int32))
    check(nnet.one_hot_encode(hd.zeros(0, dtype=dtype), 3), np.zeros((0, 3)))


def test_labels_that_are_no_classes():
    for labels, position in (([0, 1, 5, 7], 2), ([0, -1], 1)):
        with pytest.raises(IndexError, match=rf"label at position {position} is not in \[0, 5\)"):
            nnet.one_hot_encode(hd.asarray(labels), 5).tolist()
    encode = hd.jit(lambda labels: nnet.one_hot_encode(labels, 5))
    with pytest.raises(IndexError, match="position 1"):
        encode(hd.asarray([0, 9])).tolist()
    check(encode(hd.asarray([0, 4])), np.eye(5)[[0, 4]])
    with pytest.raises(TypeError, match="integers"):
        nnet.one_hot_encode(hd.asarray([0.5]), 5)
    with pytest.raises(ValueError, match="negative"):
        nnet.one_hot_encode(hd.asarray([0]), -1)


# Windows. (padding, strides, window, images)

CASES = [
    ((0, 0), (1, 1), (3, 3), (8, 9)), ((1, 1), (1, 1), (3, 3), (8, 8)),
    ((2, 1), (2, 3), (5, 4), (11, 13)), ((0, 0), (2, 2), (1, 1), (7, 7)),
    ((1, 4), (1, 4), (2, 5), (9, 20)), ((0, 0), (2, 2), (2, 2), (8, 6)),
    ((0, 0), (3, 3), (2, 2), (9, 10)), ((0, 0), (1, 1), (5, 4), (5, 4)),
    ((1, 1), (2, 2), (3, 3), (1, 2)), ((0, 0), (5, 5), (3, 3), (4, 13)),
]


def windows(x, padding, strides, size, outside=0.0):
    """[..., rows, columns, height, width]"""
    x = np.pad(x, ((0, 0),) * (x.ndim - 2) + tuple((p, p) for p in padding),
               constant_values=outside)
    view = np.lib.stride_tricks.sliding_window_view(x, size, axis=(-2, -1))
    return view[..., ::strides[0], ::strides[1], :, :]


def folded(parts, padding, strides, images):
    """The sums of windows' parts at their places in the images."""
    *outer, rows, columns, height, width = parts.shape
    total = np.zeros((*outer, images[0] + 2 * padding[0] + height, images[1] + 2 * padding[1] + width))
    for row in range(rows):
        for column in range(columns):
            y, x = row * strides[0], column * strides[1]
            total[..., y:y + height, x:x + width] += parts[..., row, column, :, :]
    return total[..., padding[0]:padding[0] + images[0], padding[1]:padding[1] + images[1]]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_convolutions(case, dtype):
    padding, strides, size, images = case
    x, w = numbers((2, 3) + images, dtype, 1), numbers((4, 3) + size, dtype, 2)
    wide, weights = windows(x.astype(float), padding, strides, size), w.astype(float)
    y = np.einsum("bcyxij,fcij->bfyx", wide, weights)
    conv = nnet.ConvBC01(padding, strides)
    got = conv.fprop(hd.asarray(x), hd.asarray(w))
    close(got, y, dtype, 3 * size[0] * size[1])
    assert conv.output_shape(x.shape, 4, size) == y.shape
    d = numbers(y.shape, dtype, 3)
    to_filters = np.einsum("bcyxij,bfyx->fcij", wide, d.astype(float))
    to_imgs = folded(np.einsum("bfyx,fcij->bcyxij", d.astype(float), weights), padding, strides, images)
    filters_d, imgs_d = conv.bprop(hd.asarray(x), hd.asarray(w), hd.asarray(d))
    close(filters_d, to_filters, dtype, d.size)
    close(imgs_d, to_imgs, dtype, 4 * size[0] * size[1])
    one, none = conv.bprop(None, hd.asarray(w), hd.asarray(d), to_imgs=False)
    assert none is None
    close(one, to_filters, dtype, d.size)


def test_convolutions_in_a_program_and_with_given_results():
    x, w = numbers((2, 3, 9, 9)), numbers((4, 3, 3, 3), seed=1)

    @hd.jit
    def layer(x, w):
        conv = nnet.ConvBC01((1, 1), (2, 2))
        return nnet.relu(conv.fprop(x, w) + 1)

    y = np.einsum("bcyxij,fcij->bfyx", windows(x, (1, 1), (2, 2), (3, 3)), w)
    close(layer(hd.asarray(x), hd.asarray(w)), np.maximum(y + 1, 0), terms=27)
    conv = nnet.ConvBC01((1, 1), (2, 2))
    out = hd.zeros(y.shape)
    assert conv.fprop(hd.asarray(x), hd.asarray(w), out) is out
    close(out, y, terms=27)
    filters_d, imgs_d = hd.zeros(w.shape), hd.zeros(x.shape)
    results = conv.bprop(hd.asarray(x), hd.asarray(w), out, filters_d=filters_d, imgs_d=imgs_d)
    assert results[0] is filters_d and results[1] is imgs_d
    assert float(hd.sum(hd.abs(filters_d))) > 0 and float(hd.sum(hd.abs(imgs_d))) > 0


def test_bad_convolutions():
    x, w = hd.zeros((2, 3, 8, 8)), hd.zeros((4, 3, 3, 3))
    conv = nnet.ConvBC01((0, 0), (1, 1))
    for imgs, filters, error in (
            (x[0], w, hd.ShapeError), (x, w[:, :2], hd.ShapeError), (x, w[0], hd.ShapeError),
            (x, hd.zeros((4, 3, 9, 9)), hd.ShapeError), (x, hd.zeros((4, 3, 0, 3)), hd.ShapeError),
            (x, w.astype(hd.float32), hd.DTypeError)):
        with pytest.raises(error, match="ConvBC01"):
            conv.fprop(imgs, filters)
    with pytest.raises(hd.ShapeError, match="convout_d"):
        conv.bprop(x, w, hd.zeros((2, 4, 5, 6)))
    with pytest.raises(hd.ShapeError, match="convout"):
        conv.fprop(x, w, hd.zeros((2, 4, 5, 6)))
    for padding, strides in (((-1, 0), (1, 1)), ((0, 0), (0, 1))):
        with pytest.raises(ValueError, match="strides"):
            nnet.ConvBC01(padding, strides).fprop(x, w)
    with pytest.raises(ValueError, match="fprop was not called"):
        nnet.ConvBC01((0, 0), (1, 1)).bprop(None, w, x)
    assert conv.fprop(x, w).shape == (2, 4, 6, 6)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("method", ["max", "avg"])
def test_pooling(case, method):
    padding, strides, size, images = case
    x = np.round(numbers((2, 3) + images, np.float64, 1), 1)  # with equal numbers
    pool = nnet.PoolB01(size, padding, strides, method)
    got = pool.fprop(hd.asarray(x))
    d = None
    if method == "avg":
        parts = windows(x, padding, strides, size)
        y = parts.mean(axis=(-2, -1))
        d = numbers(y.shape, seed=2)
        shares = np.broadcast_to(d[..., None, None] / (size[0] * size[1]), parts.shape)
    else:
        parts = windows(x, padding, strides, size, -np.inf)
        y = parts.max(axis=(-2, -1))
        d = numbers(y.shape, seed=2)
        flat = parts.reshape(*y.shape, -1)
        chosen = flat.argmax(-1)
        shares = (np.arange(flat.shape[-1]) == chosen[..., None]) * d[..., None]
        shares = shares.reshape(parts.shape)
        rows = np.arange(y.shape[-2])[:, None] * strides[0] - padding[0] + chosen // size[1]
        columns = np.arange(y.shape[-1]) * strides[1] - padding[1] + chosen % size[1]
        check(pool.mask, (rows * images[1] + columns).astype(np.int32))
    close(got, y, terms=size[0] * size[1])
    assert pool.output_shape(x.shape) == y.shape
    close(pool.bprop(images, hd.asarray(d)), folded(shares, padding, strides, images),
          terms=size[0] * size[1])


@pytest.mark.parametrize("dtype", [hd.float16, hd.float32, hd.int32, hd.uint8], ids=str)
def test_pooling_of_other_dtypes_and_ranks(dtype):
    x = (np.arange(1, 61) % 17).reshape(3, 4, 5).astype(dtype.name)
    pool = nnet.PoolB01((2, 2), (1, 1), (1, 2))
    outside = -np.inf if dtype.kind == "f" else np.iinfo(dtype.name).min
    parts = windows(x, (1, 1), (1, 2), (2, 2), outside)
    check(pool.fprop(hd.asarray(x)), parts.max(axis=(-2, -1)))
    check(pool.fprop(hd.asarray(x[0])), parts[0].max(axis=(-2, -1)))
    out = hd.zeros(parts.shape[:-2], dtype=dtype)
    assert pool.fprop(hd.asarray(x), out) is out
    nan = nnet.PoolB01((2, 2), (0, 0), (2, 2)).fprop(hd.asarray([[1.0, np.nan], [2.0, 3.0]]))
    assert np.isnan(hd.asnumpy(nan)).all()


def test_pooling_of_equal_and_of_large_numbers():
    for x in (np.zeros((2, 2), np.uint8), np.full((2, 2), -128, np.int8),
              np.full((2, 2), -np.inf, np.float32)):
        pool = nnet.PoolB01((2, 2), (1, 1), (2, 2))
        check(pool.fprop(hd.asarray(x)), x)
        check(pool.mask, np.arange(4, dtype=np.int32).reshape(2, 2))
    for x in (np.full((2, 2), 200, np.uint8), np.full((2, 2), 40000, np.float16)):
        check(nnet.PoolB01((2, 2), (0, 0), (1, 1), "avg").fprop(hd.asarray(x)), x[:1, :1])


def test_bad_pooling():
    x = hd.zeros((2, 8, 8))
    for arguments in (((0, 2), (0, 0), (1, 1)), ((2, 2), (2, 0), (1, 1)), ((2, 2), (-1, 0), (1, 1)),
                      ((2, 2), (0, 0), (0, 1))):
        with pytest.raises(ValueError, match="PoolB01"):
            nnet.PoolB01(*arguments).fprop(x)
    with pytest.raises(ValueError, match="method"):
        nnet.PoolB01((2, 2), (0, 0), (1, 1), "median")
    with pytest.raises(hd.ShapeError, match="larger"):
        nnet.PoolB01((9, 2), (0, 0), (1, 1)).fprop(x)
    pool = nnet.PoolB01((2, 2), (0, 0), (2, 2))
    with pytest.raises(ValueError, match="mask"):
        pool.bprop((8, 8), hd.zeros((2, 4, 4)))
    pool.fprop(x)
    with pytest.raises(hd.ShapeError, match="poolout_d"):
        pool.bprop((8, 8), hd.zeros((2, 3, 4)))
    with pytest.raises(hd.ShapeError, match="poolout"):
        pool.fprop(x, hd.zeros((2, 4, 5)))
    with pytest.raises(hd.DTypeError, match="complex"):
        pool.fprop(x.astype(hd.complex64))


@pytest.mark.parametrize("count", [1, 2, 4, 5, 9])
def test_local_response_normalisation(count):
    alpha, beta, k = 0.3, 0.75, 2.0
    x, d = numbers((2, 7, 3, 4)), numbers((2, 7, 3, 4), seed=1)
    scale = np.empty_like(x)
    for c in range(7):
        low, high = max(0, c - count // 2), min(7, c + (count - 1) // 2 + 1)
        scale[:, c] = k + alpha * (x[:, low:high] ** 2).sum(1)
    close(nnet.lrnorm_bc01(hd.asarray(x), count, alpha, beta, k), x / scale ** beta, terms=count)
    gradient = d * scale ** -beta
    for c in range(7):
        low, high = max(0, c - count // 2), min(7, c + (count - 1) // 2 + 1)
        shared = d[:, c] * x[:, c] * scale[:, c] ** (-beta - 1)
        for other in range(low, high):
            gradient[:, other] -= 2 * alpha * beta * x[:, other] * shared
    close(nnet.lrnorm_bc01_bprop(hd.asarray(x), hd.asarray(d), count, alpha, beta, k), gradient,
          terms=2 * count)
    with pytest.raises(ValueError):
        nnet.lrnorm_bc01(hd.asarray(x), 0)
    with pytest.raises(hd.ShapeError):
        nnet.lrnorm_bc01(hd.asarray(x[0]))


def test_normalisation_of_many_shapes():
    # A call that meets different shapes is compiled for symbolic extents.
    generator = np.random.default_rng(9)
    for shape in [(2, 7, 3, 4), (3, 6, 5, 5), (1, 9, 4, 2), (2, 5, 6, 7), (4, 1, 3, 3)]:
        x = generator.standard_normal(shape)
        squares = np.pad(x * x, ((0, 0), (2, 2), (0, 0), (0, 0)))
        scale = 2 + 0.1 * sum(squares[:, i:i + shape[1]] for i in range(5))
        close(nnet.lrnorm_bc01(hd.asarray(x), 5, 0.1, 0.75, 2.0), x / scale ** 0.75, terms=5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "bool", "int16"])
@pytest.mark.parametrize("width", [7, 8, 13, 28])
def test_windows_of_padded_images_in_one_kernel(dtype, width):
    # The kernel's last loop runs over rows and columns together, and the padding tells them apart.
    generator = np.random.default_rng(width)
    images = (generator.standard_normal((2, 3, 12, width)) * 4).astype(dtype)
    ends = ((0, 0), (0, 0), (1, 1), (2, 1))

    def columns(xp, x):
        windows = xp.lib.stride_tricks.sliding_window_view(xp.pad(x, ends), (3, 4), axis=(2, 3))
        return xp.transpose(windows, (0, 1, 4, 5, 2, 3)).reshape(2, 36, 12 * width)

    compiled = hd.jit(lambda x: columns(hd, x) if dtype == "bool" else columns(hd, x) * 2 + 1)
    expected = columns(np, images)
    if dtype != "bool":
        expected = expected * np.asarray(2, dtype) + np.asarray(1, dtype)
    for _ in range(2):
        np.testing.assert_array_equal(np.asarray(compiled(hd.asarray(images))), expected)
