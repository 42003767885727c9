"""heddle.vmap against loops of NumPy over the slices."""

import dataclasses

import numpy as np
import pytest
from conftest import check

import heddle as hd

ROWS = np.random.default_rng(5).integers(-4, 5, (6, 5)).astype("float64")
MATRICES = np.random.default_rng(6).random((4, 3, 3)) + 3 * np.eye(3)


class Plain:
    """The loops of heddle as loops of Python, for NumPy."""

    @staticmethod
    def fori_loop(lower, upper, body, carry):
        for i in range(int(lower), int(upper)):
            carry = body(i, carry)
        return carry

    @staticmethod
    def while_loop(condition, body, carry):
        while condition(carry):
            carry = body(carry)
        return carry

    @staticmethod
    def scan(body, carry, xs, reverse=False):
        made = []
        for x in xs[::-1] if reverse else xs:
            carry, y = body(carry, x)
            made.append(y)
        return carry, np.stack(made[::-1] if reverse else made)

    @staticmethod
    def cond(pred, then, otherwise, *operands):
        return then(*operands) if pred else otherwise(*operands)

    @staticmethod
    def switch(index, branches, *operands):
        return branches[int(np.clip(index, 0, len(branches) - 1))](*operands)


def put(xp, x, index, value):
    x = xp.copy(x)
    x[index] = value
    return x


def horner(xp, c, v):
    return c.fori_loop(0, 5, lambda i, total: total * 0.5 + v[i], xp.zeros(()))


def written(xp, c, v):
    def step(i, y):
        y[i] = y[i - 1] * 2 + v[i]
        return y
    return c.fori_loop(1, 5, step, xp.copy(v))


def prefix(xp, c, v):
    return c.scan(lambda total, x: (total + x, total * x), xp.zeros(()), v)[1]


def suffix(xp, c, v):
    total, made = c.scan(lambda total, x: (total + x, total + 2 * x), v[0] * 0, v, reverse=True)
    return xp.concatenate([made, total[None]])


def of_one_sequence(xp, c, v):
    return c.scan(lambda total, x: (total + v * x, xp.sum(v)), xp.zeros(5), xp.asarray(np.arange(3.0)))[1]


def carried_from_outside(xp, c, v):
    # The second carry varies from the second step on.
    step = lambda i, s: (s[1] + 1, xp.cumsum(s[0]) * 0.5 + v)
    return c.fori_loop(0, 4, step, (xp.ones(5), xp.ones(5)))[0]


def collatz(xp, c, v):
    step = lambda s: (xp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1)
    return c.while_loop(lambda s: s[0] > 1, step, (xp.abs(v[0]) + 1, xp.zeros(())))[1]


def grown(xp, c, v):
    # One condition for each slice, and a carry of several elements.
    return c.while_loop(lambda s: xp.sum(xp.abs(s)) < 100, lambda s: xp.cumsum(s) * 1.5 + 1, v)


def counted_to(xp, c, v):
    return c.fori_loop(0, xp.asarray(xp.abs(v[0]), dtype="int64"), lambda i, x: x * 2 + i, v)


def same_condition(xp, c, v):
    return c.while_loop(lambda s: s[0] < 7, lambda s: (s[0] + 2, s[1] * 2 + v), (xp.zeros(()), v))[1]


def branch(xp, c, v):
    return c.cond(xp.sum(v) > 0, lambda x: x * 2, lambda x: xp.cumsum(x) - 1, v)


def branch_of_all(xp, c, v):
    return c.cond(xp.asarray(True), lambda x: x * 2, lambda x: x * 0 + 1, v)


def switched(xp, c, v):
    parts = [lambda x: x * 2, lambda x: x + 1, lambda x: xp.ones(5)]
    return c.switch(xp.asarray(v[0], dtype="int64"), parts, v)


def loops_in_loops(xp, c, v):
    def step(i, s):
        inner = c.while_loop(lambda t: t < 50, lambda t: t * 2 + 1, xp.abs(s[i]) + 1)
        return s + c.cond(inner > 60, lambda y: y - 60, lambda y: -y, inner)
    return c.fori_loop(0, 5, step, v)


def searched(xp, c, v):
    return xp.searchsorted(xp.sort(v), xp.asarray([-1.0, 0.0, 1.0]))


def place(xp, c, v):
    return xp.argmax(xp.outer(v, v)) + xp.argmin(v) * 100


def updated(xp, c, v):
    return put(xp, xp.zeros((5, 2)), (slice(1, 4), 1), v[1:4]) * put(xp, v, slice(None, None, 2), 7.0)[:, None]


