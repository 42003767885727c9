"""heddle.profiler on whatever device HEDDLE_DEVICE names."""

import io
from contextlib import redirect_stdout

import numpy as np
import pytest
from conftest import ON_CPU

import heddle as hd

cuda = hd.cuda
ON_GPU = not ON_CPU


def evaluations():
    return hd.statistics()["evaluations"]


def test_benchmark():
    x = hd.arange(1000.0)
    calls = []

    def work(a, factor=1):
        calls.append(factor)
        return hd.sin(a) * factor

    before = evaluations()
    result = hd.profiler.benchmark(work, (x,), {"factor": 2}, n_repeat=5, n_warmup=2)
    assert calls == [2] * 7 and evaluations() == before + 7
    assert result.name == "work"
    assert result.cpu_times.shape == (5,) and result.gpu_times.shape == (1, 5)
    assert (result.cpu_times > 0).all() and (result.gpu_times >= 0).all()
    title = f"GPU-{cuda.Device().id}" if ON_GPU else "device"
    for text in (str(result), repr(result)):
        assert text.startswith("work                :    CPU: ") and f"    {title}: " in text
        assert "+/-" in text and "max:" in text
    assert title not in result.to_str()
    short = cuda.benchmark(work, (x,), n_repeat=10_000, n_warmup=0, max_duration=0.05, name="it")
    assert 1 <= short.cpu_times.size < 10_000 and str(short).startswith("it  ")
    for wrong in ({"func": 1}, {"args": [x]}, {"n_repeat": 0}, {"n_warmup": -1}, {"name": 1},
                  {"devices": 0}, {"kwargs": ()}):
        with pytest.raises(ValueError):
            hd.profiler.benchmark(**{"func": work, "args": (x,), "n_repeat": 1} | wrong)


def test_text_of_what_was_measured():
    PerfCaseResult = hd.profiler.PerfCaseResult
    times = np.array([[4.5, 7.5, 6.0], [9.0, 3.0, 6.0]]) * 1e-6
    cpu = "step                :    CPU:     6.000 us   +/-  1.225 (min:     4.500 / max:     7.500) us"
    both = cpu + "     GPU-0:     6.000 us   +/-  2.449 (min:     3.000 / max:     9.000) us"
    result = PerfCaseResult("step", times, (0,))
    assert result.to_str() == cpu == result.to_str() and str(result) == both
    once = np.array([[5.5], [6.5], [7.25], [8.0]]) * 1e-6
    result = PerfCaseResult("step", once, (0, 1, 2))
    assert result.to_str() == "step                :    CPU:     5.500 us"
    assert str(result) == ("step                :    CPU:     5.500 us     GPU-0:     6.500 us "
                           "    GPU-1:     7.250 us     GPU-2:     8.000 us")
    hd.profiler.benchmark(hd.nonzero, kwargs={"a": hd.arange(5)}, n_repeat=1, n_warmup=1)


def test_time_range():
    @hd.profiler.time_range("outer", color_id=1)
    def step():
        with hd.profiler.time_range("inner", sync=True):
            return (hd.ones(10) * 2).eval()

    with hd.profiler.profile(), hd.profile() as profile:
        step()
    ranges = [event["name"] for event in profile.events() if event["phase"] == "range"]
    assert sorted(ranges) == ["inner", "outer"]
    @hd.profiler.time_range(argb_color=0xFF00FF00)
    def named():
        return 3

    with hd.profile() as profile:
        assert named() == 3
    assert [event["name"] for event in profile.events() if event["phase"] == "range"] == ["named"]
    with pytest.raises(ValueError, match="message"), hd.profiler.time_range():
        pass
    with hd.profile() as profile, pytest.raises(ZeroDivisionError), hd.profiler.time_range("failed"):
        1 / 0
    assert [event["name"] for event in profile.events() if event["phase"] == "range"] == ["failed"]
    with pytest.raises(ZeroDivisionError), hd.profiler.profile():
        1 / 0
    with pytest.raises(ValueError):
        hd.profiler.time_range("x", color_id=1, argb_color=2)
    # Ranges may end in another order than they begin.
    first, second = hd.profiler.time_range("first"), hd.profiler.time_range("second")
    with hd.profile():
        first.__enter__()
        second.__enter__()
        first.__exit__()
        (hd.ones(10) + 1).eval()
        second.__exit__()


def test_nvtx():
    nvtx = cuda.nvtx
    with hd.profile() as profile:
        nvtx.RangePush("outer")
        nvtx.RangePushC("inner", 0xFF)
        nvtx.Mark("mark")
        nvtx.MarkC("other")
        nvtx.RangePop()
        nvtx.RangePop()
    ranges = [event["name"] for event in profile.events() if event["phase"] == "range"]
    assert sorted(ranges) == ["inner", "mark", "other", "outer"]


def test_help():
    text = io.StringIO()
    with redirect_stdout(text):
        help(hd.cuda)
    for name in hd.cuda.__all__:
        assert name in text.getvalue()
        value = getattr(hd.cuda, name)
        assert name == "PinnedMemoryPointer" or value.__doc__, name
