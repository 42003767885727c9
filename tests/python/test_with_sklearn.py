"""scikit-learn with array_api_dispatch: estimators and metrics that compute with Arrays."""

import numpy as np
import pytest
from conftest import neighbour, use_scipys_array_api

import heddle as hd

use_scipys_array_api()
sklearn = neighbour("sklearn")
from sklearn import decomposition, discriminant_analysis, linear_model, metrics, pipeline, preprocessing  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402

RANDOM = np.random.default_rng(0)
X = RANDOM.random((40, 3))
Y = (X[:, 0] > 0.5).astype(int)
GUESS = np.where(np.arange(40) < 20, Y, 1 - Y)


@pytest.fixture(autouse=True)
def dispatch(on_host):
    with sklearn.config_context(array_api_dispatch=True):
        yield


TRANSFORMERS = {
    "PCA": lambda: decomposition.PCA(2, svd_solver="full"), "StandardScaler": preprocessing.StandardScaler,
    "MinMaxScaler": preprocessing.MinMaxScaler, "Normalizer": preprocessing.Normalizer,
    "pipeline": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), decomposition.PCA(2, svd_solver="full"))}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers(name):
    got = TRANSFORMERS[name]().fit(hd.asarray(X)).transform(hd.asarray(X))
    assert isinstance(got, hd.Array)
    np.testing.assert_allclose(got.get(), TRANSFORMERS[name]().fit(X).transform(X), rtol=1e-7, atol=1e-9)


PREDICTORS = {
    "Ridge": lambda: linear_model.Ridge(solver="svd"),
    "LDA": lambda: discriminant_analysis.LinearDiscriminantAnalysis(solver="svd"), "GaussianNB": GaussianNB}


@pytest.mark.parametrize("name", PREDICTORS)
def test_predictors(name):
    x, y = hd.asarray(X), hd.asarray(Y)
    got = PREDICTORS[name]().fit(x, y).predict(x)
    assert isinstance(got, hd.Array)
    np.testing.assert_allclose(got.get(), PREDICTORS[name]().fit(X, Y).predict(X), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["accuracy_score", "f1_score", "zero_one_loss", "mean_squared_error", "r2_score"])
def test_metrics(name):
    metric = getattr(metrics, name)
    assert float(metric(hd.asarray(Y), hd.asarray(GUESS))) == pytest.approx(float(metric(Y, GUESS)))


@pytest.mark.parametrize("name", ["euclidean_distances", "cosine_similarity", "rbf_kernel"])
def test_pairs(name):
    function = getattr(metrics.pairwise, name)
    got = function(hd.asarray(X), hd.asarray(X[:5]))
    assert isinstance(got, hd.Array)
    np.testing.assert_allclose(got.get(), function(X, X[:5]), rtol=1e-7, atol=1e-9)


def test_splits():
    parts = train_test_split(hd.asarray(X), hd.asarray(Y), random_state=0)
    for got, expected in zip(parts, train_test_split(X, Y, random_state=0), strict=True):
        assert isinstance(got, hd.Array)
        np.testing.assert_array_equal(got.get(), expected)


def test_without_dispatch_numpy_computes():
    with sklearn.config_context(array_api_dispatch=False):
        got = preprocessing.StandardScaler().fit_transform(hd.asarray(X))
        assert isinstance(got, np.ndarray)
        np.testing.assert_array_equal(got, preprocessing.StandardScaler().fit_transform(X))
