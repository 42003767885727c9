"""What happens around calls: interrupts, the GIL, the end of the process."""

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import heddle as hd
from heddle import _heddle
from processes import is_running, slow_compiler, start, until


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm lists what a library exports")
def test_the_module_exports_nothing_else():
    listed = subprocess.run(["nm", "-D", "--defined-only", _heddle.__file__], capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in listed.stdout.splitlines()] == ["PyInit__heddle"]


def test_the_package_depends_on_what_it_imports():
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]
    imported = subprocess.run([sys.executable, "-c", """if True:
        import sys
        before = set(sys.modules)
        import heddle
        names = {name.partition(".")[0] for name in set(sys.modules) - before}
        print(*sorted(names - set(sys.stdlib_module_names) - {"heddle"}))
    """], capture_output=True, text=True, check=True).stdout.split()
    assert [re.match(r"\w+", each)[0] for each in project["dependencies"]] == imported == ["numpy"]


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


interrupted_program = """
    import heddle as hd, numpy as np, os, threading, time
    folder = {folder!r}
    x = hd.asarray(np.arange(6.0))
    f = hd.jit(lambda x: hd.sum(x * 3.0))
    def work():
        if {jitted}:
            return float(f(x))
        return float(hd.sum(x * 3.0))
    others = []
    if {threads}:
        others = [threading.Thread(target=lambda: others.append(work()))]
        others[0].start()
        while not os.path.exists(folder + "/sleeper"):
            time.sleep(0.01)
    try:
        work()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    os.remove(folder + "/slow")
    if others:
        os.kill(int(open(folder + "/sleeper").read()), 9)  # its compiler goes on
        others[0].join()
    print(work(), *others[1:])
"""


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("threads", [False, True])
def test_an_interrupt_ends_the_wait_for_a_compiler(tmp_path, jitted, threads):
    process = start(interrupted_program.format(folder=str(tmp_path), jitted=jitted,
                                               threads=threads), **slow_compiler(tmp_path))
    until((tmp_path / "sleeper").exists)
    sleeper = int((tmp_path / "sleeper").read_text())
    time.sleep(0.5 if threads else 0.1)  # until the main thread waits
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - began < 5
    output, errors = process.communicate(timeout=60)
    assert output == ("45.0 45.0\n" if threads else "45.0\n") and errors == "", errors
    assert process.returncode == 0 and not is_running(sleeper)
    assert os.listdir(tmp_path / "temporary") == []


def test_compilers_die_with_a_killed_process(tmp_path):
    process = start("""
        import heddle as hd
        float(hd.sum(hd.ones(5) * 3.0))
    """, **slow_compiler(tmp_path))
    until((tmp_path / "sleeper").exists)
    sleeper = int((tmp_path / "sleeper").read_text())
    assert is_running(sleeper)
    os.killpg(process.pid, signal.SIGKILL)
    until(lambda: not is_running(sleeper))
    process.communicate(timeout=60)


def test_progress_is_told_on_a_terminal_only(tmp_path):
    program = "import heddle as hd\nprint(float(hd.sum(hd.ones(5) * 3.0)))"
    environment = os.environ | {"HEDDLE_CACHE": "0", "TERM": "xterm"} | slow_compiler(tmp_path, 3)
    settings = [{}, {"HEDDLE_PROGRESS": "0"}, {"TERM": "dumb"}]
    terminals = [pty.openpty() for _ in settings]
    processes = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE,
                                  stderr=terminal[1], env=environment | more)
                 for terminal, more in zip(terminals, settings)]
    processes.append(subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, env=environment))
    told = []
    for process, (main, other) in zip(processes, terminals):
        assert process.communicate(timeout=60)[0] == b"15.0\n"
        os.close(other)
        told.append(b"")
        try:
            while part := os.read(main, 4096):
                told[-1] += part
        except OSError:  # the terminal's end
            os.close(main)
    assert processes[-1].communicate(timeout=60) == (b"15.0\n", b"")
    assert told[1:] == [b"", b""]
    assert told[0].startswith(b"\r\x1b[Kheddle: compiling 0 of 1 kernel\r\x1b[K")
    assert told[0].endswith(b"\r\x1b[K")


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
    with pytest.raises(OSError, match="is not a recording"):
        hd.record(str(other))


def test_a_saved_program_runs_where_nothing_is_compiled(tmp_path):
    path = tmp_path / "step.hdp"
    f = hd.jit(lambda x, scale, w: (hd.sum(x * scale, axis=1) @ w, x))
    f.save(str(path), hd.spec(("n", 4), hd.float32), 2.0, hd.spec(("n",), hd.float32))
    process = start(f"""
        import heddle as hd, numpy as np
        f = hd.load_program({str(path)!r})
        assert f.input_count == 3 and f.output_count == 2 and "f32[n,4]" in f.ir()
        ones = lambda n: hd.asarray(np.ones(n, "float32"))
        for n in (1, 5, 300):
            x = np.random.default_rng(n).random((n, 4), "float32")
            got, same = f(hd.asarray(x), 3.0, ones(n))
            np.testing.assert_allclose(hd.asnumpy(got), (x * 3.0).sum(dtype="float64"), rtol=1e-5)
            np.testing.assert_array_equal(hd.asnumpy(same), x)
        part = np.arange(21, dtype="float32")[1:].reshape(5, 4)
        part = hd.from_dlpack(part) if ones(1).device == "cpu" else hd.asarray(part)
        assert float(f(part, 1.0, ones(5))[0]) == 210
        for arguments in ((), (1.0, 2.0, 3.0), ("x", 1.0, ones(5)), (ones(5), 1.0, ones(5))):
            try:
                f(*arguments)
            except (ValueError, TypeError, hd.ShapeError):
                continue
            raise AssertionError(arguments)
        try:
            (ones(5) + 1).eval()
        except hd.CompileError:
            pass
        else:
            raise AssertionError("HEDDLE_NO_COMPILE did not hold")
        assert "nvrtc" not in open("/proc/self/maps").read()
        print("done")
    """, HEDDLE_NO_COMPILE="1")
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0 and output == "done\n" and errors == "", errors


