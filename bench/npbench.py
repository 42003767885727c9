"""The programs of npbench, as they stand in a checkout of it, beside NumPy and JAX or CuPy.

python bench/npbench.py CHECKOUT [--preset S|M|L|paper] [--lazy] [--jax | --cupy] [--only NAME ...]

Its NumPy sources run with the import swapped, each under hd.jit, or as they are (--lazy); JAX and
CuPy run npbench's own versions for them. Milliseconds: NumPy's best time, then first and best time
of each system, NumPy's time over Heddle's, and the largest error relative to the largest element.
"""

import argparse
import json
import pathlib
import signal
import sys
import time
import types

import numpy as np

import heddle as hd


class TooLong(Exception):
    pass


def stop(*_):
    raise TooLong


def module_of(path, swap=False):
    """The module in a file; with `swap`, its `np` is Heddle."""
    source = path.read_text()
    if swap:
        source = source.replace("import numpy as np", "import heddle as np")
    module = types.ModuleType(path.stem)
    exec(compile(source, str(path), "exec"), module.__dict__)
    return module


def best_of(run, runs=10, budget=3.0, prepare=None):
    begin, best = time.perf_counter(), float("inf")
    for _ in range(runs):
        arguments = () if prepare is None else (prepare(),)
        start = time.perf_counter()
        run(*arguments)
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - begin > budget:
            break
    return best


class Program:
    """A program of npbench with its inputs."""

    def __init__(self, checkout, description, preset):
        info = json.loads(description.read_text())["benchmark"]
        self.name, self.function = info["module_name"], info["func_name"]
        self.stem = checkout / "npbench/benchmarks" / info["relative_path"] / self.name
        values = dict(info["parameters"][preset])
        if info.get("init"):
            make = getattr(module_of(self.stem.with_suffix(".py")), info["init"]["func_name"])
            made = make(*(values[name] for name in info["init"]["input_args"]))
            values.update(zip(info["init"]["output_args"], made if isinstance(made, tuple) else (made,)))
        self.arguments = [values[name] for name in info["input_args"]]
        self.arrays = [i for i, value in enumerate(self.arguments) if isinstance(value, np.ndarray)]
        self.written = [info["input_args"].index(name) for name in info.get("output_args", ())
                        if name in info["input_args"]]

    def kernel(self, suffix, swap=False):
        return getattr(module_of(self.stem.with_name(f"{self.name}_{suffix}.py"), swap), self.function)

    def inputs(self, put=np.copy):
        return [put(self.arguments[i]) for i in self.arrays]

    def run(self, kernel, arrays):
        """What the kernel returns, and the arguments that it wrote."""
        values = list(self.arguments)
        for i, array in zip(self.arrays, arrays):
            values[i] = array
        made = kernel(*values)
        made = () if made is None else made if isinstance(made, (tuple, list)) else (made,)
        written = self.written or ([] if made else self.arrays)
        return tuple(made) + tuple(values[i] for i in written)


def error_of(found, expected):
    """The largest error relative to the largest element; of integers, how many differ."""
    worst = 0.0
    for ours, theirs in zip(map(np.asarray, found), map(np.asarray, expected)):
        if theirs.size and theirs.dtype.kind in "fc":
            scale = np.abs(theirs).max() or 1
            worst = max(worst, float(np.nanmax(np.abs(ours - theirs)) / scale))
        else:
            worst = max(worst, float((ours != theirs).sum()))
    return worst


def heddle_times(program, lazy, expected):
    kernel = program.kernel("numpy", swap=True)
    step = (lambda *arrays: program.run(kernel, arrays)) if lazy else hd.jit(
        lambda *arrays: program.run(kernel, arrays))

    # Arrays of the device, as JAX has them; new ones each time, since programs write into them.
    def prepare():
        arrays = program.inputs(lambda value: hd.array(value))
        hd.eval(*arrays)
        hd.synchronize()
        return arrays

    def once(arrays):
        results = step(*arrays)
        hd.eval(*(value for value in results if isinstance(value, hd.Array)))
        hd.synchronize()
        return results

    arrays = prepare()
    start = time.perf_counter()
    found = once(arrays)
    first = time.perf_counter() - start
    return first, best_of(once, prepare=prepare), error_of(found, expected)


