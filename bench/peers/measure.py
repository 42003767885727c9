"""Measuring one program: every system's result is checked, then the systems take turns."""

import json
import statistics
import subprocess
import tempfile
import time

import numpy as np

from peers.errors import exact_dtype, reference_of, worst_error
from peers.program import Input, dtype_named
from peers.systems import reason

CPP = "heddle-c++"  # bench_programs, which runs in a process of its own


def microseconds_a_call(call, wait, batches=7, seconds=0.01):
    """Median time of batches. Each batch ends with one synchronisation, so the result is the larger
    of the device's time and the host's time to start a call. A call that takes as long as fifty
    batches should is timed once."""
    call()
    call()
    wait()
    start = time.perf_counter()
    call()
    wait()
    one = time.perf_counter() - start
    if one > 50 * seconds:
        return one * 1e6
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


class Copies:
    """Times of copies within the device, by size."""

    def __init__(self, systems):
        self.systems, self.times = systems, {}

    def microseconds(self, traffic):
        """Of a copy that reads and writes `traffic` bytes in all, by the fastest system; None if no
        system copies."""
        count = max(1, traffic // 8)
        if count not in self.times:
            found = []
            for system in self.systems:
                copy = system.copying(count)
                if copy is not None:
                    found.append(microseconds_a_call(copy, system.wait, batches=3, seconds=0.005))
                del copy
                system.release()
            self.times[count] = min(found, default=None)
        return self.times[count]


def call_of(system, program, inputs):
    """A function without arguments that starts one call, with the inputs on the device. Nothing has
    been called yet."""
    if program.draws:
        return system.drawing(program.draws)
    function, arrays = system.compile(program), [system.put(x) for x in inputs]
    system.wait_for(arrays)
    return lambda: function(*arrays)


def prepare(system, program, inputs, reference):
    entry = Entry()
    if system.name in program.absent:
        entry.reason = program.absent[system.name]
        return entry
    try:
        system.choose_precision(program.tf32)
        entry.call = call_of(system, program, inputs)
        start = time.perf_counter()
        result = entry.call()
        system.wait()
        entry.facts["first_call_milliseconds"] = (time.perf_counter() - start) * 1e3
        result = np.asarray(system.get(result))
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

    def __init__(self, path, device, scale, milliseconds=20):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [path, "--serve", "--device", device, "--scale", str(scale), "--batch-milliseconds",
             str(milliseconds)], text=True,
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
    """Bytes to read every input and write the result once."""
    if program.draws:
        return 4 * program.draws
    dtype = reference.dtype
    if program.result:
        dtype = dtype_named(program.result)
    elif exact_dtype(inputs[0].dtype) == dtype:
        dtype = inputs[0].dtype
    return sum(x.nbytes for x in inputs) + reference.size * dtype.itemsize


def reference_and_bytes(program, inputs, reference_of):
    reference = None if program.draws else reference_of(program, inputs)
    return reference, fewest_bytes(program, inputs, reference)


def release(entries, systems):
    for entry in entries.values():
        entry.call = None
    for system in systems:
        system.release()


def prepare_program(program, systems, reference_of=reference_of, make_input=Input.make):
    """Compiles and checks a program in every system. Returns the entries by system, whose calls cannot
    be called any more, and the fewest bytes."""
    inputs = [make_input(each, seed) for seed, each in enumerate(program.inputs)]
    reference, bytes_moved = reference_and_bytes(program, inputs, reference_of)
    entries = {each.name: prepare(each, program, inputs, reference) for each in systems}
    release(entries, systems)
    return entries, bytes_moved


def call_again(entry, system, program, inputs):
    """Makes the call of an entry that prepare_program has checked in another process."""
    try:
        system.choose_precision(program.tf32)
        entry.call = call_of(system, program, inputs)
        entry.call()
        system.wait()
    except Exception as error:  # a peer's failure does not stop the run
        entry.reason, entry.call = reason(error), None
    return entry


def measure_program(program, systems, cpp, rounds, make_input, seconds, reference_of=reference_of,
                    checked=None):
    """Measures a program. Returns the entries by system, and the fewest bytes. `seconds` is the
    time of a batch of calls, `checked` what prepare_program returned in another process; what failed
    there is tried again here."""
    inputs = [make_input(each, seed) for seed, each in enumerate(program.inputs)]
    before, bytes_moved = checked or ({}, None)
    before = {name: entry for name, entry in before.items() if not entry.reason}
    reference = None
    if not checked or any(system.name not in before for system in systems):
        reference, bytes_moved = reference_and_bytes(program, inputs, reference_of)
    entries = {}
    if cpp:
        entries[CPP] = Entry()
        if not program.in_cpp:
            entries[CPP].reason = "is not in bench/programs"
    for system in systems:
        entries[system.name] = (call_again(before[system.name], system, program, inputs)
                                if system.name in before
                                else prepare(system, program, inputs, reference))
    for _ in range(rounds):
        if cpp:
            take_turn_in_cpp(entries[CPP], cpp, program)
        for system in systems:
            take_turn(entries[system.name], system, seconds)
    release(entries, systems)
    return entries, bytes_moved
