"""heddle.random: reproducible, fused, and distributed as NumPy's generator is."""

import numpy as np
import pytest
from conftest import check

import heddle as hd

METHODS = {
    "random": (), "uniform": (-1.0, 2.0), "standard_normal": (), "normal": (1.0, 2.0),
    "lognormal": (0.0, 0.5), "standard_exponential": (), "exponential": (2.0,),
    "standard_cauchy": (), "laplace": (1.0, 2.0), "logistic": (1.0, 2.0), "gumbel": (1.0, 2.0),
    "rayleigh": (2.0,), "weibull": (1.5,), "pareto": (3.0,), "power": (2.5,),
    "triangular": (0.0, 1.0, 3.0), "geometric": (0.3,), "integers": (-3, 9),
    "standard_gamma": (0.4,), "gamma": (3.0, 2.0), "beta": (0.7, 2.0), "chisquare": (5,),
    "noncentral_chisquare": (3.0, 2.0), "f": (4.0, 9.0), "noncentral_f": (4.0, 9.0, 2.0),
    "standard_t": (3.0,), "wald": (1.0, 2.0), "vonmises": (1.0, 3.0), "poisson": (20.0,),
    "binomial": (50, 0.4), "negative_binomial": (3, 0.4), "hypergeometric": (60, 80, 50),
    "zipf": (2.5,), "logseries": (0.8,), "choice": (7,),
}
# These give rows.
ROWS = {
    "dirichlet": ([0.5, 1.0, 2.5],), "multinomial": (12, [0.2, 0.3, 0.5]),
    "multivariate_hypergeometric": ([7, 9, 4], 8),
}


def draws(module, seed, name, count):
    generator = module.random.default_rng(seed)
    return np.asarray(getattr(generator, name)(*(METHODS | ROWS)[name], size=count))


@pytest.mark.parametrize("name", METHODS)
def test_distributed_as_numpys(name):
    check_same_distribution(draws(hd, 1, name, 50_000), draws(np, 2, name, 50_000))


@pytest.mark.parametrize("name", ROWS)
def test_rows_distributed_as_numpys(name):
    ours, theirs = draws(hd, 1, name, 20_000), draws(np, 2, name, 20_000)
    assert ours.shape == theirs.shape
    for k in range(3):
        check_same_distribution(ours[:, k], theirs[:, k])
    assert np.allclose(np.corrcoef(ours.T), np.corrcoef(theirs.T), atol=0.05)


def check_same_distribution(ours, theirs):
    ours, theirs, count = np.sort(ours), np.sort(theirs), len(ours)
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


def test_orders_and_choices():
    rng = hd.random.default_rng(4)
    assert sorted(rng.permutation(9).tolist()) == list(range(9))
    assert sorted(rng.permutation([3, 1, 2]).tolist()) == [1, 2, 3]
    table = hd.reshape(hd.arange(12), (3, 4))
    columns = hd.asnumpy(rng.permutation(table, axis=1))
    assert (columns[1] - columns[0] == 4).all() and sorted(columns[0]) == [0, 1, 2, 3]
    assert sorted(hd.asnumpy(rng.permuted(table, axis=1))[1]) == [4, 5, 6, 7]
    before = hd.asnumpy(table)
    view = table[1:]
    assert rng.shuffle(view, axis=1) is None
    after = hd.asnumpy(table)
    assert (after[0] == before[0]).all() and sorted(after[2]) == sorted(before[2])
    assert rng.choice([10.0, 20.0], size=(2, 2)).dtype == hd.float64
    assert rng.choice(5, 3, p=[0, 0, 1, 0, 0]).tolist() == [2, 2, 2]
    assert sorted(rng.choice(4, 4, replace=False).tolist()) == [0, 1, 2, 3]
    assert set(rng.choice(4, 2, False, [0.5, 0, 0.5, 0]).tolist()) == {0, 2}
    assert len(rng.bytes(11)) == 11
    with pytest.raises(ValueError):
        rng.choice(3, 4, replace=False)


