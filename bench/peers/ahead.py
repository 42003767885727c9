"""Programs compiled and checked before they are measured, several at once in processes of their own.
What a process compiles stays in its system's cache on disk, where the measuring process finds it."""

import concurrent.futures
import multiprocessing
import os
import tempfile

from peers import measure, systems

# Of a worker: its systems, its programs, and the function that computes a reference.
_worker = {}


def share_caches():
    """Makes JAX keep every compiled program on disk, as the other systems do without being asked. To
    be called before JAX is imported."""
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", tempfile.mkdtemp(prefix="peers-jax-"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


def _start(names, kind, chosen_programs, options, reference_of):
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    running, _ = systems.start(names, kind)
    _worker.update(systems=running, programs=chosen_programs(options),
                   reference_of=reference_of(options, running))


def _prepare(i):
    return measure.prepare_program(_worker["programs"][i], _worker["systems"],
                                   _worker["reference_of"])


def prepare_all(names, kind, chosen_programs, options, reference_of):
    """The entries and the fewest bytes of the programs of chosen_programs(options), by name, from
    options.workers processes, which receive the functions by their names. A program whose process
    died is left out."""
    programs = chosen_programs(options)
    pool = concurrent.futures.ProcessPoolExecutor(
        options.workers, multiprocessing.get_context("spawn"), _start,
        (names, kind, chosen_programs, options, reference_of))
    found = {}
    with pool:
        tasks = {program.name: pool.submit(_prepare, i) for i, program in enumerate(programs)}
        for name, task in tasks.items():
            try:
                found[name] = task.result()
            except concurrent.futures.BrokenExecutor as error:
                print(f"{name}: {systems.reason(error)}")
    return found
