"""Measuring one program: every system's result is checked, then the systems take turns."""

import json
import os
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from peers.systems import reason

CPP = "heddle-c++"  # bench_programs, which runs in a process of its own


def microseconds_a_call(call, wait, batches=7, seconds=0.01):
    """Median time of batches. Each batch ends with one synchronisation, so the result is the larger
    of the device's time and the host's time to start a call."""
    call()
    call()
    wait()
    start = time.perf_counter()
    call()
    wait()
    one = time.perf_counter() - start
    count = int(min(4000, max(3, seconds / max(one, 1e-6))))
    times = []
    for batch in range(batches + 1):  # the first warms up
        start = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        times.append((time.perf_counter() - start) / count)
    return statistics.median(times[1:]) * 1e6


def copy_ceiling(systems, elements):
    """The rate of the fastest system's large copy, in bytes per second, read plus written."""
    best = 0.0
    for system in systems:
        copy = system.copying(elements)
        if copy is not None:
            microseconds = microseconds_a_call(copy, system.wait)
            best = max(best, 2 * 4 * elements / microseconds * 1e6)
        del copy
        system.release()
    return best


def in_pieces(count, pieces, function):
    """Calls function(begin, end) for pieces of [0, count) on threads. NumPy releases the GIL."""
    step = max(1, -(-count // pieces))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        begins = range(0, count, step)
        return list(pool.map(lambda begin: function(begin, min(count, begin + step)), begins))


def reference_of(program, inputs):
    """The same expression in NumPy, in float64. Computed in parallel pieces along rows that are
    independent."""

    def exact(array):
        return array.astype(np.float64) if array.dtype.kind == "f" else array

    def of_rows(begin, end):
        cut = [x[begin:end] if i in program.rows else x for i, x in enumerate(inputs)]
        return program.function(np, *map(exact, cut))

    count = inputs[program.rows[0]].shape[0] if program.rows else 0
    if count < 2:
        return np.asarray(program.function(np, *map(exact, inputs)))
    return np.concatenate(in_pieces(count, 4 * os.cpu_count(), of_rows))


def worst_error(result, reference, floor):
    """The largest error of all elements; NaN if only one of result and reference is NaN."""
    if result.shape != reference.shape:
        raise ValueError(f"a result of shape {result.shape} instead of {reference.shape}")
    flat, wanted = result.reshape(-1), reference.reshape(-1)
    exact = np.complex128 if reference.dtype.kind == "c" else np.float64

    def of_piece(begin, end):
        want = wanted[begin:end].astype(exact, copy=False)
        with np.errstate(all="ignore"):
            error = np.abs(flat[begin:end] - want) / np.maximum(np.abs(want), floor)
        same = (flat[begin:end] == want) | np.isnan(want) & np.isnan(flat[begin:end])
        return float(np.max(np.where(same, 0, error)))

    return float(np.max(in_pieces(flat.size, max(1, flat.size >> 18), of_piece)))


class Entry:
    """The results of one system for a program."""

    def __init__(self):
        self.call = None
        self.reason = None  # why there is no measurement
        self.error = None
        self.correct = None
        self.rounds = []  # microseconds per call
        self.facts = {}

    def json(self):
        if self.reason:
            return {"reason": self.reason}
        return {"microseconds": statistics.median(self.rounds), "rounds": self.rounds,
                "error": repr(self.error) if self.error != self.error else self.error,
                "correct": self.correct, **self.facts}


def call_of(system, program, inputs):
    """A function without arguments that starts one call. Nothing has been called yet."""
    if program.draws:
        return system.drawing(program.draws)
    function, arrays = system.compile(program), [system.put(x) for x in inputs]
    return lambda: function(*arrays)


def prepare(system, program, inputs, reference):
    entry = Entry()
    if system.name in program.absent:
        entry.reason = program.absent[system.name]
        return entry
    try:
        system.choose_precision(program.tf32)
        start = time.perf_counter()
        entry.call = call_of(system, program, inputs)
        result = np.asarray(system.get(entry.call()))
        entry.facts["first_call_milliseconds"] = (time.perf_counter() - start) * 1e3
        if program.check:
            entry.error = float(program.check(result, inputs))
        else:
            entry.error = worst_error(result, reference, program.floor)
        entry.correct = bool(entry.error <= program.tolerance)
    except Exception as error:  # a peer's failure does not stop the run
        entry.reason, entry.call = reason(error), None
    return entry


def take_turn(entry, system, seconds):
    if entry.reason:
        return
    try:
        entry.rounds.append(microseconds_a_call(entry.call, system.wait, seconds=seconds))
    except Exception as error:
        entry.reason = reason(error)


class CppBench:
    """bench_programs --serve, which measures a program when it receives its name."""

    def __init__(self, path, device, scale):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [path, "--serve", "--device", device, "--scale", str(scale)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self.machine = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.errors.seek(0)
            said = self.errors.read().strip().splitlines()[:1]
            raise RuntimeError("bench_programs exited: " + "".join(said))
        return json.loads(line)

    def measure(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def take_turn_in_cpp(entry, bench, program):
    if entry.reason:
        return
    try:
        row = bench.measure(program.name)
        if "reason" in row:
            raise LookupError(row["reason"])
        shapes = [list(each.shape) for each in program.inputs]
        if row["shapes"] != shapes:
            raise ValueError(f"bench_programs uses shapes {row['shapes']}, not {shapes}")
        entry.rounds.append(row["microseconds"])
        entry.error, entry.correct = row["error"], row["correct"]
        entry.facts = {key: row[key] for key in ("kernels", "peak_bytes")}
    except Exception as error:
        entry.reason = reason(error)


def fewest_bytes(program, inputs, reference):
    """Bytes to read every input and write the result once; 0 if arithmetic is the limit."""
    if program.draws:
        return 4 * program.draws
    if not program.memory:
        return 0
    kind = np.result_type(*inputs)
    results = reference.size * (kind.itemsize if reference.dtype.kind == "f" else
                                reference.dtype.itemsize)
    return sum(x.nbytes for x in inputs) + results


def measure_program(program, systems, cpp, rounds, make_input, seconds):
    """Measures a program. Returns the entries by system, and the fewest bytes. `seconds` is the
    time of a batch of calls."""
    inputs = [make_input(each, seed) for seed, each in enumerate(program.inputs)]
    reference = None if program.draws else reference_of(program, inputs)
    bytes_moved = fewest_bytes(program, inputs, reference)
    entries = {}
    if cpp:
        entries[CPP] = Entry()
    for system in systems:
        entries[system.name] = prepare(system, program, inputs, reference)
    for _ in range(rounds):
        if cpp:
            take_turn_in_cpp(entries[CPP], cpp, program)
        for system in systems:
            take_turn(entries[system.name], system, seconds)
    for entry in entries.values():
        entry.call = None
    for system in systems:
        system.release()
    return entries, bytes_moved
