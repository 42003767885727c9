"""The command: python -m peers --help."""

import argparse
import functools
import os
import pathlib
import sys
import time

from peers import (ahead, choice, classes, distribution, function_table, measure, programs, report,
                   startup, systems)
from peers.program import Input

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Systems in a process are loaded in this order and take turns in this order.
ORDER = ("heddle", "numpy", "cupy", "torch", "inductor", "jax")


def two_numbers(parser, option, text, separator):
    first, _, second = text.partition(separator)
    if not (first.isdigit() and second.isdigit()):
        parser.error(f"{option} must be two numbers with a {separator} between them")
    return int(first), int(second)


def arguments(words=None):
    parser = argparse.ArgumentParser(prog="peers", description="Times the same programs in Heddle "
                                     "and in other array libraries, in one run, and checks them.")
    parser.add_argument("--device", default=os.environ.get("HEDDLE_DEVICE", "cpu"),
                        help="cpu or cuda:0 (default: HEDDLE_DEVICE, else cpu)")
    parser.add_argument("--systems", metavar="NAMES", help="separated by commas (default: those of "
                        f"{', '.join((measure.CPP, *ORDER))} that run on the device)")
    parser.add_argument("--functions", action="store_true", help="instead of the programs, compare "
                        "every function of the op table, reduction, scan and sort with NumPy on the CPU")
    parser.add_argument("--random", metavar="FIRST:COUNT", nargs="?", const="0:200", help="instead of "
                        "the list, random programs of COUNT seeds from FIRST on (%(const)s): prints "
                        "the distribution of the ratios, and the worst programs")
    parser.add_argument("--only", default="", metavar="PATTERN",
                        help="only programs whose name contains this; separate several by |")
    parser.add_argument("--fields", metavar="NAMES", help="only programs of these fields, separated "
                        f"by commas: {', '.join(programs.FIELDS)}")
    parser.add_argument("--part", metavar="K/N", default="1/1", help="only every Nth of the "
                        "programs, from the Kth on: what one machine measures in one go")
    parser.add_argument("--scale", type=int, metavar="N",
                        help="divides the sides of matrices by N and long axes by N*N: a power of "
                        "two up to 64 (default: 1 on a GPU, 4 on the CPU)")
    parser.add_argument("--rounds", type=int, default=3,
                        help="number of timings of each system (%(default)s)")
    parser.add_argument("--startup-rounds", type=int, default=1, metavar="N",
                        help="cold and warm first calls of each system (%(default)s); 0: none")
    parser.add_argument("--seconds", type=float,
                        help="start no program after this time (400; 3600 with --functions)")
    parser.add_argument("--batch-milliseconds", type=float, default=10, metavar="T",
                        help="target time of a batch of calls (%(default)s)")
    parser.add_argument("--bench", type=pathlib.Path, metavar="FILE",
                        default=ROOT / "build/bench/bench_programs",
                        help="Heddle's C++ bench (%(default)s)")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR",
                        help="also write peers.json and the chart peers.svg there; with "
                        "--functions, functions.json")
    parser.add_argument("--workers", type=int, default=0, metavar="N",
                        help="first compile and check the programs in N processes at once, which "
                        "shortens a long run on a machine of many processors (%(default)s); first "
                        "calls are then timed there, one beside others")
    parser.add_argument("--list", action="store_true", help="print the programs' names and exit")
    options = parser.parse_args(words)
    options.kind = options.device.partition(":")[0]
    options.seconds = options.seconds or (3600 if options.functions else 400)
    options.scale = options.scale or (4 if options.kind == "cpu" else 1)
    if not 1 <= options.scale <= 64 or options.scale & (options.scale - 1):
        parser.error("--scale must be a power of two up to 64")
    if options.systems is None:
        options.systems = [name for name in ORDER if options.kind in systems.ALL[name].devices]
        options.systems.append(measure.CPP)
    else:
        options.systems = options.systems.split(",")
    options.fields = options.fields.split(",") if options.fields else []
    unknown = set(options.fields) - set(programs.FIELDS)
    if unknown:
        parser.error("no such field: " + ", ".join(sorted(unknown)))
    options.part = two_numbers(parser, "--part", options.part, "/")
    if not 1 <= options.part[0] <= options.part[1]:
        parser.error("--part must be K/N, K from 1 to N")
    if options.random:
        options.random = two_numbers(parser, "--random", options.random, ":")
    if options.functions and options.kind != "cpu":
        parser.error("--functions runs on the CPU only")
    unknown = set(options.systems) - {measure.CPP, *systems.ALL}
    if unknown:
        parser.error("no such system: " + ", ".join(sorted(unknown)))
    return options


def start_cpp(options, absent):
    if measure.CPP not in options.systems:
        return None
    try:
        return measure.CppBench(str(options.bench), options.device, options.scale,
                                options.batch_milliseconds)
    except (OSError, RuntimeError, ValueError) as error:
        absent[measure.CPP] = systems.reason(error)
        return None


