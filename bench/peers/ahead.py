"""Programs compiled and checked before they are measured, several at once in processes of their own.
What a process compiles stays in its system's cache on disk, where the measuring process finds it."""

import concurrent.futures
import multiprocessing
import os
import tempfile

from peers import choice, measure, systems

# Of a worker: its systems, its programs, and the function that computes a reference.
_worker = {}


def share_caches():
    """Makes JAX keep every compiled program on disk, as the other systems do without being asked. To
    be called before JAX is imported."""
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", tempfile.mkdtemp(prefix="peers-jax-"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


def _start(names, options):
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    running, _ = systems.start(names, options.kind)
    _worker.update(systems=running, programs=choice.chosen_programs(options),
                   reference_of=choice.reference_function(options, running))


def _prepare(i):
    return measure.prepare_program(_worker["programs"][i], _worker["systems"],
                                   _worker["reference_of"])


def prepare_all(names, options):
    """The entries and the fewest bytes of the chosen programs in the systems of `names`, by the
    program's name, from options.workers processes. A program whose process died is left out."""
    programs = choice.chosen_programs(options)
    pool = concurrent.futures.ProcessPoolExecutor(
        options.workers, multiprocessing.get_context("spawn"), _start, (names, options))
    found = {}
    with pool:
        tasks = {program.name: pool.submit(_prepare, i) for i, program in enumerate(programs)}
        for name, task in tasks.items():
            try:
                found[name] = task.result()
            except concurrent.futures.BrokenExecutor as error:
                print(f"Not checked ahead: {name}: {systems.reason(error)}")
    return found
