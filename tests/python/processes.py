"""Programs in processes of their own, and a compiler that is slow."""

import os
import signal
import subprocess
import sys
import textwrap
import time


def start(code, **environment):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True,
                            env=os.environ | {"HEDDLE_CACHE": "0",
                                              # Python 3.12 warns of a fork in a threaded process.
                                              "PYTHONWARNINGS": "ignore:This process"} | environment)


def output_of(process, seconds=60):
    """What it has printed, when it has ended well and without a complaint."""
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        raise AssertionError(f"it hangs; it has printed {output!r} and {errors!r}") from None
    assert process.returncode == 0 and errors == "", (process.returncode, output, errors)
    return output


def slow_compiler(folder, seconds=61):
    """A compiler that takes so long while the file `slow` is there, and starts a process as GCC's
    driver does, whose number it writes into `sleeper`. Every kernel is compiled at once."""
    (folder / "slow").touch()
    (folder / "temporary").mkdir()
    path = folder / "slow-c++"
    path.write_text(f"""#!/bin/sh
        [ "$1" = --version ] && exec c++ --version
        if [ -e {folder}/slow ]; then
            sleep {seconds} &
            echo $! >{folder}/sleeper.new
            mv {folder}/sleeper.new {folder}/sleeper
            wait
        fi
        exec c++ "$@"
    """)
    path.chmod(0o755)
    return {"HEDDLE_CXX": str(path), "TMPDIR": str(folder / "temporary"), "HEDDLE_DEVICE": "cpu",
            "HEDDLE_COMPILE_AFTER": "0"}


def until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as facts:
            return ") Z " not in facts.read()
    except FileNotFoundError:
        return False
