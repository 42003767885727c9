"""Philox and what is drawn from its blocks (ir/scalar/random.h), in whole arrays: each sampler goes on
with the elements that no attempt accepted yet. Probabilities are the textbooks' formulas, in the
operands' precision."""

import numpy as np

ATTEMPTS = 128
TWO_PI = 2 * np.longdouble("3.14159265358979323846264338327950288")


def philox_block(key, counter, block):
    """Two words of 64 bits of Philox4x32-10, the counter's upper half being `block`."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    keys = [key & low, key >> half]
    words = [counter & low, counter >> half, np.full_like(counter, block), np.zeros_like(counter)]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        words = [b >> half ^ words[1] ^ keys[0], b & low, a >> half ^ words[3] ^ keys[1], a & low]
        keys = [keys[0] + np.uint64(0x9E3779B9) & low, keys[1] + np.uint64(0xBB67AE85) & low]
    return words[1] << half | words[0], words[3] << half | words[2]


def philox(key, counter):
    key, counter = np.broadcast_arrays(key, counter)
    low, high = philox_block(key, counter >> np.uint64(1), 0)
    return np.where(counter & np.uint64(1), high, low)


def open_unit(bits, kind):
    return ((bits >> np.uint64(12)).astype(kind) + kind.type(0.5)) * kind.type(2.0**-52)


def philox_normal(key, counter):
    key, counter = np.broadcast_arrays(key, counter)
    word = philox(key, counter >> np.uint64(1))
    radius = ((word >> np.uint64(32)).astype(np.float32) + np.float32(0.5)).astype(float) * 2.0**-32
    turn = (word & np.uint64(2**32 - 1)).astype(float) * 2.0**-32
    side = np.where(counter & np.uint64(1), np.sin(2 * np.pi * turn), np.cos(2 * np.pi * turn))
    return (np.sqrt(-2 * np.log(radius)) * side).astype(np.float32)


def draw(function):
    """A function of flat arrays, and the parameters' dtype, as one of operands that broadcast."""

    def of_arrays(key, counter, *parameters):
        arrays = np.broadcast_arrays(key, counter, *parameters)
        flat = [array.ravel() for array in arrays]
        with np.errstate(all="ignore"):
            return function(*flat, flat[2].dtype).reshape(arrays[0].shape)

    of_arrays.__name__ = function.__name__
    return of_arrays


def attempts(result, todo, attempt, key, counter, first=0):
    """Fills the elements that `todo` says. `attempt(places, low, high)` gives, from two words each,
    values and which of them are accepted."""
    todo = np.flatnonzero(todo)
    for block in range(first, first + ATTEMPTS):
        if todo.size == 0:
            return
        value, accepted = attempt(todo, *philox_block(key[todo], counter[todo], block))
        result[todo[accepted]] = value[accepted]
        todo = todo[~accepted]


def log_factorial(n):
    """Of whole numbers: exact products, and Stirling's series beyond."""
    small = np.concatenate([[0], np.cumsum(np.log(np.arange(1, 30, dtype=np.longdouble)))])
    at = np.clip(np.where(np.isfinite(n), n, 0), 0, 29).astype(int)
    x = np.maximum(n, 1).astype(np.longdouble)
    series = (1 / np.longdouble(12) - (1 / np.longdouble(360) - (1 / np.longdouble(1260) - (
        1 / np.longdouble(1680) - 1 / (1188 * x**2)) / x**2) / x**2) / x**2) / x
    large = (x + 0.5) * np.log(x) - x + np.log(TWO_PI) / 2 + series
    return np.where(n < 0, np.nan, np.where(n < 30, small[at], large))


def log_choose(n, k):
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k)


def inversion(u, probability, most):
    """The least k whose cumulative probability reaches u."""
    k, total = np.zeros_like(u), probability(np.zeros_like(u))
    for _ in range(1000):
        behind = (u > total) & (k < most)
        if not behind.any():
            break
        k = np.where(behind, k + 1, k)
        total = np.where(behind, total + probability(k), total)
    return k


