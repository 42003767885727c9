"""What happens around calls: interrupts, the GIL, the end of the process."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import heddle as hd


def start(code):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True,
                            env=os.environ | {"HEDDLE_CACHE": "0"})


def test_keyboard_interrupt_while_compiling():
    process = start("""
        import heddle as hd
        def program(n):
            x = hd.linspace(0.0, 1.0, 64 + n)
            for _ in range(50):
                x = hd.sin(x) * 0.5 + hd.exp(-x)
            return x
        print("ready", flush=True)
        try:
            for n in range(10000):
                hd.jit(lambda: hd.sum(program(n)))().item()
        except KeyboardInterrupt:
            print("interrupted", hd.sum(hd.ones(10)).item())
    """)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert output == "interrupted 10.0\n" and errors == "", errors
    assert process.returncode == 0


def test_other_threads_run_while_one_waits():
    x = hd.ones((1200, 1200)).eval()
    (x @ x).eval()
    turns, done = [0], threading.Event()

    def count():
        while not done.is_set():
            turns[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    for _ in range(3):
        hd.sum(x @ x).item()
    done.set()
    thread.join()
    assert turns[0] > 100


@pytest.mark.parametrize("ending", ["", "raise SystemExit(0)", "import gc; gc.collect()"])
def test_arrays_may_outlive_the_module(ending):
    process = start(f"""
        import heddle as hd, numpy as np
        kept = [hd.ones(3) + 1, hd.arange(4)[1:], hd.from_dlpack(np.arange(5))]
        exported = np.from_dlpack(hd.zeros(3, device="cpu"))
        f = hd.jit(lambda x: (x + kept[0], {{"a": kept[1]}}))
        out = f(hd.ones(3))
        {ending}
    """)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and output == "" and errors == "", errors


def test_recording(tmp_path):
    path = tmp_path / "app.hdr"
    hd.record(str(path))
    try:
        assert float(hd.sum(hd.ones(5) * 7.25)) == 36.25
    finally:
        hd.record("")
    text = path.read_text()
    assert text.startswith("heddle recording 1\nprogram") and text.endswith("end\n")
    other = tmp_path / "other"
    other.write_text("what else there is")
    with pytest.raises(OSError, match="something else"):
        hd.record(str(other))
