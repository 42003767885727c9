"""heddle.random: reproducible, fused, and distributed as NumPy's generator is."""

import numpy as np
import pytest

import heddle as hd

METHODS = {
    "random": (), "uniform": (-1.0, 2.0), "standard_normal": (), "normal": (1.0, 2.0),
    "lognormal": (0.0, 0.5), "standard_exponential": (), "exponential": (2.0,),
    "standard_cauchy": (), "laplace": (1.0, 2.0), "logistic": (1.0, 2.0), "gumbel": (1.0, 2.0),
    "rayleigh": (2.0,), "weibull": (1.5,), "pareto": (3.0,), "power": (2.5,),
    "triangular": (0.0, 1.0, 3.0), "geometric": (0.3,), "integers": (-3, 9),
}


@pytest.mark.parametrize("name", METHODS)
def test_distributed_as_numpys(name):
    count = 50_000
    ours = np.sort(hd.asnumpy(getattr(hd.random.default_rng(1), name)(*METHODS[name], size=count)))
    theirs = np.sort(getattr(np.random.default_rng(2), name)(*METHODS[name], size=count))
    assert ours.dtype == theirs.dtype
    # Kolmogorov's distance of two samples, below what one pair in 10^9 exceeds.
    every = np.concatenate([ours, theirs])
    distance = np.abs(np.searchsorted(ours, every, "right")
                      - np.searchsorted(theirs, every, "right")).max() / count
    assert distance < 3.3 * np.sqrt(2 / count)


def test_reproducible_and_spawned():
    a, b = hd.random.default_rng(5), hd.random.default_rng(5)
    assert hd.array_equal(a.random((3, 4)), b.random((3, 4)))
    assert not hd.array_equal(a.random(8), hd.random.default_rng(5).random(8))
    first, second = a.spawn(2)
    assert not hd.array_equal(first.bits(4), second.bits(4))
    assert a.normal().shape == ()
    assert a.normal(hd.zeros((3, 1)), 1.0, size=(3, 4), dtype=hd.float32).dtype == hd.float32
    assert a.integers(5, size=3, dtype="int8").dtype == hd.int8


def test_each_call_of_a_jitted_function_draws_anew():
    rng, outside = hd.random.default_rng(3), hd.random.default_rng(3)

    @hd.jit
    def noisy(x):
        return x + rng.normal(size=5)

    for _ in range(3):
        assert hd.allclose(noisy(hd.zeros(5)), outside.normal(size=5))


def test_errors():
    rng = hd.random.default_rng(0)
    with pytest.raises(ValueError):
        rng.normal(0.0, -1.0)
    with pytest.raises(ValueError):
        rng.integers(4, 4)
    with pytest.raises(TypeError):
        rng.random(3, dtype=hd.int32)
    with pytest.raises(TypeError):
        rng.uniform("a")
