"""How many programs repeated calls make, and calls whose sizes change. NumPy says what is right."""

import numpy as np
import pytest

import heddle as hd

RNG = np.random.default_rng(7)
TABLE = RNG.integers(-8, 9, (96, 8)).astype(np.float64)
ROW = RNG.integers(-8, 9, 300).astype(np.float64)


def compiled():
    return hd.statistics()["compiled"]


def unpacked(np, table, row):
    p, q = table[:2]
    return p * q - 1.0


def unpacked_twice(np, table, row):
    (a, b), (c, d) = (table[i:i + 2] for i in (3, 7))
    return a * b + c * d


def recurrence(np, table, row):
    x = row * 1.0
    for i in range(1, 60):
        x[i] = x[i - 1] * 0.5 + x[i]
    return x


def one_value_each_turn(np, table, row):
    total = 0.0
    for i in range(20):
        total += float(np.sum(table[i] * row[i:i + 8]))
    return row[:3] * total


def nested_windows(np, table, row):
    out = np.zeros((6, 6))
    weights = table[:3, :3]
    for i in range(6):
        for j in range(6):
            out[i, j] = np.sum(table[2 * i:2 * i + 3, j:j + 3] * weights)
    return out


def triangle(np, table, row):
    out = table * 1.0
    for i in range(1, 24):
        out[i, 0] = np.sum(table[:i, 1] * row[:i])
    return out


def levels(np, table, row):
    x = row[:256]
    while len(x) > 8:
        half = len(x) // 2
        x = np.concatenate([x[:half] + x[half:], x[:half] - x[half:]])[::2]
    return x


def one_line_at_many_places(np, table, row):
    def part(i, j):
        return table[i:i + 2, j]
    first = part(0, 0) + part(0, 1)
    hd.eval(first) if isinstance(first, hd.Array) else None
    second = [part(0, j) * 2.0 for j in range(2, 5)]
    third = part(40, 1) - part(9, 1)
    return np.concatenate([first, *second, third])


@pytest.mark.parametrize("function", [
    unpacked, unpacked_twice, recurrence, one_value_each_turn, nested_windows, triangle, levels,
    one_line_at_many_places], ids=lambda function: function.__name__)
def test_a_call_that_is_repeated_compiles_nothing(function):
    expected = function(np, TABLE, ROW)
    table, row = hd.asarray(TABLE), hd.asarray(ROW)
    hd.eval(table, row)
    counts = []
    for _ in range(5):
        before = compiled()
        result = hd.asnumpy(function(hd, table, row))
        counts.append(compiled() - before)
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
    assert counts[0] > 0
    assert counts[1:] == [0, 0, 0, 0]


def set_every(x, k):
    x[::k] = 3.0
    return x


FAMILIES = {
    "roll": lambda np, z, v, k: np.roll(z, k),
    "pad": lambda np, z, v, k: np.pad(z, k),
    "roll + pad": lambda np, z, v, k: np.roll(z, k) + np.pad(z, k)[k:-k, k:-k],
    "slices of a fixed step": lambda np, z, v, k: v[:2 * k:2] - v[1:2 * k:2],
    "sort, every k-th": lambda np, z, v, k: np.sort(z[:k].ravel())[::k],
    "every k-th": lambda np, z, v, k: v[k::k] - v[::-k][:len(v[k::k])],
    "set every k-th": lambda np, z, v, k: set_every(v * 1.0, k),
    "diagonal of a square": lambda np, z, v, k: np.diag(v[:k].reshape(k, 1) * v[:k]) + 1,
    "every second row": lambda np, z, v, k: np.cumsum(z[:k], axis=0)[::2],
    "reshape to rows": lambda np, z, v, k: v[:k * 6].reshape(k, 6).sum(1),
    "reshape to columns": lambda np, z, v, k: v[:k * 6].reshape(2, 3, k).sum(1),
    "reshape to blocks": lambda np, z, v, k: v[:k * 6].reshape(k, 2, 3).transpose(2, 0, 1).ravel(),
    "fold": lambda np, z, v, k: v[:(300 // k) * k].reshape(-1, k).sum(1),
    "fold to columns": lambda np, z, v, k: v[:(300 // k) * k].reshape(k, -1).sum(0),
    "trace": lambda np, z, v, k: np.trace(z[:k]) + 1,
    "concatenate": lambda np, z, v, k: np.concatenate([v[:k], v[:2 * k], v[k:]]) * 2,
    "lag": lambda np, z, v, k: v[k:] * v[:-k],
    "flip": lambda np, z, v, k: np.flip(v[:k]) + v[k:2 * k],
    "repeat and tile": lambda np, z, v, k: np.repeat(z[:k], 3, axis=0) + np.tile(z[:k], (3, 1)),
    "diagonal": lambda np, z, v, k: np.diag(v[:k]) + np.tri(k, k),
    "moving sum": lambda np, z, v, k: np.cumsum(np.concatenate([np.zeros(k), v]))[k:],
    "gather": lambda np, z, v, k: np.take(v, np.arange(k) * 3) + v[np.arange(k) * 2 + k],
    "convolve a signal": lambda np, z, v, k: np.convolve(v[:k], v[:7]),
    "convolve by a kernel": lambda np, z, v, k: np.convolve(v[:50], v[:k], mode="same"),
    "correlate": lambda np, z, v, k: np.correlate(v[:50], v[:k], mode="valid"),
    "halves": lambda np, z, v, k: v[:k // 2] + v[k // 2:2 * (k // 2)],
}
# Where k divides the extent there is no slice, so these are graphs of two structures. A signal
# shorter than the kernel changes places with it, and the shortest kernels have no zeros before or
# after the signal, or one.
MOST = {"fold": 6, "fold to columns": 6, "convolve a signal": 8, "convolve by a kernel": 8}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_few_programs_serve_all_sizes(name):
    function = FAMILIES[name]
    table, row = hd.asarray(TABLE), hd.asarray(ROW)
    hd.eval(table, row)
    before = compiled()
    for k in range(2, 42):
        result = hd.asnumpy(function(hd, table, row, k))
        np.testing.assert_allclose(result, function(np, TABLE, ROW, k), rtol=1e-12, atol=1e-12)
    assert compiled() - before <= MOST.get(name, 4)
