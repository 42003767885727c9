"""Compares two builds of Heddle on the same programs, in turns on one device:

    python -m peers.builds BEFORE AFTER [--device cuda:0] [--rounds 3] [--only TEXT] [--out FILE]

BEFORE and AFTER are the bench_programs of two builds. BEFORE runs twice in each round; its ratio to
itself shows the machine's noise. The exit status is 1 if a result is wrong.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import time

from peers.measure import CppBench
from peers.programs import all_programs


def arguments(words):
    parser = argparse.ArgumentParser(prog="python -m peers.builds", description=__doc__)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--device", default=os.environ.get("HEDDLE_DEVICE", "cpu"))
    parser.add_argument("--scale", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch-milliseconds", type=float, default=20, metavar="T")
    parser.add_argument("--only", default="", help="only programs whose name contains this")
    parser.add_argument("--seconds", type=float, default=400, help="start no program after this time")
    parser.add_argument("--out", type=pathlib.Path, help="also write the figures there, as JSON")
    options = parser.parse_args(words)
    if options.scale is None:
        options.scale = 4 if options.device == "cpu" else 1
    return options


def measure(name, benches, rounds):
    """{bench: its microseconds, one for each round}, or the reason why there are none."""
    times = {key: [] for key in benches}
    for _ in range(rounds):
        for key, bench in benches.items():
            row = bench.measure(name)
            if "reason" in row:
                return {"reason": f"{key}: {row['reason']}"}
            if not row["correct"]:
                return {"reason": f"{key}: wrong result, error {row['error']}"}
            times[key].append(row["microseconds"])
    return times


def ratio(times, one, other):
    """The median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(times[one], times[other], strict=True))


def main(words):
    options = arguments(words)
    began = time.monotonic()
    files = {"before": options.before, "again": options.before, "after": options.after}
    benches = {key: CppBench(str(file), options.device, options.scale, options.batch_milliseconds)
               for key, file in files.items()}
    programs = [p.name for p in all_programs(options.scale, options.device.split(":")[0])
                if p.in_cpp and options.only in p.name]
    report, ratios, wrong = {"machine": benches["after"].machine, "programs": []}, [], 0
    print(f"{'program':<32}{'before us':>12}{'after us':>12}{'after/before':>14}{'noise':>8}")
    for name in programs:
        if time.monotonic() - began > options.seconds:
            print(f"{name}: not run, out of time")
            continue
        times = measure(name, benches, options.rounds)
        report["programs"].append({"name": name} | times)
        if "reason" in times:
            wrong += 1
            print(f"{name:<32}  {times['reason']}")
            continue
        ratios.append(ratio(times, "after", "before"))
        print(f"{name:<32}{statistics.median(times['before']):>12.1f}"
              f"{statistics.median(times['after']):>12.1f}{ratios[-1]:>14.3f}"
              f"{ratio(times, 'again', 'before'):>8.3f}", flush=True)
    for bench in benches.values():
        bench.close()
    if ratios:
        print(f"geometric mean of {len(ratios)}: {statistics.geometric_mean(ratios):.3f}")
    if options.out:
        options.out.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
