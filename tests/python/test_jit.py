"""jit: signatures, scalars, captured names, structure of arguments and results, errors."""

import dataclasses
import functools
import inspect
import json
import threading

import numpy as np
import pytest
from conftest import check

import heddle as hd


def traces():
    return hd.statistics()["traces"]


@hd.jit
def softmax(x, axis=-1):
    """Doc."""
    e = hd.exp(x - hd.max(x, axis=axis, keepdims=True))
    return e / hd.sum(e, axis=axis, keepdims=True)


def test_calls_with_one_signature_trace_once():
    x = hd.asarray([[1.0, 2.0], [3.0, 5.0]])
    before = traces()
    for scale in range(3):
        got = hd.asnumpy(softmax(x * scale))
        np.testing.assert_allclose(got.sum(axis=-1), 1)
    assert traces() == before + 1
    softmax(x, axis=0)  # another static value
    softmax(x, 0)
    softmax(hd.asarray([1.0, 2.0]))
    assert traces() == before + 4  # positions and keywords are told apart
    assert softmax.__name__ == "softmax" and softmax.__doc__ == "Doc."
    assert list(inspect.signature(softmax).parameters) == ["x", "axis"]


def test_floats_are_arguments_and_integers_static():
    seen = []

    @hd.jit
    def scaled(x, factor, power):
        seen.append(power)
        return x * factor + power

    x = hd.ones(3, dtype=hd.float32)
    for factor in (0.5, 1.5, 2.5):
        check(scaled(x, factor, 2), np.full(3, factor + 2, np.float32))
    assert seen == [2]
    check(scaled(x, 0.5, 3), np.full(3, 3.5, np.float32))
    assert seen == [2, 3]


@dataclasses.dataclass
class State:
    position: hd.Array
    velocity: hd.Array
    name: str = "s"


def test_structures_pass_in_and_out():
    @hd.jit
    def step(state, options, *rest, dt):
        moved = dataclasses.replace(state, position=state.position + state.velocity * dt)
        return moved, {"sum": [hd.sum(rest[0]), options["k"]]}, None

    state = State(hd.zeros(2), hd.ones(2))
    moved, found, nothing = step(state, {"k": 7}, hd.ones(3), dt=0.5)
    check(moved.position, np.full(2, 0.5))
    assert moved.name == "s" and nothing is None and found["sum"][1] == 7
    check(found["sum"][0], np.float64(3))
    check(state.position, np.zeros(2))
    with pytest.raises(TypeError, match="hashable"):
        step(state, {"k": bytearray(b"")}, hd.ones(3), dt=0.5)


weights = None


def weighted(x):
    return x * weights


def test_captured_names_are_looked_up_at_each_call():
    global weights
    weights = hd.asarray([1.0, 2.0])
    f = hd.jit(lambda x: weighted(x) + 1)
    x = hd.ones(2)
    check(f(x), np.array([2.0, 3.0]))
    before = traces()
    weights[0] = 5  # written
    check(f(x), np.array([6.0, 3.0]))
    kept = weights
    weights = hd.asarray([0.0, 1.0])  # bound to another array
    check(f(x), np.array([1.0, 2.0]))
    assert traces() == before and kept is not weights
    weights = hd.ones((2, 2), dtype=hd.float32)
    check(f(x), np.full((2, 2), 2.0))


class Model:
    def __init__(self):
        self.layers = [hd.ones(2), hd.full(2, 2.0)]

    @hd.jit
    def method(self, x):
        return sum((x * layer for layer in self.layers), 0.0)


def test_methods_and_objects():
    model, x = Model(), hd.ones(2)
    check(model.method(x), np.full(2, 3.0))
    before = traces()
    for value in (4.0, 5.0):
        model.layers[1] = hd.full(2, value)
        check(model.method(x), np.full(2, 1 + value))
    assert traces() == before
    bound = hd.jit(functools.partial(Model.method.__wrapped__, model))
    check(bound(x), np.full(2, 6.0))


def test_views_of_captured_arrays():
    base = hd.arange(6.0)
    view = base[1:4]
    f = hd.jit(lambda x: x + view)
    check(f(hd.zeros(3)), np.arange(1.0, 4))
    base[1] = 10
    check(f(hd.zeros(3)), np.array([10.0, 2, 3]))
    view = base[3:]
    check(f(hd.zeros(3)), np.array([3.0, 4, 5]))


def test_arguments_are_values():
    @hd.jit
    def f(x):
        x[0] = 7
        x += 1
        return x

    x = hd.zeros(2)
    check(f(x), np.array([8.0, 1.0]))
    check(x, np.zeros(2))


