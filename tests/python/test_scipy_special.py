"""hd.scipy.special beside SciPy."""

import importlib

import numpy as np
import pytest
from conftest import neighbour

import heddle as hd

theirs = neighbour("scipy.special")
ours = hd.scipy.special
EDGES = np.array([0.0, -0.0, 1, -1, 0.5, 0.25, 2, 30, -30, 800, -800, np.inf, -np.inf, np.nan, 1e-300, -1e-20])


def agree(got, expected, rtol, atol=0):
    assert got.shape == np.shape(expected) and got.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(hd.asnumpy(got), expected, rtol=rtol, atol=atol)


ONE = ["cbrt", "entr", "erf", "exp10", "exp2", "expit", "expm1", "log1p", "log_expit", "logit"]
TWO = ["huber", "kl_div", "pseudo_huber", "rel_entr", "xlog1py", "xlogy"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_one(dtype):
    x = np.concatenate([EDGES, np.random.default_rng(0).uniform(-3, 3, 50), 0.5 + np.array([1e-9, -1e-7, 0.1, -0.3])])
    x = x.astype(dtype)
    every = hd.jit(lambda x: [getattr(ours, name)(x) for name in ONE])
    for name, got in zip(ONE, every(hd.asarray(x))):
        agree(got, getattr(theirs, name)(x), 64 * np.finfo(dtype).eps)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_two(dtype):
    x, y = (part.ravel().astype(dtype) for part in np.meshgrid(EDGES, EDGES))
    every = hd.jit(lambda x, y: [getattr(ours, name)(x, y) for name in TWO])
    for name, got in zip(TWO, every(hd.asarray(x), hd.asarray(y))):
        keep = np.isfinite(x) & np.isfinite(y) if "huber" in name or name == "kl_div" else np.full(x.shape, True)
        agree(got[hd.asarray(keep)], getattr(theirs, name)(x, y)[keep], 128 * np.finfo(dtype).eps,
              np.finfo(dtype).tiny)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_sums_of_exponentials(axis):
    rng = np.random.default_rng(1)
    for x in (rng.normal(0, 300, (4, 5)), np.array([[np.inf, 1.0], [-np.inf, -np.inf]]), np.arange(6).reshape(2, 3)):
        for keepdims in (False, True):
            agree(ours.logsumexp(hd.asarray(x), axis=axis, keepdims=keepdims),
                  theirs.logsumexp(x, axis=axis, keepdims=keepdims), 1e-14)
    x, b = rng.normal(0, 300, (4, 5)), rng.integers(0, 3, (4, 5))
    b[0, 0] = 1
    b[:, 1] = b[1] = 1
    agree(ours.logsumexp(hd.asarray(x), axis=axis, b=hd.asarray(b)), theirs.logsumexp(x, axis=axis, b=b), 1e-14)
    agree(ours.softmax(hd.asarray(x), axis=axis), theirs.softmax(x, axis=axis), 1e-13)
    agree(ours.log_softmax(hd.asarray(x), axis=axis), theirs.log_softmax(x, axis=axis), 1e-13)


def test_attribute_paths():
    assert importlib.import_module("heddle.scipy.special") is hd.scipy.special
    assert hd.scipy.sparse is hd.sparse and hd.scipy.get_array_module(hd.ones(1)).special is ours
    with pytest.raises(AttributeError, match="signal"):
        hd.scipy.signal
    assert set(ours.__all__) == set(ONE + TWO + ["log_softmax", "logsumexp", "softmax"])