def gathered(xp, c, v):
    indices = xp.asarray(xp.abs(v), dtype="int64")
    return xp.take(v, indices) + v[xp.asarray([[0], [1]])] + xp.take(xp.asarray(np.arange(9.0)), indices)


def product(xp, c, v):
    return xp.matmul(v, xp.outer(v, v)) + xp.asarray(np.eye(5)) @ v


def sorts(xp, c, v):
    return xp.stack([xp.sort(v), xp.cumsum(v), v[::-1], xp.argsort(v, kind="stable") * 1.0])


def same(xp, c, v):
    return xp.asarray(np.arange(4.0))


ROW_FUNCTIONS = [horner, written, prefix, suffix, of_one_sequence, carried_from_outside, collatz, grown,
                 counted_to, same_condition, branch, branch_of_all, switched, loops_in_loops, searched,
                 place, updated, gathered, product, sorts, same]


@pytest.mark.parametrize("jitted", [False, True], ids=["lazy", "jit"])
@pytest.mark.parametrize("function", ROW_FUNCTIONS, ids=lambda f: f.__name__)
def test_rows(function, jitted):
    of_slices = hd.vmap(lambda v: function(hd, hd, v))
    found = (hd.jit(of_slices) if jitted else of_slices)(hd.asarray(ROWS))
    check(found, np.stack([function(np, Plain, row) for row in ROWS]), ulp=8)


@pytest.mark.parametrize("function", [grown, loops_in_loops, prefix, searched], ids=lambda f: f.__name__)
def test_vmap_of_vmap(function):
    x = np.stack([ROWS, ROWS[::-1] * 2, ROWS + 1])
    found = hd.vmap(hd.vmap(lambda v: function(hd, hd, v)))(hd.asarray(x))
    check(found, np.stack([[function(np, Plain, row) for row in rows] for rows in x]), ulp=8)


def test_a_loop_over_elements_is_in_a_kernel():
    def root(a):
        step = lambda s: (0.5 * (s[0] + a / s[0]), s[0])
        return hd.while_loop(lambda s: hd.abs(s[0] - s[1]) > 1e-12, step, (a, a + 1))[0]

    x = np.linspace(1, 900, 50)
    text = hd.jit(hd.vmap(root)).lower(hd.spec((50,), hd.float64)).explain()
    assert "control.elements" in text and text.count("kernel hd_") == 1, text
    np.testing.assert_allclose(hd.asnumpy(hd.vmap(root)(hd.asarray(x))), np.sqrt(x), rtol=1e-14)


def test_the_loop_of_a_scan_stays_one_loop():
    text = hd.jit(hd.vmap(lambda v: prefix(hd, hd, v))).lower(hd.spec((6, 5), hd.float64)).explain()
    assert text.count("[steps]") == 1 and "runs step by step" not in text, text


def test_axes_and_structures():
    @dataclasses.dataclass
    class Pair:
        left: object
        right: object

    def function(x, pair, scale, *, offset):
        return {"sum": pair.left + x * scale, "all": (x[:1] + offset, hd.sum(pair.right))}

    x, left, right, offset = (np.random.default_rng(k).random(s) for k, s in
                              enumerate([(5, 4), (4, 5), (3,), (4,)]))
    found = hd.vmap(function, in_axes=(1, Pair(0, None), None), out_axes={"sum": 1, "all": (0, None)})(
        hd.asarray(x), Pair(hd.asarray(left), hd.asarray(right)), 2.0, offset=hd.asarray(offset))
    check(found["sum"], (left + x.T * 2).T, ulp=1)
    check(found["all"][0], x[:1].T + offset[:, None], ulp=1)
    check(found["all"][1], np.sum(right), ulp=2)
    check(hd.vmap(lambda a, b: a + b, in_axes=-1, out_axes=-1)(hd.asarray(x), hd.asarray(x)), x + x, ulp=0)
    check(hd.vmap(lambda: hd.arange(3), axis_size=2)(), np.stack([np.arange(3)] * 2), ulp=0)
    check(hd.vmap(lambda a: a * 2)(hd.zeros((0, 3))), np.zeros((0, 3)), ulp=0)


def test_axes_of_dicts_go_by_name():
    swapped = hd.vmap(lambda v: {"b": v, "a": 2 * v}, out_axes={"a": 0, "b": 1})(hd.asarray(ROWS))
    check(swapped["a"], 2 * ROWS)
    check(swapped["b"], ROWS.T)
    added = hd.vmap(lambda d: d["a"] + d["b"], in_axes=({"b": 0, "a": None},))
    check(added({"a": hd.asarray(ROWS[0]), "b": hd.asarray(ROWS)}), ROWS + ROWS[0])
    check(hd.vmap(hd.sum, in_axes=np.int64(1))(hd.asarray(ROWS)), ROWS.sum(0))