def test_values_in_a_trace():
    x = hd.ones(2)
    for body in (lambda x: x.item(), lambda x: x if x[0] > 0 else -x, lambda x: print(x),
                 lambda x: hd.asnumpy(x), lambda x: float(x[0])):
        with pytest.raises(hd.TraceError, match=r"test_jit\.py:\d+"):
            hd.jit(body)(x)
    captured = hd.ones(2)

    def writes(x):
        captured[0] = x[0]
        return x

    with pytest.raises(hd.TraceError):
        hd.jit(writes)(x)
    leaked = []
    hd.jit(lambda x: leaked.append(x + 1) or x)(x)
    with pytest.raises(hd.TraceError):
        leaked[0] + 1
    with pytest.raises(ZeroDivisionError):
        hd.jit(lambda x: 1 / 0)(x)
    check(hd.jit(lambda x: x + 1)(x), np.full(2, 2.0))  # the next trace is not affected


def test_explain_forms():
    lowered = softmax.lower(hd.spec((64, 8), hd.float32))
    report = json.loads(lowered.explain(form="json"))
    (kernel,) = report["kernels"]
    source = lowered.host() if hd.device() == "cpu" else lowered.cuda()
    assert kernel["name"] in lowered.explain() and kernel["name"] in source
    places = {(node["file"], node["line"]) for node in report["graphs"][0]["nodes"][1:]}
    first = inspect.getsourcelines(softmax.__wrapped__)[1] + 3
    assert places == {(__file__, first), (__file__, first + 1)}
    texts = {(line["file"], line["line"]): line["text"] for line in report["user_lines"]}
    assert "hd.exp(x - hd.max(" in texts[__file__, first]
    page = lowered.explain(form="html")
    assert page.startswith("<!doctype html>") and kernel["name"] in page
    assert lowered.explain("sm_90", "dot").startswith('digraph "softmax" {')
    with pytest.raises(ValueError, match="form must be"):
        lowered.explain(form="pdf")


def test_texts():
    x = hd.ones((4, 8), dtype=hd.float32)
    assert "func @softmax(%0: f32[4,8])" in softmax.ir(x)
    assert "__global__" in softmax.cuda(x)
    assert "group" in softmax.explain(x).lower()
    lowered = softmax.lower(hd.spec(("n", 8), hd.float32))
    assert "f32[n,8]" in lowered.ir() and lowered.kernel_count() == 1
    assert "sm_80" in lowered.cuda("sm_80") or "__global__" in lowered.cuda("sm_80")
    with pytest.raises(ValueError):
        lowered.cuda("nothing")
    with pytest.raises(ValueError):
        softmax(hd.spec((4,), hd.float32))


def test_dynamic_extents():
    f = hd.jit(lambda x: hd.sum(x * 2, axis=0), dynamic=[("n", None)])
    before = traces()
    for n in (3, 5, 9):
        check(f(hd.ones((n, 2))), np.full(2, 2.0 * n))
    assert traces() == before + 1


def test_donation():
    f = hd.jit(lambda x: x + 1, donate=(0,))
    x = (hd.ones(1000) * 1).eval()
    check(f(x), np.full(1000, 2.0))
    with pytest.raises(ValueError, match="donated"):
        x + 1


def test_decorator_with_options_and_nesting():
    @hd.jit(name="outer", strict=True)
    def outer(x):
        return softmax(x) * 2

    x = hd.asarray([1.0, 1.0])
    check(outer(x), np.ones(2))
    assert "@outer" in outer.ir(x)


def test_many_threads_call_one_function():
    f = hd.jit(lambda x, k: hd.sum(x * k))
    results = []

    def work(i):
        results.append((i, f(hd.ones(10 + i % 3), float(i)).item()))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [(i, float(i * (10 + i % 3))) for i in range(12)]


def test_a_dict_and_keywords_are_two_signatures():
    @hd.jit
    def scaled(*args, **kwargs):
        return kwargs["x"] * 3 if kwargs else args[0]["x"] * 2

    x = hd.ones(4)
    for _ in range(3):
        assert hd.sum(scaled({"x": x})).item() == 8
        assert hd.sum(scaled(x=x)).item() == 12


def test_lists_of_other_lengths_and_nestings_are_other_signatures():
    @hd.jit
    def count(arrays, rest=()):
        return sum((each if not isinstance(each, list) else each[0] * 10 for each in arrays),
                   hd.zeros(2)) + len(rest)

    x = hd.ones(2)
    for _ in range(3):
        assert count([x, x]).tolist() == [2, 2]
        assert count([x, x, x]).tolist() == [3, 3]
        assert count([x, [x]]).tolist() == [11, 11]
        assert count([x], [x]).tolist() == [2, 2]
        assert count([x], rest=[x, x]).tolist() == [3, 3]