def test_what_is_drawn_into():
    for name, parameters in (("random", ()), ("standard_normal", ()), ("standard_exponential", ()),
                             ("standard_gamma", (2.0,))):
        out = hd.zeros((3, 2), dtype=hd.float32)
        drawn = getattr(hd.random.default_rng(5), name)(*parameters, dtype=hd.float32, out=out)
        assert drawn is out
        again = getattr(hd.random.default_rng(5), name)(*parameters, (3, 2), hd.float32)
        check(out, hd.asnumpy(again))
        draw = getattr(hd.random.default_rng(5), name)
        with pytest.raises(TypeError, match="float32"):
            draw(*parameters, out=out)
        with pytest.raises(ValueError):
            draw(*parameters, 3, hd.float32, out=out)
    x = hd.arange(12).reshape((3, 4))
    assert hd.random.default_rng(5).permuted(x, axis=1, out=x) is x
    check(hd.sort(x, axis=1), np.arange(12).reshape(3, 4))
    check(x, hd.asnumpy(hd.random.default_rng(5).permuted(hd.arange(12).reshape((3, 4)), axis=1)))
    for bad, error in ((hd.zeros(12), ValueError), (hd.zeros((3, 4), dtype=hd.bool), TypeError)):
        with pytest.raises(error):
            hd.random.default_rng(5).permuted(x, out=bad)


def test_methods_give_the_same_numbers():
    def draw(method):
        return hd.asnumpy(hd.random.default_rng(5).standard_exponential(9, method=method))

    np.testing.assert_array_equal(draw("zig"), draw("inv"))
    for method in ("marginals", "count"):
        rng = hd.random.default_rng(5)
        drawn = hd.asnumpy(rng.multivariate_hypergeometric([3, 9], 5, 8, method=method))
        assert drawn.shape == (8, 2) and np.all(drawn.sum(1) == 5)
    rng = hd.random.default_rng(5)
    for bad in (lambda: rng.standard_exponential(3, method="best"),
                lambda: rng.multivariate_hypergeometric([3, 4], 2, method="best")):
        with pytest.raises(ValueError, match="method"):
            bad()
    chosen = hd.asnumpy(rng.choice(50, 20, replace=False, shuffle=False))
    assert len(set(chosen)) == 20


def test_errors():
    rng = hd.random.default_rng(0)
    for wrong in (lambda: rng.poisson(-1.0), lambda: rng.binomial(3, 1.5),
                  lambda: rng.gamma(-1.0), lambda: rng.hypergeometric(1, 1, 3)):
        with pytest.raises(ValueError, match="test_random.py"):
            wrong()
    assert rng.poisson(hd.asarray([-1.0, 0.0])).tolist() == [-1, 0]
    with pytest.raises(ValueError):
        rng.normal(0.0, -1.0)
    with pytest.raises(ValueError):
        rng.integers(4, 4)
    with pytest.raises(TypeError):
        rng.random(3, dtype=hd.int32)
    with pytest.raises(TypeError):
        rng.uniform("a")


def test_bulk_generators():
    with pytest.raises(ValueError):
        hd.random.bulk("mt19937")
    try:
        points = hd.random.bulk("sobol32", dimensions=2).uniform((1024, 2))
    except hd.DeviceError as error:
        assert "cuRAND" in str(error)
        pytest.skip("there is no cuRAND")
    cells = np.floor(np.asarray(points) * 16).clip(0, 15)
    assert np.ptp(np.histogram2d(cells[:, 0], cells[:, 1], bins=16)[0]) <= 4
    bulk = hd.random.bulk("xorwow", seed=1)
    assert bulk.bits(3).dtype == hd.uint32
    assert bulk.normal(2.0, 0.1, size=(3, 5), dtype="float32").shape == (3, 5)


def test_the_global_generator():
    def drawn():
        hd.random.seed(7)
        return [hd.asnumpy(x) for x in (
            hd.random.rand(2, 3), hd.random.randn(4), hd.random.random(), hd.random.uniform(-1, 1, 5),
            hd.random.randint(3, 9, (2, 2)), hd.random.randint(4, size=3), hd.random.choice(9, 4, p=None),
            hd.random.normal(1.0, scale=2.0, size=3), hd.random.permutation(6))]

    first, second = drawn(), drawn()
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    assert [x.shape for x in first[:6]] == [(2, 3), (4,), (), (5,), (2, 2), (3,)]
    assert 3 <= first[4].min() and first[4].max() < 9 and first[5].max() < 4
    assert sorted(first[8]) == list(range(6))
    hd.random.seed(7)
    integers = hd.asnumpy(hd.random.integers(3, 8, (2, 50), endpoint=True))
    assert set(integers.ravel()) == {3, 4, 5, 6, 7, 8}
    x = hd.arange(20)
    hd.random.shuffle(x)
    assert sorted(x.tolist()) == list(range(20))
    state = hd.random.RandomState(7)
    np.testing.assert_array_equal(hd.asnumpy(state.rand(2, 3)), first[0])
    assert not np.array_equal(hd.asnumpy(state.rand(2, 3)), first[0])
    with pytest.raises(TypeError):
        hd.random.seed(1.5)
    with pytest.raises(AttributeError, match="Generator"):
        state.nothing