def test_unmapped_arguments_come_as_they_are():
    assert hd.vmap(lambda x, axis: hd.sum(x, axis=axis), in_axes=(0, None))(hd.ones((2, 3, 4)), 1).shape == (2, 3)


def test_linear_algebra_and_its_failures():
    def function(a):
        return hd.linalg.solve(a, hd.linalg.cholesky(a @ a.T)), hd.linalg.svd(a)[1], hd.fft.fft2(a)

    solved, singular, spectrum = hd.vmap(function)(hd.asarray(MATRICES))
    want = [np.linalg.solve(a, np.linalg.cholesky(a @ a.T)) for a in MATRICES]
    np.testing.assert_allclose(hd.asnumpy(solved), want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(hd.asnumpy(singular), [np.linalg.svd(a)[1] for a in MATRICES], rtol=1e-12)
    np.testing.assert_allclose(hd.asnumpy(spectrum), [np.fft.fft2(a) for a in MATRICES], rtol=1e-12, atol=1e-12)
    wrong = MATRICES.copy()
    wrong[2] = -np.eye(3)
    found = hd.vmap(hd.linalg.cholesky)(hd.asarray(wrong))
    with pytest.raises(hd.linalg.LinAlgError):
        hd.asnumpy(found)
    assert hd.vmap(hd.linalg.inv)(hd.zeros((0, 3, 3))).shape == (0, 3, 3)


def test_in_loops_and_of_jitted_functions():
    twice = hd.jit(lambda v: v * 2)
    found = hd.fori_loop(0, 3, lambda i, x: hd.vmap(lambda v: twice(v) + hd.fori_loop(
        0, i, lambda j, t: t + v[j], 0.0))(x), hd.asarray(ROWS))
    want = ROWS
    for i in range(3):
        want = want * 2 + want[:, :i].sum(1, keepdims=True)
    check(found, want, ulp=2)


def test_new_numbers_of_slices():
    function = hd.jit(hd.vmap(lambda v: grown(hd, hd, v)))
    for n in (2, 3, 4, 5, 6):  # from the third on, the extent is a symbol
        check(function(hd.asarray(ROWS[:n])), np.stack([grown(np, Plain, row) for row in ROWS[:n]]), ulp=8)


@pytest.mark.parametrize("call, error, text", [
    (lambda: hd.vmap(3), TypeError, "vmap: fun must be a function, not int"),
    (lambda: hd.vmap(hd.add)(hd.ones(3), hd.ones(4)), ValueError,
     "vmap: args[1] has 4 slices along axis 0, but args[0] says 3"),
    (lambda: hd.vmap(hd.sum)(1.0), ValueError, "axis 0"),
    (lambda: hd.vmap(hd.sum, in_axes=2)(hd.ones((2, 2))), ValueError, "vmap: axis 2"),
    (lambda: hd.vmap(hd.sum, out_axes=2)(hd.ones((2, 2))), ValueError, "vmap: axis 2"),
    (lambda: hd.vmap(hd.sum, in_axes=None)(hd.ones(3)), ValueError, "no argument is mapped"),
    (lambda: hd.vmap(hd.sum, axis_size=-1, in_axes=None)(hd.ones(3)), ValueError, "axis_size is -1"),
    (lambda: hd.vmap(hd.sum, in_axes=(0, 0))(hd.ones(3)), ValueError, "in_axes has 2 entries"),
    (lambda: hd.vmap(hd.sum, in_axes="x")(hd.ones(3)), TypeError, "in_axes must be an integer"),
    (lambda: hd.vmap(hd.sum, in_axes=("x",))(hd.ones(3)), TypeError, "in_axes must hold integers"),
    (lambda: hd.vmap(hd.sum, in_axes=([0, 0],))([hd.ones(3)]), ValueError, "does not fit the structure"),
    (lambda: hd.vmap(hd.negative, out_axes=None)(hd.ones(3)), ValueError, "out_axes is None for result 0"),
    (lambda: hd.vmap(lambda x: x if x > 0 else -x)(hd.ones(3)), hd.TraceError, ""),
    (lambda: hd.vmap(lambda x: x + hd.random.rand())(hd.ones(3)), hd.TraceError, "vmap: its function draws"),
])
def test_errors(call, error, text):
    with pytest.raises(error) as raised:
        call()
    assert text in str(raised.value)
