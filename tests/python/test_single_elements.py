"""Loops over single elements: on the CPU they are read, computed with and written at once; everywhere
the values are NumPy's, whoever else holds the array."""

import threading

import numpy as np
import pytest

import heddle as hd
from conftest import DTYPES, ON_CPU, check, sample


def computed(values):
    """An array whose elements are Heddle's own, as an op leaves them, and one of NumPy's."""
    have = hd.zeros(values.shape, dtype=hd.asarray(values).dtype)
    have[...] = hd.asarray(values.copy())
    return have.eval(), values.copy()


LAYOUTS = {
    "whole": lambda x: x,
    "row": lambda x: x[1],
    "reversed": lambda x: x[::-1, ::2],
    "transposed": lambda x: x.T,
    "permuted": lambda x: x[:, 1:].T[1:],
    "reshaped": lambda x: x.reshape(-1, 2),
    "new axis": lambda x: x[None, 2:, :, None],
    "view of a view": lambda x: x[1:][::-1][:, 1],
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reads_and_writes(dtype):
    have, want = computed(sample(dtype, (4, 6)))
    for i in range(4):
        for j in range(1, 6):
            for x in (have, want):
                x[i, j] = x[i, j - 1]
                x[-i, -j] = x[i, 0]
    check(have, want)
    assert have[2, 3].dtype == dtype and have[2, 3].shape == ()


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_layouts(layout):
    have, want = computed(np.arange(24.0).reshape(4, 6))
    views = [LAYOUTS[layout](x) for x in (have, want)]
    for index in np.ndindex(views[1].shape):
        assert float(views[0][index]) == views[1][index]
        for view in views:
            view[index] = view[index] * 2 + index[0]
    check(views[0], views[1])
    check(have, want)


def test_arithmetic_is_that_of_arrays():
    have, want = computed(np.array([0.1, 0.2, 0.7, -3.0, 1e308, 0.0, np.nan, np.inf]))
    with np.errstate(all="ignore"):
        for i in range(8):
            for j in range(8):
                a, b, x, y = have[i], have[j], want[i], want[j]
                for got, expected in [(a + b, x + y), (a - b, x - y), (a * b, x * y), (a / b, x / y),
                                      (a < b, x < y), (hd.maximum(a, b), np.maximum(x, y)),
                                      (a * 2 - 1, x * 2 - 1), (hd.sqrt(abs(a)), np.sqrt(abs(x))),
                                      (hd.where(a > b, a, b), np.where(x > y, x, y))]:
                    check(got, expected)


def test_integers_wrap_and_promote_as_in_numpy():
    have, want = computed(np.array([250, 7, 0], np.uint8))
    with np.errstate(all="ignore"):
        check(have[0] + have[1], want[0] + want[1])
        check(have[0] + 3, want[0] + np.uint8(3))
        check(have[0] // have[1], want[0] // want[1])
        check(have[0] / have[1], want[0] / want[1])
        check(have[0] << have[1], want[0] << want[1])
    with pytest.raises(hd.DTypeError):
        have[0] = 300
    have[1] = 2.9
    want[1] = 2
    check(have, want)


def test_an_element_keeps_its_value():
    have, want = computed(np.arange(5.0))
    for x in (have, want):
        first = x[0]
        total = x[1] + x[2]
        first += 10
        x[0] = 7
        x[1] += 1
        assert [float(first), float(total), float(x[0]), float(x[1])] == [10, 3, 7, 2]
    with pytest.raises(TypeError):
        have[0][...] = 1


def test_others_keep_the_elements_that_they_saw():
    have, _ = computed(np.arange(6.0))
    pending, copy, sums = have * 2, have.copy(), have.sum()
    row = have.reshape(2, 3)[1]
    have[4] = 50
    assert pending.tolist() == [0, 2, 4, 6, 8, 10]
    assert copy.tolist() == [0, 1, 2, 3, 4, 5]
    assert float(sums) == 15
    assert row.tolist() == [3, 50, 5]
    row[0] = -1
    assert have.tolist() == [0, 1, 2, -1, 50, 5]


def test_after_updates_that_are_pending():
    have, want = computed(np.arange(30.0).reshape(5, 6))
    for i in range(1, 5):
        for x in (have, want):
            x[i, 1:] += x[i - 1, :-1] * 2
            x[i, 0] = x[i, 1] - x[i - 1, 5]
            x[:, i] -= x[i, 0]
    check(have, want)


def test_memory_of_others():
    values = np.arange(4.0)
    have = hd.asarray(values)
    have[1] = 9
    have[2] += have[1]
    assert have.tolist() == [0, 9, 11, 3]
    exported = hd.ones(3).eval()
    seen = np.from_dlpack(exported) if ON_CPU else None
    exported[1] = 5
    assert exported.tolist() == [1, 5, 1]
    assert seen is None or seen.tolist() == [1, 5, 1]
    fixed = hd.broadcast_to(hd.asarray([1.0, 2.0]), (3, 2))
    assert float(fixed[2, 1]) == 2
    with pytest.raises(ValueError):
        fixed[0, 0] = 1
    parts = hd.asarray([1 + 2j, 3 + 4j]) + 0
    parts.imag[1] = 8
    assert parts.tolist() == [1 + 2j, 3 + 8j] and float(parts.real[1]) == 3


def test_bad_indices_change_nothing():
    have, want = computed(np.arange(6).reshape(2, 3))
    for index in [(2, 0), (0, 3), (-3, 0), (10**30, 0)]:
        with pytest.raises(IndexError):
            have[index]
        with pytest.raises(IndexError):
            have[index] = 1
    with pytest.raises(TypeError):
        have[0, 0] = "one"
    check(have, want)


def test_jit_sees_what_was_written():
    table = hd.arange(4.0) + 0
    table.eval()
    look_up = hd.jit(lambda x: x * table)
    assert look_up(hd.ones(4)).tolist() == [0, 1, 2, 3]
    table[2] = 20
    assert look_up(hd.ones(4)).tolist() == [0, 1, 20, 3]

    @hd.jit
    def inside(x):
        x[0] = x[1] + x[2]
        return x
    assert inside(hd.arange(3.0)).tolist() == [3, 1, 2]


def test_threads_write_their_own_elements():
    have = (hd.zeros(400) + 0).eval()

    def fill(first):
        for i in range(first, 400, 4):
            have[i] = i
    threads = [threading.Thread(target=fill, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert have.tolist() == list(range(400))


def test_loops_over_elements_run_no_programs():
    if not ON_CPU:
        pytest.skip("elements of a GPU's memory are not at hand")
    have, want = computed(np.random.default_rng(3).random((8, 8)))
    before = hd.statistics()["evaluations"]
    for i in range(1, 7):
        for j in range(1, 7):
            for x in (have, want):
                x[i, j] = (x[i - 1, j] + x[i, j - 1] + x[i, j] + x[i + 1, j]) / 4
                if x[i, j] > x[j, i]:
                    x[j, i] -= 0.5
    assert hd.statistics()["evaluations"] == before
    check(have, want)


def test_without_automatic_evaluation():
    before = hd.auto_eval(False)
    try:
        have, want = computed(np.arange(5.0))
        for x in (have, want):
            x[1:] *= 2
            x[0] = x[1] + x[4]
        check(have, want)
    finally:
        hd.auto_eval(before)


def test_elements_of_what_needs_no_memory():
    makers = [lambda m: m.arange(24).reshape(2, 3, 4), lambda m: m.arange(24.0).reshape(6, 4).T[1:],
              lambda m: m.zeros((3, 4))[:, None], lambda m: m.broadcast_to(m.arange(4), (3, 4))[::-1],
              lambda m: m.arange(9)[2::3], lambda m: m.full((2, 2), 1 + 2j)]
    before = hd.statistics()["evaluations"]
    for make in makers:
        have, want = make(hd), make(np)
        for index in np.ndindex(want.shape):
            assert complex(have[index]) == complex(want[index])
            assert have[index].dtype == want.dtype
    if ON_CPU:
        assert hd.statistics()["evaluations"] == before
    with pytest.raises(IndexError):
        hd.arange(5)[5]


def test_elements_are_indices():
    places, values = np.array([3, 0, -2], np.int8), np.arange(20.0).reshape(5, 4)
    (have, want), (index, plain) = computed(values), computed(places)
    before = hd.statistics()["evaluations"]
    for i in range(3):
        for x, k in ((have, index), (want, plain)):
            x[k[i], k[0]] = x[k[i] + 1, 1] + 1
            if ON_CPU:
                x[k[i]][1] = 7  # of a view
            assert x[k[1]:k[0]].shape == x[:3].shape and x[k[2]:].shape == x[-2:].shape
    if ON_CPU:
        assert hd.statistics()["evaluations"] <= before + 6
    check(have, want)
    if ON_CPU:
        with pytest.raises(IndexError):
            have[index[0] + 2]
    check(have[hd.array(3)], want[3])


@pytest.mark.parametrize("dtype", [each for each in DTYPES if each != hd.bfloat16], ids=str)
def test_numbers_beside_python_numbers(dtype):
    have, want = computed(sample(dtype, (2,), seed=1))
    texts = [f"{a} {operator} {b}" for a, b in (("x", "y"), ("y", "x"), ("x", "x"))
             for operator in ("+", "-", "*", "/", "//", "%", "<", "==", ">=", "!=")]
    compared = 0
    for number in (True, 2, -1, 0, 200, 2.5, float("inf")):
        for i in range(2):
            for text in texts:
                try:
                    with np.errstate(all="ignore"):
                        expected = eval(text, {"x": want[i], "y": number})
                except (TypeError, OverflowError):
                    continue  # NumPy refuses it
                check(eval(text, {"x": have[i], "y": number}), expected)
                compared += 1
    assert compared > 200


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_an_element_have_the_bits_of_arrays(dtype):
    have, want = computed((np.arange(1, 24) / 7).astype(dtype))
    functions = [hd.exp, hd.log, hd.sin, hd.tanh, hd.arctan, hd.cbrt, hd.log1p, hd.erf, hd.expm1,
                 lambda x: hd.hypot(x, 3), lambda x: hd.arctan2(2, x)]
    whole = [np.asarray(function(have)) for function in functions]
    before = hd.statistics()["evaluations"]
    each = [[function(have[i]) for i in range(want.size)] for function in functions]
    single = np.array([[float(x) for x in row] for row in each]).astype(dtype)
    if ON_CPU:
        assert hd.statistics()["evaluations"] == before
    np.testing.assert_array_equal(single, whole)
    assert each[0][0].dtype == dtype
    assert np.isnan(float(hd.log(have[0] - 5))) and float(hd.log(have[0] * 0)) == -np.inf
    for refused in (hd.gcd, hd.bitwise_and, hd.left_shift):
        with pytest.raises(hd.DTypeError):
            refused(have[0], have[1])
