"""Vectors from a normal distribution, and the state of the global generator."""

import warnings

import numpy as np
import pytest

import heddle as hd

COVARIANCE = np.array([[4.0, 1.2, 0.3], [1.2, 1.0, -0.2], [0.3, -0.2, 0.5]])
MEAN = np.array([1.0, -2.0, 3.0])


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_moments(method):
    rng = hd.random.default_rng(7)
    samples = np.asarray(rng.multivariate_normal(MEAN, COVARIANCE, 200_000, method=method))
    assert samples.shape == (200_000, 3) and samples.dtype == np.float64
    np.testing.assert_allclose(samples.mean(axis=0), MEAN, atol=0.03)
    np.testing.assert_allclose(np.cov(samples.T), COVARIANCE, atol=0.05)
    # Whitened, the vectors are standard normal.
    white = (samples - MEAN) @ np.linalg.inv(np.linalg.cholesky(COVARIANCE)).T
    np.testing.assert_allclose((white ** 4).mean(axis=0), 3, atol=0.15)


def test_shapes():
    rng = hd.random.default_rng(1)
    for size, shape in [(None, (3,)), (4, (4, 3)), ((2, 5), (2, 5, 3)), ((), (3,)), (0, (0, 3))]:
        assert rng.multivariate_normal(MEAN, COVARIANCE, size).shape == shape
        assert rng.multivariate_normal(hd.array(MEAN), hd.array(COVARIANCE), size).shape == shape
    assert rng.multivariate_normal([0, 0], [[1, 0], [0, 1]], 3).dtype == hd.float64
    for mean, covariance in [(MEAN[:2], COVARIANCE), (MEAN[None], COVARIANCE), (MEAN, COVARIANCE[:2]),
                             (MEAN, COVARIANCE[0]), (1.0, COVARIANCE)]:
        with pytest.raises(ValueError):
            np.random.default_rng(1).multivariate_normal(mean, covariance)
        with pytest.raises(hd.ShapeError):
            rng.multivariate_normal(mean, covariance)


def test_singular_covariances():
    rng = hd.random.default_rng(1)
    ones = np.ones((3, 3))
    for method in ("svd", "eigh"):
        samples = np.asarray(rng.multivariate_normal(MEAN, ones, 50, method=method)) - MEAN
        np.testing.assert_allclose(samples, samples[:, :1] * np.ones(3), atol=1e-6)
    with pytest.raises(hd.LinAlgError):
        rng.multivariate_normal(MEAN, -COVARIANCE, check_valid="ignore", method="cholesky")


def test_invalid_covariances():
    rng = hd.random.default_rng(1)
    for bad in (-COVARIANCE, np.triu(COVARIANCE), np.diag([1.0, -1, 1])):
        with pytest.warns(RuntimeWarning, match="positive-semidefinite"):
            rng.multivariate_normal(MEAN, bad)
        with pytest.raises(hd.ValueError, match="positive semidefinite"):
            rng.multivariate_normal(MEAN, bad, check_valid="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rng.multivariate_normal(MEAN, -COVARIANCE, check_valid="ignore")
        rng.multivariate_normal(MEAN, COVARIANCE)
        rng.multivariate_normal(MEAN, COVARIANCE + np.diag([1e-10, 0, 0]), tol=1e-6)
    with pytest.raises(ValueError, match="check_valid"):
        rng.multivariate_normal(MEAN, COVARIANCE, check_valid="other")
    with pytest.raises(ValueError, match="method"):
        rng.multivariate_normal(MEAN, COVARIANCE, method="lu")


def test_seeds_and_traced_functions():
    first = hd.random.default_rng(3).multivariate_normal(MEAN, COVARIANCE, 4)
    again = hd.random.default_rng(3).multivariate_normal(MEAN, COVARIANCE, 4)
    np.testing.assert_array_equal(np.asarray(first), np.asarray(again))
    rng = hd.random.default_rng(3)
    draw = hd.jit(lambda covariance: rng.multivariate_normal(MEAN, covariance, 4))
    samples = np.asarray(draw(hd.array(COVARIANCE)))
    assert samples.shape == (4, 3) and np.isfinite(samples).all()
    assert not np.array_equal(samples, np.asarray(draw(hd.array(COVARIANCE))))


def test_module_function():
    hd.random.seed(5)
    first = np.asarray(hd.random.multivariate_normal(MEAN, COVARIANCE, 3))
    hd.random.seed(5)
    np.testing.assert_array_equal(np.asarray(hd.random.multivariate_normal(MEAN, COVARIANCE, 3)), first)


def test_states():
    state = hd.random.RandomState(11)
    state.rand(3)
    for legacy in (True, False):
        saved = state.get_state(legacy=legacy)
        wanted = [np.asarray(state.randn(4)) for _ in range(3)]
        state.rand(2)
        state.set_state(saved)
        for values in wanted:
            np.testing.assert_array_equal(np.asarray(state.randn(4)), values)
        other = hd.random.RandomState(12)
        other.set_state(saved)
        np.testing.assert_array_equal(np.asarray(other.randn(4)), wanted[0])
    saved = hd.random.get_state()
    first = np.asarray(hd.random.rand(5))
    hd.random.set_state(saved)
    np.testing.assert_array_equal(np.asarray(hd.random.rand(5)), first)
    with pytest.raises(ValueError, match="Philox"):
        state.set_state(("MT19937", (1, 2), 3))
