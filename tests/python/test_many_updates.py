"""Many writes into parts of arrays. They are done in place, and reads of older values stay right."""

import numpy as np
import pytest

import heddle as hd
from conftest import ON_CPU

ROWS, COLUMNS = (40, 48) if ON_CPU else (600, 320)  # large enough for updates in place
STATEMENTS = 40


def region(rng):
    """A row, a column, a block or every second row, as a subscript; and its shape."""
    kind = rng.integers(5)
    row, column = int(rng.integers(ROWS - 8)), int(rng.integers(COLUMNS - 8))
    if kind == 0:
        return (row,), (COLUMNS,)
    if kind == 1:
        return (slice(None), column), (ROWS,)
    if kind == 2:
        return (slice(row, row + 6), slice(column, column + 7)), (6, 7)
    if kind == 3:
        return (slice(row, row + 8, 2), column), (4,)
    return (row, slice(column, None)), (COLUMNS - column,)


def moved(where, rng):
    """A region of the same shape, elsewhere or in the same place."""
    shifted = []
    for part in where:
        if isinstance(part, int):
            shifted.append(max(0, part - int(rng.integers(3))))
        elif part.start is None or part.stop is None:
            shifted.append(part)
        else:
            by = min(part.start, int(rng.integers(3)))
            shifted.append(slice(part.start - by, part.stop - by, part.step))
    return tuple(shifted)


def program(seed, xp):
    """The same statements for each namespace: writes, reads of old values, sums."""
    def run(x, y):
        rng = np.random.default_rng(seed)
        arrays, kept = [x.copy(), xp.zeros((ROWS, COLUMNS), dtype=x.dtype)], []
        for _ in range(STATEMENTS):
            target, source = arrays[rng.integers(2)], arrays[rng.integers(2)]
            where, shape = region(rng)
            value = source[moved(where, rng)] * 0.5
            kind = rng.integers(7)
            if kind == 0:
                value = value + target[where]
            if kind == 1 and kept:
                old = kept[rng.integers(len(kept))]
                value = value + xp.sum(old) * 0.001
            if kind == 2:
                kept.append(target[where] + 1)  # read later, after it is overwritten
            if kind == 3:
                kept.append(target[moved(where, rng)])
            if kind == 4 and len(shape) == 1:
                value = xp.cumsum(value) * 0.1
            if kind == 5:
                value = value + y[where]
            if kind == 6:  # a library may read these rows where they are
                row = int(rng.integers(ROWS - 16))
                kept.append(target[row:row + 16] @ y.T)
            target[where] = value
            if rng.integers(12) == 0:
                arrays[rng.integers(2)] = target.copy()
        return (*arrays, *kept)
    return run


@pytest.mark.parametrize("seed", [*range(24), 110])
def test_values_are_those_of_numpy(seed):
    rng = np.random.default_rng(1000 + seed)
    x, y = rng.random((ROWS, COLUMNS)), rng.random((ROWS, COLUMNS))
    expected = program(seed, np)(x, y)
    jitted = hd.jit(program(seed, hd))
    for found in (jitted(hd.asarray(x), hd.asarray(y)), program(seed, hd)(hd.asarray(x), hd.asarray(y))):
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected):
            np.testing.assert_allclose(hd.asnumpy(ours), theirs, rtol=1e-12, atol=1e-12)


def test_products_read_rows_before_they_are_overwritten():
    def run(x, w):
        rows, products = x * 1, []
        for k in range(20):
            before = rows[k:k + 4]
            rows[k] = x[k] * 2 + k
            products.append(before @ w)
        return rows, *products

    rng = np.random.default_rng(7)
    x, w = rng.random((ROWS, COLUMNS)), rng.random((COLUMNS, 24))
    found = hd.jit(run)(hd.asarray(x), hd.asarray(w))
    for ours, theirs in zip(found, run(x, w)):
        np.testing.assert_allclose(hd.asnumpy(ours), theirs, rtol=1e-12)


@pytest.mark.parametrize("make", [
    lambda xp, x: x @ x.T, lambda xp, x: xp.sort(x, axis=1), lambda xp, x: xp.linalg.qr(x)[1],
    lambda xp, x: xp.linalg.svd(x, full_matrices=False)[2] ** 2, lambda xp, x: xp.cumsum(x, axis=0)])
def test_results_of_calls_are_updated(make):
    def run(xp, x):
        made = make(xp, x)
        made = made if xp is hd else made.copy()
        before = made[0:3].copy()
        for k in range(16):
            made[k, k] = 0.5
            made[k + 1] = made[k] * 2
        return made, before @ made.T

    x = np.random.default_rng(8).random((ROWS, COLUMNS)) + np.eye(ROWS, COLUMNS)
    for ours, theirs in zip(hd.jit(lambda x: run(hd, x))(hd.asarray(x)), run(np, x)):
        np.testing.assert_allclose(abs(hd.asnumpy(ours)), abs(theirs), rtol=1e-7, atol=1e-6)


def test_updates_are_in_place():
    def rows(x):
        made = hd.zeros((ROWS, COLUMNS), dtype=x.dtype)
        for k in range(ROWS):
            made[k] = x[k] * 2 + made[k - 1]
        return made

    jitted = hd.jit(rows, disable=["vectorize_loops"])
    text = str(jitted.lower(hd.spec((ROWS, COLUMNS), hd.float64)).explain())
    one = COLUMNS * 8
    assert f"-> output 0: {3 * one} bytes" in text or f"-> output 0: {2 * one} bytes" in text, text[:2000]


@pytest.mark.parametrize("shape", [(5, 7), (61, 61), (130, 257), (400, 33)])
def test_few_updates_of_a_computed_array(shape):
    """Edges that follow from a computed array, each of the one before, have the bits of NumPy."""
    def relax(p, b):
        for _ in range(6):
            old = p.copy()
            p[1:-1, 1:-1] = ((old[1:-1, 2:] + old[1:-1, :-2]) * 0.3
                             + (old[2:, 1:-1] + old[:-2, 1:-1]) * 0.2 - b[1:-1, 1:-1])
            p[:, -1] = p[:, -2]
            p[0] = p[1]
            p[:, 0] = p[:, 1]
            p[-1] = 0
        return p

    rng = np.random.default_rng(9)
    p, b = rng.random(shape), rng.random(shape)
    found = hd.asnumpy(relax(hd.array(p), hd.asarray(b)))
    expected = relax(p.copy(), b)
    if ON_CPU:  # a GPU contracts products and sums
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
