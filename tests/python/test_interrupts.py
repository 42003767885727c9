"""Ctrl-C in programs that run on the CPU: loops, long programs and large kernels end, and can be run again."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import ON_CPU

import heddle as hd

pytestmark = pytest.mark.skipif(not ON_CPU, reason="a GPU's work is not interrupted")


class Ring(Exception):
    """Raised by the signal handler."""


class Alarm:
    """A signal after some seconds, whose handler raises Ring. `after`: how long the block went on."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        def ring(number, frame):
            self.rung = time.monotonic()
            raise Ring

        self.before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        return self

    def __exit__(self, *raised):
        self.after = time.monotonic() - getattr(self, "rung", np.inf)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


def endless(x, step):
    return hd.fori_loop(0, 10**12, step, x)


def waiting(x, step):
    return hd.while_loop(lambda s: hd.sum(s) >= 0, lambda s: step(0, s), x)


@pytest.mark.parametrize("jitted", [False, True], ids=["lazy", "jit"])
@pytest.mark.parametrize("loop", [endless, waiting], ids=lambda f: f.__name__)
def test_a_loop_ends(loop, jitted):
    def run(x):
        return loop(x, lambda i, s: hd.cumsum(s) * 0.5)

    x = hd.asarray(np.ones(50))
    with Alarm(0.2) as alarm, pytest.raises(Ring):
        hd.eval((hd.jit(run) if jitted else run)(x))
    assert alarm.after < 5
    np.testing.assert_array_equal(hd.asnumpy(hd.cumsum(x)), np.arange(1, 51))


def test_a_large_kernel_ends():
    def run(x):
        return hd.fori_loop(0, 20_000, lambda i, s: hd.sin(s) + x, x)

    x = hd.asarray(np.linspace(0, 1, 1 << 20))
    with Alarm(0.2) as alarm, pytest.raises(Ring):
        hd.eval(hd.jit(run)(x))
    assert alarm.after < 5


def test_an_interrupted_value_is_computed_again():
    """Although nothing else holds what the loop begins with."""
    x = hd.asarray(np.ones(200)) * 1.0
    hd.eval(x)
    # At least 0.15 seconds; the sums are exact.
    x = hd.fori_loop(0, 2**19, lambda i, s: hd.concatenate([s[1:], s[:1]]) + hd.sum(s) * 0, x)
    with Alarm(0.05), pytest.raises(Ring):
        hd.eval(x)
    np.testing.assert_array_equal(hd.asnumpy(x), np.ones(200))


def test_the_handler_may_compute():
    x = hd.asarray(np.arange(5.0))
    found = []

    def handler(number, frame):
        found.append(float(hd.sum(hd.fori_loop(0, 3, lambda i, s: hd.cumsum(s), x) * 2)))
        raise Ring

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Ring):
            hd.eval(endless(x, lambda i, s: hd.cumsum(s)))
    finally:
        signal.signal(signal.SIGALRM, before)
    expected = np.arange(5.0)
    for _ in range(3):
        expected = np.cumsum(expected)
    assert found == [expected.sum() * 2]


def test_a_fork_does_not_wait_for_a_loop():
    took = []

    def fork():
        time.sleep(0.2)
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        took.append(time.monotonic() - began)
        signal.raise_signal(signal.SIGALRM)

    thread = threading.Thread(target=fork)
    with Alarm(20), pytest.raises(Ring):
        thread.start()
        hd.eval(endless(hd.asarray(np.ones(50)), lambda i, s: hd.cumsum(s) * 0.5))
    thread.join()
    assert took and took[0] < 5


def test_ctrl_c_is_a_keyboard_interrupt():
    script = ("import heddle as hd\n"
              "x = hd.ones(50)\n"
              "print('ready', flush=True)\n"
              "try:\n"
              "    print(hd.fori_loop(0, 10**12, lambda i, s: hd.cumsum(s) * 0.5, x))\n"
              "except KeyboardInterrupt:\n"
              "    print('interrupted', float(hd.sum(x)), flush=True)\n")
    # In the background of a shell without job control, programs ignore Ctrl-C from the start.
    heard = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    process = subprocess.Popen([sys.executable, "-c", heard + script], stdout=subprocess.PIPE,
                               text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert output == "interrupted 50.0\n" and process.returncode == 0