@draw
def philox_gamma(key, counter, shape, kind):
    valid = np.isfinite(shape) & (shape >= 0)
    u = open_unit(philox_block(key, counter, 0)[0], kind)
    scale = np.where(shape < 1, np.exp(np.log(u) / shape), 1)
    d = np.where(shape < 1, shape + 1, shape) - 1 / kind.type(3)
    result = np.where(valid, d * scale, np.nan)

    def attempt(at, low, high):
        turn = (high >> np.uint64(32)).astype(kind) * 2.0**-32
        x = np.sqrt(-2 * np.log(open_unit(low, kind))) * np.cos(TWO_PI.astype(kind) * turn)
        rest = (high & np.uint64(2**32 - 1)) << np.uint64(11) | low & np.uint64(2**11 - 1)
        u = (rest.astype(kind) + 0.5) * 2.0**-43
        v = (1 + x / np.sqrt(9 * d[at])) ** 3
        accepted = (v > 0) & (np.log(u) < x**2 / 2 + d[at] * (1 - v + np.log(v)))
        return d[at] * v * scale[at], accepted

    attempts(result, valid & (shape > 0), attempt, key, counter, 1)
    result[shape == 0] = 0
    return result


@draw
def philox_poisson(key, counter, mean, kind):
    valid = (mean >= 0) & (mean <= 9.2233720064847708e18)
    small = valid & (mean < 10)
    result = np.where(valid, np.floor(mean), np.nan)
    u = open_unit(philox_block(key[small], counter[small], 0)[0], kind)
    m = mean[small]

    def log_probability(k, m):
        return np.where(k == 0, 0, k * np.log(m)) - m - log_factorial(k)

    result[small] = inversion(u, lambda k: np.exp(log_probability(k, m)), np.inf)
    b = 0.931 + 2.53 * np.sqrt(mean)
    a = -0.059 + 0.02483 * b

    def attempt(at, low, high):
        u, v = open_unit(low, kind) - 0.5, open_unit(high, kind)
        edge = 0.5 - np.abs(u)
        k = np.floor((2 * a[at] / edge + b[at]) * u + mean[at] + 0.43)
        sure = (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b[at] - 2))
        weight = v * (1.1239 + 1.1328 / (b[at] - 3.4)) / (a[at] / edge**2 + b[at])
        out = (k < 0) | (k >= 2.0**63) | (edge < 0.013) & (v > edge)
        return k, sure | ~out & (np.log(weight) <= log_probability(k, mean[at]))

    attempts(result, valid & ~small, attempt, key, counter)
    return result


