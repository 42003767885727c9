"""Times first calls, each in a new process: with empty disk caches, then with the caches filled.

As a program, startup.py SYSTEM DEVICE SCALE times one system, with its inputs on the device.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SCALE = 8  # 2^20 elements, so that compiling dominates
SYSTEMS = ("heddle-c++", "heddle", "jax", "inductor")


def program_for(device):
    """The program that all systems can run: on a GPU some only divide approximately."""
    return "Black-Scholes, approximate" if device.startswith("cuda") else "Black-Scholes"


def first_call(name, device, scale):
    from peers import programs, systems

    system = systems.ALL[name](device.partition(":")[0])
    every = programs.all_programs(scale, device.partition(":")[0])
    program = next(p for p in every if p.name == program_for(device))
    arrays = [system.put(each.make(seed)) for seed, each in enumerate(program.inputs)]
    system.get(arrays[0])
    start = time.perf_counter()
    system.compile(program)(*arrays)
    system.wait()
    milliseconds = (time.perf_counter() - start) * 1e3
    maps = pathlib.Path("/proc/self/maps")
    loaded = maps.exists() and "libnvrtc" in maps.read_text()
    return {"milliseconds": milliseconds, "nvrtc_loaded": loaded}


def caches_in(folder):
    """An environment in which every system's caches are in the folder."""
    variables = ("HEDDLE_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR",
                 "TRITON_CACHE_DIR", "CUDA_CACHE_PATH", "CUPY_CACHE_DIR")
    return {**os.environ, **{name: os.path.join(folder, name.lower()) for name in variables},
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}


def in_process(name, device, scale, bench, environment):
    if name == "heddle-c++":
        command = [bench, "--device", device, "--scale", str(scale), "--first-call",
                   program_for(device)]
    else:
        command = [sys.executable, "-m", "peers.startup", name, device, str(scale)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        raise RuntimeError("".join((run.stderr.strip() or run.stdout.strip()).splitlines()[-1:]))
    return json.loads(run.stdout.strip().splitlines()[-1])


def measure(names, device, bench, rounds, scale=SCALE):
    """For each system the medians of `rounds` cold starts and of as many warm ones, in
    milliseconds; or the reason why there are none."""
    calls, results = {name: {"cold": [], "warm": []} for name in names}, {}
    for _ in range(rounds):
        for name in names:
            if name in results:
                continue
            try:
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                    for state in ("cold", "warm"):
                        calls[name][state].append(
                            in_process(name, device, scale, bench, caches_in(folder)))
            except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
                results[name] = {"reason": f"{type(error).__name__}: {error}"[:160]}
    for name in names:
        if name in results:
            continue
        results[name] = {state: statistics.median(call["milliseconds"] for call in of_state)
                         for state, of_state in calls[name].items()}
        results[name]["warm_loads_nvrtc"] = any(call["nvrtc_loaded"]
                                                for call in calls[name]["warm"])
    return results


if __name__ == "__main__":
    print(json.dumps(first_call(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
