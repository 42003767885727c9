"""Measuring: cupyx.profiler's benchmark, profile and time_range."""

import contextlib
import math
import time

import numpy

from heddle import _heddle
from heddle.cuda._device import Device, get_device_id
from heddle.cuda._event import Event, get_elapsed_time

_cuda = _heddle._cuda


class PerfCaseResult:
    """What benchmark() has measured, in seconds: `cpu_times` [repeat] of the calls, `gpu_times`
    [device, repeat] of their work. Printed as the mean, deviation, minimum and maximum in
    microseconds."""

    def __init__(self, name, times, devices):
        self.name, self._times, self._devices = name, times, devices

    @property
    def cpu_times(self):
        """Seconds that each call took on the host."""
        return self._times[0]

    @property
    def gpu_times(self):
        """Seconds between the events around each call, for each device."""
        return self._times[1:]

    def to_str(self, show_gpu=False):
        """The result as text."""
        parts = [self._row("CPU", self._times[0])]
        if show_gpu:
            parts += [self._row("device" if device < 0 else f"GPU-{device}", times)
                      for device, times in zip(self._devices, self._times[1:])]
        return f"{self.name:<20s}:{' '.join(parts)}"

    @staticmethod
    def _row(title, seconds):
        times = seconds * 1e6
        text = f"    {title}: {times.mean():9.03f} us"
        if times.size > 1:
            text += (f"   +/- {times.std():6.03f} (min: {times.min():9.03f} / "
                     f"max: {times.max():9.03f}) us")
        return text

    def __str__(self):
        return self.to_str(show_gpu=True)

    __repr__ = __str__


def _check(func, args, kwargs, n_repeat, name, n_warmup, devices):
    if not callable(func):
        raise ValueError("benchmark: func must be callable")
    for value, kind, what in ((args, tuple, "args"), (kwargs, dict, "kwargs"),
                              (n_repeat, int, "n_repeat"), (name, str, "name"),
                              (n_warmup, int, "n_warmup"), (devices, tuple, "devices")):
        if not isinstance(value, kind):
            raise ValueError(f"benchmark: {what} must be of type {kind.__name__}")
    if n_repeat < 1 or n_warmup < 0:
        raise ValueError("benchmark: n_repeat must be positive, n_warmup not negative")


def benchmark(func, args=(), kwargs={}, n_repeat=10000, *, name=None, n_warmup=10,
              max_duration=math.inf, devices=None):
    """Times a function on the host and on the device: cupyx.profiler.benchmark.

    func(*args, **kwargs) is called n_warmup times, then n_repeat times or until max_duration seconds
    have passed. What a call records, its result included, is evaluated as a part of it. `devices`
    are the GPUs whose time is taken, by default this thread's device. On the CPU the device's time
    is the host's clock.

    Raises ValueError for arguments of the wrong kind.

    >>> print(hd.cuda.benchmark(lambda x: hd.sin(x) * 2, (hd.ones(1000),), n_repeat=20))
    """
    if name is None:
        name = getattr(func, "__name__", type(func).__name__)
    if devices is None:
        devices = (get_device_id(),)
    _check(func, args, kwargs, n_repeat, name, n_warmup, devices)

    def call():
        result = func(*args, **kwargs)  # held, so that it is evaluated
        _cuda.evaluate_recorded("benchmark")
        del result

    for _ in range(n_warmup):
        call()
    starts, ends = ([], [])
    for device in devices:
        with Device(device):
            starts.append(Event())
            ends.append(Event())
            Device(device).synchronize()
    cpu_times, gpu_times, passed = [], [[] for _ in devices], 0.0
    while len(cpu_times) < n_repeat and (passed <= max_duration or not cpu_times):
        _record(devices, starts)
        begin = time.perf_counter()
        call()
        cpu_times.append(time.perf_counter() - begin)
        _record(devices, ends)
        for times, start, end in zip(gpu_times, starts, ends):
            end.synchronize()
            times.append(get_elapsed_time(start, end) * 1e-3)
        passed += time.perf_counter() - begin
    return PerfCaseResult(name, numpy.array([cpu_times, *gpu_times]), devices)


def _record(devices, events):
    for device, event in zip(devices, events):
        with Device(device):
            event.record()


@contextlib.contextmanager
def profile():
    """Records, in a with statement, by a profiler that waits for it, such as `nsys profile
    --capture-range=cudaProfilerApi`: cupyx.profiler.profile. hd.profile is Heddle's own."""
    _cuda.set_profiling(True)
    try:
        yield
    finally:
        _cuda.set_profiling(False)


class time_range(contextlib.ContextDecorator):
    """Names a part of the program, in a with statement or as a decorator: cupyx.profiler.time_range.
    Nsight Systems shows it as an NVTX range, hd.profile as an event of the phase "range". With
    `sync`, it ends when the device has done its work. Colours have no effect.

    A decorator without a message takes the function's name.

    >>> with hd.profiler.time_range("step"):
    ...     hd.sum(hd.ones(10)).eval()
    """

    def __init__(self, message=None, color_id=None, argb_color=None, sync=False):
        if color_id is not None and argb_color is not None:
            raise ValueError("time_range: takes color_id or argb_color, not both")
        self.message, self.sync = None if message is None else str(message), sync

    def __call__(self, function):
        if self.message is None:
            self.message = function.__name__
        return super().__call__(function)

    def __enter__(self):
        if self.message is None:
            raise ValueError("time_range: a with statement needs a message")
        _cuda.push_range(self.message)
        return self

    def __exit__(self, *_):
        try:
            if self.sync:
                Device().synchronize()
        finally:
            _cuda.pop_range()


__all__ = ["benchmark", "profile", "time_range"]