def test_what_is_no_saved_program_is_refused(tmp_path):
    path = tmp_path / "other"
    path.write_text("what else there is")
    with pytest.raises(OSError, match="not a file written by save"):
        hd.load_program(str(path))
    with pytest.raises(OSError, match="missing"):
        hd.load_program(str(tmp_path / "missing"))
    outside = hd.ones(3)
    with pytest.raises(ValueError, match="depends on an array that is not an argument"):
        hd.jit(lambda x: x + outside).save(str(path), hd.ones(3))


def test_a_program_saved_for_other_targets_is_compiled_here(tmp_path):
    path = tmp_path / "step.hdp"
    lowered = hd.jit(lambda x: hd.tanh(x)).lower(hd.spec((3,), hd.float32))
    try:
        lowered.save(str(path), targets=["sm_80", "sm_120"])
    except hd.DeviceError as error:
        pytest.skip(str(error))  # no NVRTC
    np.testing.assert_allclose(hd.load_program(str(path))(hd.ones(3, dtype=hd.float32)).tolist(),
                               np.tanh(np.ones(3)), rtol=1e-6)
    process = start(f"""
        import heddle as hd, numpy as np
        try:
            hd.load_program({str(path)!r})(hd.asarray(np.ones(3, "float32")))
        except hd.CompileError as error:
            print("HEDDLE_NO_COMPILE=1" in str(error))
    """, HEDDLE_NO_COMPILE="1")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and output == "True\n", errors


FORK_WORK = """
    import os, signal, sys, threading, time, warnings
    import heddle as hd
    warnings.simplefilter("ignore", DeprecationWarning)  # of threads and forks
    x = hd.arange(1000.0).eval()
    matrix = hd.reshape(hd.arange(64.0), (8, 8)).eval()
    scale = hd.jit(lambda a: a * 2.0 + 1.0)

    def turn():
        own = x + 0.0
        own += 1.0
        return (hd.sum(own).item() == 500500 and scale(x)[2].item() == 5
                and (matrix @ matrix)[0, 0].item() == 1120 and hd.sort(-x)[0].item() == -999)

    assert turn()
    stop = threading.Event()
    bad = []

    def evaluate():
        while not stop.is_set():
            if not turn():
                bad.append("a wrong value")
            time.sleep(0.001)  # leaves the children some of the processors
    threads = [threading.Thread(target=evaluate) for _ in range(8)]
    for thread in threads:
        thread.start()
"""


def test_forks_while_threads_evaluate():
    process = start(FORK_WORK + """
    for i in range(1000):
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # ends a child that hangs
            os._exit(0 if turn() else 1)
        status = os.waitpid(child, 0)[1]
        if status != 0:
            bad.append((i, status))
            break
    stop.set()
    for thread in threads:
        thread.join()
    print(bad or "done")
    """, HEDDLE_DEVICE="cpu", HEDDLE_NUM_THREADS="2")
    output, errors = process.communicate(timeout=300)
    assert output == "done\n" and process.returncode == 0, output + errors


def test_a_pool_of_forked_processes():
    process = start(FORK_WORK + """
    import multiprocessing

    def work(number):
        signal.alarm(60)
        return turn() and hd.sum(x * float(number)).item() == 499500.0 * number

    with multiprocessing.get_context("fork").Pool(4) as pool:
        if not all(pool.map(work, range(16))):
            bad.append("a wrong value in a child")
    stop.set()
    for thread in threads:
        thread.join()
    print(bad or "done")
    """, HEDDLE_DEVICE="cpu", HEDDLE_NUM_THREADS="2")
    output, errors = process.communicate(timeout=300)
    assert output == "done\n" and process.returncode == 0, output + errors


def test_saved_programs_name_their_arguments(tmp_path):
    @hd.jit
    def step(params, x, *rest, scale=1.0):
        return params["w"] @ params["b"][0] * scale + x + rest[0]

    path = str(tmp_path / "step.hdp")
    step.save(path, {"w": hd.spec(("n", 3), "f4"), "b": [hd.spec((3,), "f4")]},
              hd.spec(("n",), "f4"), 2.0, scale=3.0)
    program = hd.load_program(path)
    assert [(each.name, each.dtype, each.shape, each.is_number) for each in program.inputs] == [
        ("params['w']", hd.float32, ("n", 3), False), ("params['b'][0]", hd.float32, (3,), False),
        ("x", hd.float32, ("n",), False), ("rest[0]", hd.float32, (), True),
        ("scale", hd.float32, (), True)]
    assert "params['w']: float32[n, 3]" in repr(program) and "scale: float32" in repr(program)
    hd.jit(lambda **k: k["a\nb"] * 2).save(path, **{"a\nb": hd.spec((3,), "f4")})
    assert hd.load_program(path).inputs[0].name == "a b"
    ones = hd.ones((2, 3), dtype="f4")
    assert program(ones, ones[0], ones[:, 0], 1.0, 2.0).tolist() == [8, 8]