@draw
def philox_binomial(key, counter, n, p, kind):
    valid = (n >= 0) & (n <= 2.0**63) & (p >= 0) & (p <= 1)
    n, turned = np.floor(n), p > 0.5
    p = np.where(turned, 1 - p, p)
    mean = n * p
    small = valid & (mean < 10)
    result = np.where(valid, np.floor((n + 1) * p), np.nan)

    def log_probability(k, n, p):
        rest = np.where(n == k, 0, (n - k) * np.log1p(-p))
        return log_choose(n, k) + np.where(k == 0, 0, k * np.log(p)) + rest

    u = open_unit(philox_block(key[small], counter[small], 0)[0], kind)
    m, q = n[small], p[small]
    result[small] = inversion(u, lambda k: np.exp(log_probability(k, m, q)), m)
    deviation = np.sqrt(mean * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p

    def attempt(at, low, high):
        u, v = open_unit(low, kind) - 0.5, open_unit(high, kind)
        edge = 0.5 - np.abs(u)
        k = np.floor((2 * a[at] / edge + b[at]) * u + mean[at] + 0.5)
        inside = (k >= 0) & (k <= n[at])
        sure = (edge >= 0.07) & (v <= 0.92 - 4.2 / b[at])
        weight = v * (2.83 + 5.1 / b[at]) * deviation[at] / (a[at] / edge**2 + b[at])
        mode = np.floor((n[at] + 1) * p[at])
        ratio = log_probability(k, n[at], p[at]) - log_probability(mode, n[at], p[at])
        return k, inside & (sure | (np.log(weight) <= ratio))

    attempts(result, valid & ~small, attempt, key, counter)
    return np.where(turned, n - result, result)


@draw
def philox_hypergeometric(key, counter, good, bad, sample, kind):
    good, bad, sample = np.floor(good), np.floor(bad), np.floor(sample)
    total = good + bad
    valid = (good >= 0) & (bad >= 0) & (sample >= 0) & (total <= 2.0**53) & (sample <= total)
    left, turned = sample > total - sample, good > bad
    n = np.where(left, total - sample, sample)
    few, many = np.minimum(good, bad), np.maximum(good, bad)
    most, mean = np.minimum(few, n), few * (n / total)
    small = valid & ((most == 0) | (mean < 10))
    mode = np.floor((n + 1) * ((few + 1) / (total + 2)))
    result = np.where(valid, mode, np.nan)

    def log_probability(k, at):
        parts = log_choose(few[at], k) + log_choose(many[at], n[at] - k)
        return parts - log_choose(total[at], n[at])

    u = open_unit(philox_block(key[small], counter[small], 0)[0], kind)
    result[small] = inversion(u, lambda k: np.exp(log_probability(k, small)), most[small])
    variance = mean * (many / total) * ((total - n) / (total - 1))
    width = 1.71552776992141359 * np.sqrt(variance + 0.5) + 0.89891616205889884

    def attempt(at, low, high):
        u, v = open_unit(low, kind), open_unit(high, kind)
        k = np.floor(mean[at] + 0.5 + width[at] * (v - 0.5) / u)
        inside = (k >= 0) & (k <= most[at])
        ratio = log_probability(k, at) - log_probability(mode[at], at)
        return k, inside & (2 * np.log(u) <= ratio)

    attempts(result, valid & ~small, attempt, key, counter)
    result = np.where(turned, n - result, result)
    return np.where(left, good - result, result)


@draw
def philox_zipf(key, counter, exponent, kind):
    result = np.where(exponent > 1, kind.type(1), np.nan)
    s = exponent - 1

    def attempt(at, low, high):
        u, v = open_unit(low, kind), open_unit(high, kind)
        k = np.floor(np.exp(-np.log1p(u * np.expm1(-63 * np.log(kind.type(2)) * s[at])) / s[at]))
        rise, double = np.expm1(s[at] * np.log1p(1 / k)), np.expm1(np.log(kind.type(2)) * s[at])
        accepted = v * k * rise / double <= (rise + 1) / (double + 1)
        return k, accepted & (k >= 1) & (k < 2.0**63)

    attempts(result, (exponent > 1) & (exponent < 1025), attempt, key, counter)
    return result


@draw
def philox_vonmises(key, counter, concentration, kind):
    pi = (TWO_PI / 2).astype(kind)
    low, high = philox_block(key, counter, 0)
    normal = np.sqrt(-2 * np.log(open_unit(low, kind))) * np.cos(2 * pi * open_unit(high, kind))
    result = np.where(concentration >= 0, normal / np.sqrt(concentration), np.nan)
    flat = (concentration >= 0) & (concentration < 1e-8)
    result[flat] = pi * (2 * open_unit(low[flat], kind) - 1)
    tau = 1 + np.sqrt(1 + 4 * concentration**2)
    rho = (tau - np.sqrt(2 * tau)) / (2 * concentration)
    s = np.where(concentration < 1e-5, 1 / concentration + concentration,
                 (1 + rho**2) / (2 * rho))

    def attempt(at, low, high):
        z, v = np.cos(pi * open_unit(low, kind)), open_unit(high, kind)
        cosine = (1 + s[at] * z) / (s[at] + z)
        y = concentration[at] * (s[at] - cosine)
        accepted = (y * (2 - y) >= v) | (np.log(y / v) + 1 - y >= 0)
        angle = 2 * np.arctan(np.sqrt((s[at] - 1) / (s[at] + 1))
                              * np.tan(pi * open_unit(low, kind) / 2))
        return np.where(low & np.uint64(1) != 0, -angle, angle), accepted

    attempts(result, (concentration >= 1e-8) & (concentration <= 1e6), attempt, key, counter)
    return result


FUNCTIONS = [philox, philox_normal, philox_gamma, philox_poisson, philox_binomial, philox_hypergeometric,
             philox_zipf, philox_vonmises]