class Run:
    def __init__(self, options):
        self.options = options
        self.began = time.monotonic()
        wanted = [name for name in ORDER if name in options.systems]
        self.checked = {}
        if options.workers:
            ahead.share_caches()
            self.checked = ahead.prepare_all(wanted, options)
        self.running, self.absent = systems.start(wanted, options.kind)
        self.cpp = start_cpp(options, self.absent)
        self.names = [measure.CPP] if self.cpp else []
        self.names += [system.name for system in self.running]
        elements = 2**28 // (1 if options.kind == "cuda" else 16)
        rates = [measure.copy_ceiling(self.running, elements)]
        if self.cpp:
            rates.append(self.cpp.machine["copy_gigabytes_per_second"] * 1e9)
        self.ceiling = max(rates)
        self.copies = measure.Copies(self.running)
        # Programs with equal inputs share the arrays.
        self.make_input = functools.lru_cache(maxsize=8)(Input.make)
        self.reference_of = choice.reference_function(options, self.running)
        versions = {}
        for system in self.running:
            versions.update(system.versions())
        self.report = {**report.machine(options.device, ROOT), "versions": versions,
                       "scale": options.scale, "rounds": options.rounds, "workers": options.workers,
                       "absent": self.absent,
                       "copy_bytes_per_second": self.ceiling, "programs": []}

    def print_beginning(self):
        facts = self.report
        print(f"{facts.get('gpu', facts['processor'])}, commit {facts['commit'][:12]}, copy "
              f"{self.ceiling / 1e9:.0f} GB/s, "
              + ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
              + f"; ready after {time.monotonic() - self.began:.0f} s\n")

    def keep(self):
        self.report["seconds"] = round(time.monotonic() - self.began, 1)
        if self.options.out:
            report.write(self.options.out / "peers.json", self.report)

    def measure(self, chosen):
        """Measures the programs for which there is time left."""
        options = self.options
        for i, program in enumerate(chosen):
            if time.monotonic() - self.began > options.seconds:
                left = ", ".join(program.name for program in chosen[i:])
                self.report["not_run"] = [program.name for program in chosen[i:]]
                print(f"Out of time (--seconds {options.seconds:g}), not run: {left}")
                return
            entries, bytes_moved = measure.measure_program(
                program, self.running, self.cpp, options.rounds, self.make_input,
                options.batch_milliseconds / 1e3, self.reference_of,
                self.checked.get(program.name))
            row = report.row_of(program, entries, bytes_moved,
                                self.copies.microseconds(bytes_moved), self.ceiling, options.kind,
                                options.scale)
            self.report["programs"].append(row)
            report.print_row(row, self.names)
            self.keep()

    def measure_startup(self):
        options = self.options
        if options.startup_rounds == 0 or options.random:
            return
        names = [name for name in startup.SYSTEMS if name in self.names]
        self.report["first_call_milliseconds"] = startup.measure(
            names, options.device, str(options.bench), options.startup_rounds)
        self.keep()

    def end(self):
        if self.cpp:
            self.cpp.close()
        rows = self.report["programs"]
        report.print_notes(rows, self.absent)
        self.report["host_overhead_microseconds"] = report.host_overhead(rows)
        report.print_overhead(self.report["host_overhead_microseconds"])
        report.print_startup(self.report.get("first_call_milliseconds", {}))
        if self.options.random:
            distribution.print_distribution(rows)
            self.report["distribution"] = distribution.distribution_of(rows)
        else:
            report.print_summary(rows)
            classes.print_summaries(rows)
            self.report["classes"] = classes.summaries(rows)
        classes.print_first_calls(rows)
        self.keep()


def failures_of_heddle(run):
    """Heddle systems and programs that were requested and failed."""
    failed = [name for name in report.HEDDLE if name in run.absent]
    absences = {program.name: program.absent for program in choice.chosen_programs(run.options)}
    for row in run.report["programs"]:
        entries = row["systems"]
        if any(entries.get(name, {}).get("correct") is False for name in report.HEDDLE):
            failed.append(row["name"])
        elif "reason" in entries.get("heddle", {}) and "heddle" not in absences[row["name"]]:
            failed.append(row["name"])
    return failed


def measure_functions(options, chosen):
    """Measures and prints the table of functions; returns the exit status."""
    began = time.monotonic()
    running, absent = systems.start(("heddle", "numpy"), options.kind)
    if absent:
        print("peers:", absent, file=sys.stderr)
        return 1
    versions = {name: version for system in running for name, version in system.versions().items()}
    kept = {**report.machine(options.device, ROOT), "versions": versions,
            "rounds": options.rounds, "functions": []}
    print(f"{kept['processor']}, {kept['processors']} processors, commit {kept['commit'][:12]}, "
          + ", ".join(f"{name} {version}" for name, version in versions.items()))
    print(f"{'function, us a call':<38}{'Heddle':>12}{'NumPy':>12}{'times':>8}", flush=True)
    for i, function in enumerate(chosen):
        if time.monotonic() - began > options.seconds:
            kept["not_run"] = [function.name for function in chosen[i:]]
            print(f"Out of time (--seconds {options.seconds:g}), {len(chosen) - i} not run")
            break
        entries = function_table.measure_function(function, running, options.rounds,
                                                  options.batch_milliseconds / 1e3)
        kept["functions"].append(function_table.row_of(function, entries, "numpy"))
        function_table.print_row(kept["functions"][-1], "numpy")
        if options.out:
            report.write(options.out / "functions.json", kept)
    function_table.print_summary(kept["functions"])
    failed = function_table.failures(kept["functions"])
    if failed:
        print("Heddle failed:", ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


def main():
    options = arguments()
    chosen = choice.chosen_programs(options)
    if options.list:
        print(*(program.name for program in chosen), sep="\n")
        return 0
    if not chosen:
        print(f"peers: no program's name contains '{options.only}'", file=sys.stderr)
        return 2
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    if options.functions:
        return measure_functions(options, chosen)
    run = Run(options)
    run.print_beginning()
    report.print_heading(run.names)
    run.measure([program for program in chosen if program.listed])
    run.measure_startup()
    run.measure([program for program in chosen if not program.listed])
    run.end()
    print(f"{run.report['seconds']:.0f} s")
    if options.out:
        from peers import chart

        print(chart.draw(options.out / "peers.json", options.out / "peers.svg"))
    failed = failures_of_heddle(run)
    if failed:
        print("Heddle failed:", ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