def jax_times(program):
    import jax
    jax.config.update("jax_enable_x64", True)
    kernel = program.kernel("jax")
    arrays = iter(program.inputs(jax.numpy.asarray))
    arguments = [next(arrays) if i in program.arrays else value
                 for i, value in enumerate(program.arguments)]
    start = time.perf_counter()
    jax.block_until_ready(kernel(*arguments))
    return time.perf_counter() - start, best_of(lambda: jax.block_until_ready(kernel(*arguments)))


def cupy_times(program):
    """Of npbench's version for CuPy. New arrays each time, since programs write into them."""
    import cupy
    kernel = program.kernel("cupy")
    prepare = lambda: program.inputs(cupy.asarray)
    synchronize = cupy.cuda.Device().synchronize

    def once(arrays):
        program.run(kernel, arrays)
        synchronize()

    arrays = prepare()
    start = time.perf_counter()
    once(arrays)
    return time.perf_counter() - start, best_of(once, prepare=prepare)


PEERS = {"jax": jax_times, "cupy": cupy_times}


def guarded(seconds, function, *arguments):
    """The function's result, or the reason why there is none."""
    signal.alarm(seconds)
    try:
        return function(*arguments)
    except TooLong:
        return f"more than {seconds} s"
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}".replace("\n", " ")[:70]
    finally:
        signal.alarm(0)


def measure(program, options):
    """Prints a row; returns the peer's time over Heddle's, if both have one."""
    kernel = program.kernel("numpy")
    start = time.perf_counter()
    expected = program.run(kernel, program.inputs())
    numpy_time = time.perf_counter() - start
    if numpy_time < 1:
        numpy_time = min(numpy_time, best_of(
            lambda arrays: program.run(kernel, arrays), 3, prepare=program.inputs))
    row, ours = f"{program.name:26}{numpy_time * 1e3:10.2f}", guarded(
        options.limit, heddle_times, program, options.lazy, expected)
    if isinstance(ours, str):
        print(row, ours, flush=True)
        return None
    row += f"{ours[0] * 1e3:10.0f}{ours[1] * 1e3:10.3f}"
    theirs = guarded(options.limit, PEERS[options.peer], program) if options.peer else ""
    row += f"{theirs:>20.20}" if isinstance(theirs, str) else f"{theirs[0] * 1e3:10.0f}{theirs[1] * 1e3:10.3f}"
    print(row, f"{numpy_time / ours[1]:10.2f}{ours[2]:10.1e}", flush=True)
    return None if isinstance(theirs, str) else theirs[1] / ours[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--preset", default="S", choices=["S", "M", "L", "paper"])
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--lazy", action="store_true", help="without hd.jit")
    peer = parser.add_mutually_exclusive_group()
    for name in PEERS:
        peer.add_argument(f"--{name}", dest="peer", action="store_const", const=name)
    parser.add_argument("--limit", type=int, default=60, help="seconds for one program and system")
    options = parser.parse_args()
    sys.path.insert(0, str(options.checkout))
    signal.signal(signal.SIGALRM, stop)
    columns = f"{'numpy':>10}{'first':>10}{'heddle':>10}{'first':>10}{options.peer or '':>10}"
    print(f"{'ms':26}{columns}{'numpy/ours':>11}{'error':>10}")
    ratios = {}
    for description in sorted((options.checkout / "bench_info").glob("*.json")):
        if options.only and description.stem not in options.only:
            continue
        program = guarded(options.limit, Program, options.checkout, description, options.preset)
        if isinstance(program, str):
            print(f"{description.stem:26} {program}", flush=True)
            continue
        ratio = measure(program, options)
        if ratio:
            ratios[program.name] = ratio
    if ratios:
        print(f"geometric mean of {options.peer}/heddle over {len(ratios)} programs:",
              f"{np.exp(np.mean(np.log(list(ratios.values())))):.2f}; behind:",
              ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio < 1) or "none")


if __name__ == "__main__":
    main()
