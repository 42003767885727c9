"""SciPy's functions of the array API standard, which compute with Arrays and return them."""

import numpy as np
import pytest
from conftest import use_scipys_array_api

import heddle as hd

use_scipys_array_api()
from scipy import fft, integrate, interpolate, ndimage, optimize, signal, special, stats  # noqa: E402
from scipy.cluster import vq  # noqa: E402
from scipy.optimize import elementwise  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

pytestmark = pytest.mark.usefixtures("on_host")
RANDOM = np.random.default_rng(0)
A, B = RANDOM.random((5, 7)) + 0.1, RANDOM.random((5, 7)) + 0.1
V, W = RANDOM.random(64) + 0.1, RANDOM.random(64) + 0.1

SAME = {
    "special.erf": lambda: (special.erf, A), "special.ndtr": lambda: (special.ndtr, A),
    "special.gammaln": lambda: (special.gammaln, A), "special.expit": lambda: (special.expit, A),
    "special.i0e": lambda: (special.i0e, A), "special.xlogy": lambda: (special.xlogy, A, B),
    "special.rel_entr": lambda: (special.rel_entr, A, B), "special.gammainc": lambda: (special.gammainc, A, B),
    "special.logsumexp": lambda: (lambda x: special.logsumexp(x, axis=1), A),
    "special.softmax": lambda: (lambda x: special.softmax(x, axis=1), A),
    "stats.zscore": lambda: (stats.zscore, V), "stats.skew": lambda: (stats.skew, V),
    "stats.gmean": lambda: (stats.gmean, V), "stats.iqr": lambda: (stats.iqr, V),
    "stats.variation": lambda: (stats.variation, V), "stats.circmean": lambda: (stats.circmean, V),
    "stats.ttest_ind": lambda: (lambda x, y: stats.ttest_ind(x, y).pvalue, V, W),
    "stats.pearsonr": lambda: (lambda x, y: stats.pearsonr(x, y).statistic, V, W),
    "stats.f_oneway": lambda: (lambda x, y: stats.f_oneway(x, y).pvalue, V, W),
    "stats.normaltest": lambda: (lambda x: stats.normaltest(x).pvalue, V),
    "stats.quantile": lambda: (stats.quantile, V, np.array([0.2, 0.5])),
    "stats.rankdata": lambda: (stats.rankdata, V),
    "fft.rfft": lambda: (fft.rfft, A), "fft.ifftn": lambda: (fft.ifftn, A), "fft.dct": lambda: (fft.dct, A),
    "fft.fftshift": lambda: (fft.fftshift, A),
    "signal.fftconvolve": lambda: (signal.fftconvolve, V, W[:5]),
    "signal.hilbert": lambda: (signal.hilbert, V), "signal.detrend": lambda: (signal.detrend, V),
    "signal.savgol_filter": lambda: (lambda x: signal.savgol_filter(x, 5, 2), V),
    "signal.resample": lambda: (lambda x: signal.resample(x, 32), V),
    "signal.lfilter": lambda: (signal.lfilter, V[:3], np.array([1.0, 0.2]), V),
    "ndimage.gaussian_filter": lambda: (lambda x: ndimage.gaussian_filter(x, 1.0), A),
    "integrate.trapezoid": lambda: (integrate.trapezoid, V),
    "integrate.cumulative_simpson": lambda: (integrate.cumulative_simpson, V),
    "interpolate.CubicSpline": lambda: (
        lambda at, y: interpolate.CubicSpline(at, y)(at + 0.25), np.arange(64.0), V),
    "optimize.rosen": lambda: (optimize.rosen, V), "cluster.vq.whiten": lambda: (vq.whiten, A),
    "Rotation": lambda: (lambda q, v: Rotation.from_rotvec(q).apply(v), np.array([0, 0, 1.0]), V[:3])}


def checked(got, expected):
    got, expected = ((each if isinstance(each, tuple) else (each,)) for each in (got, expected))
    for ours, theirs in zip(got, expected, strict=True):
        assert isinstance(ours, hd.Array)
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("name", SAME)
def test_functions(name):
    function, *arguments = SAME[name]()
    checked(function(*map(hd.asarray, arguments)), function(*arguments))


def test_windows_and_frequencies():
    for window in ("hann", "blackman", ("kaiser", 3.0), ("gaussian", 2.0)):
        checked(signal.get_window(window, 9, xp=hd), signal.get_window(window, 9))
    checked(fft.rfftfreq(9, xp=hd), fft.rfftfreq(9))


def test_functions_of_users():
    lower, upper = hd.zeros(2), hd.ones(2)
    root = elementwise.find_root(lambda z: z ** 2 - 0.5, (lower, upper)).x
    checked(root, np.full(2, 0.5 ** 0.5))
    area = integrate.cubature(lambda z: z[:, 0] ** 2, hd.zeros(1), hd.ones(1)).estimate
    checked(area, np.array(1 / 3))


def test_functions_that_write_into_their_arguments_need_numpys_memory():
    sections = signal.butter(3, 0.2, output="sos")
    with pytest.raises(ValueError, match="read-only"):
        signal.sosfilt(hd.asarray(sections), hd.asarray(V))
    np.testing.assert_array_equal(signal.sosfilt(hd.asarray(sections).get(), hd.asarray(V).get()),
                                  signal.sosfilt(sections, V))
