"""Signals, forks and the end of the process while the library waits for Python or a compiler."""

import signal

import pytest

from processes import output_of, slow_compiler, start, until


def test_a_fork_while_the_compiler_is_looked_for(tmp_path):
    compiler = tmp_path / "c++"
    compiler.write_text(f"""#!/bin/sh
        [ "$1" = --version ] && touch {tmp_path}/asked && sleep 1
        exec c++ "$@"
    """)
    compiler.chmod(0o755)
    process = start(f"""
        import heddle as hd, os, threading, time
        def fork():
            while not os.path.exists("{tmp_path}/asked"):
                time.sleep(0.01)
            child = os.fork()
            if child == 0:
                os._exit(0)
            print(os.waitpid(child, 0)[1], flush=True)
        thread = threading.Thread(target=fork)
        thread.start()
        total = hd.sum(hd.ones(5) * 3.0).item()
        thread.join()
        print(total)
    """, HEDDLE_CXX=str(compiler), HEDDLE_DEVICE="cpu", HEDDLE_COMPILE_AFTER="0")
    assert output_of(process) == "0\n15.0\n"


def test_a_fork_while_a_traced_function_is_dropped():
    process = start("""
        import heddle as hd, os, threading, time
        dropping = threading.Event()
        class Slow:
            def __del__(self):
                dropping.set()
                time.sleep(0.3)
        f = hd.jit(lambda x, n: (x, Slow() if n < 0 else n))
        x = hd.ones(3).eval()
        f(x, -1)
        def call():
            for n in range(5000):  # more than one keeps
                f(x, n)
        thread = threading.Thread(target=call)
        thread.start()
        assert dropping.wait(20)
        child = os.fork()
        if child == 0:
            os._exit(0)
        print(os.waitpid(child, 0)[1])
        thread.join()
    """, HEDDLE_DEVICE="cpu")
    assert output_of(process, 30) == "0\n"


@pytest.mark.parametrize("turn", ["hd.sum(hd.sort(hd.sin(x))).item()", "hd.jit(total)(x)",
                                  "held.append(hd.jit(total)(x)); held.clear()"])
def test_daemon_threads_evaluate_while_the_interpreter_ends(turn):
    program = f"""
        import heddle as hd, threading, time
        held = []
        def total(x):
            return hd.sum(x * sum(range(5000)))
        def work():
            x = hd.arange(5000.0)
            while True:
                {turn}
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.6)
    """
    for process in [start(program, HEDDLE_DEVICE="cpu") for _ in range(4)]:
        assert output_of(process) == ""


@pytest.mark.parametrize("work, handled", [
    ("float(lazy)", "float(lazy)"), ("float(lazy)", "float(lazy + 1.0)"),
    ("float(lazy)", "float(hd.sum(x * 3.0))"), ("float(lazy)", "float(f(x))"),
    ("float(f(x))", "float(f(x))"), ("float(f(x))", "float(lazy)")])
def test_a_signal_handler_does_not_wait_for_its_own_thread(tmp_path, work, handled):
    process = start(f"""
        import heddle as hd, numpy as np, os, signal
        x = hd.asarray(np.ones(10))
        lazy = hd.sum(x * 3.0)
        f = hd.jit(lambda a: hd.sum(a * 5.0))
        def handler(*_):
            os.remove("{tmp_path}/slow")
            try:
                print({handled}, flush=True)
            except hd.ValueError as error:
                print("refused" if "this thread" in str(error) else error, flush=True)
        signal.signal(signal.SIGALRM, handler)
        print({work})
        print(float(f(x)), float(lazy + 1.0))
    """, HEDDLE_COMPILE_JOBS="1", **slow_compiler(tmp_path, 2))
    until((tmp_path / "sleeper").exists)
    process.send_signal(signal.SIGALRM)
    first, *others = output_of(process, 20).splitlines()
    same = work == "float(lazy)" and "lazy" in handled
    assert first == ("refused" if same else "50.0" if "f(" in handled else "30.0")
    assert others == ["30.0" if work == "float(lazy)" else "50.0", "50.0 31.0"]