def test_shuffle_of_lists_and_numpys_arrays():
    generator = hd.random.default_rng(5)
    items, rows = list("abcdefgh"), np.arange(12).reshape(6, 2)
    generator.shuffle(items)
    generator.shuffle(rows)
    assert sorted(items) == list("abcdefgh") and items != list("abcdefgh")
    assert sorted(rows[:, 0]) == [0, 2, 4, 6, 8, 10] and (rows[:, 1] == rows[:, 0] + 1).all()
    generator.shuffle(columns := np.arange(12).reshape(2, 6), axis=1)
    assert (columns[1] - columns[0] == 6).all() and sorted(columns[0]) == [0, 1, 2, 3, 4, 5]
    with pytest.raises(TypeError, match="not tuple"):
        generator.shuffle((1, 2))
    with pytest.raises(ValueError, match="axis 0"):
        generator.shuffle(items, axis=1)


@pytest.mark.parametrize("span, dtype", [(3 * 2**61, "int64"), (2**63 - 1, "int64"), (3 * 2**62, "uint64"),
                                         (2**32 + 2**31, "int64"), (1000, "int64")])
def test_integers_of_all_spans_are_uniform(span, dtype):
    found = hd.asnumpy(hd.random.default_rng(3).integers(0, span, size=40000, dtype=dtype))
    assert found.min() >= 0 and found.max() < span
    shares = np.quantile(found.astype(float) / span, [0.1, 0.25, 0.5, 0.75, 0.9])
    np.testing.assert_allclose(shares, [0.1, 0.25, 0.5, 0.75, 0.9], atol=0.012)  # 4.5 deviations


def test_integers_of_arrays_of_bounds_are_uniform():
    high = hd.asarray(np.full(40000, 3 * 2**61))
    found = hd.asnumpy(hd.random.default_rng(4).integers(0, high)) / (3 * 2**61)
    np.testing.assert_allclose(np.quantile(found, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.012)


@pytest.mark.parametrize("low, high, dtype", [(0, 300, "int8"), (-1, 3, "uint8"), (-129, 0, "int8"),
                                              (-1, 5, "uint64"), (0, 2**31 + 1, "int32"),
                                              (0, 2**63, "int32"), (2**63, 2**63 + 9, "int64")])
def test_integers_refuse_bounds_that_the_dtype_lacks(low, high, dtype):
    for xp in (np, hd):
        with pytest.raises(ValueError, match="out of bounds"):
            xp.random.default_rng(1).integers(low, high, dtype=dtype)
    assert hd.random.default_rng(1).integers(0, 256, 9, "uint8").dtype == "uint8"


def test_bound_methods_follow_the_seed():
    state = hd.random.RandomState(1)
    normal = state.normal
    state.seed(3)
    first = normal(size=4)
    state.seed(3)
    np.testing.assert_array_equal(hd.asnumpy(normal(size=4)), hd.asnumpy(first))
    assert normal.__name__ == "normal"


def test_choice_and_permutation_take_numpys_arrays():
    values = np.array([5.0, 6.0, 7.0])
    generator = hd.random.default_rng(2)
    assert sorted(generator.permutation(values).tolist()) == [5, 6, 7]
    assert set(generator.choice(values, 20).tolist()) <= {5, 6, 7}
    assert sorted(generator.permutation(np.int64(3)).tolist()) == [0, 1, 2]


def test_integers_of_older_names():
    state = hd.random.RandomState(1)
    x = hd.asnumpy(state.random_integers(3, 5, 1000))
    assert set(x.tolist()) == {3, 4, 5} and x.dtype == np.int64
    assert set(hd.asnumpy(hd.random.random_integers(2, size=100)).tolist()) == {1, 2}
    x = hd.asnumpy(state.tomaxint((50, 20)))
    assert x.shape == (50, 20) and x.min() >= 0 and x.max() > 2**61
    np.testing.assert_allclose(x.astype(float).mean() / 2**63, 0.5, atol=0.05)


def test_the_modules_state():
    before = hd.random.get_random_state()
    try:
        hd.random.set_random_state(hd.random.RandomState(5))
        first = hd.random.rand(4)
        np.testing.assert_array_equal(hd.asnumpy(first), hd.asnumpy(hd.random.RandomState(5).rand(4)))
        hd.random.reset_states()
        assert hd.random.get_random_state() is not before
        assert (hd.random.rand(4) != first).all()
        with pytest.raises(TypeError, match="RandomState"):
            hd.random.set_random_state(3)
    finally:
        hd.random.set_random_state(before)
    assert hd.random.get_random_state() is before
