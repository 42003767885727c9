"""Prints the results, and stores them as JSON."""

import datetime
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess

from peers import classes
from peers.measure import CPP

TITLES = {CPP: "C++", "heddle": "Python", "numpy": "NumPy", "cupy": "CuPy", "jax": "JAX",
          "torch": "torch", "inductor": "Inductor"}
HEDDLE = (CPP, "heddle")
# The copy bandwidth, in bytes per second, when the hand-written kernels of the goals were measured.
CEILING_OF_REACH = 4.26e12
# On the CPU the goals are ratios to NumPy and to JAX.
BLACK_SCHOLES_OVER_NUMPY = 8


def processor():
    text = pathlib.Path("/proc/cpuinfo")
    names = [line.split(":", 1)[1].strip() for line in text.read_text().splitlines()
             if line.startswith("model name")] if text.exists() else []
    return names[0] if names else platform.processor()


def machine(device, root):
    facts = {"commit": "unknown", "device": device, "processor": processor(),
             "processors": len(os.sched_getaffinity(0)), "python": platform.python_version(),
             "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
    if (root / ".commit").exists():
        facts["commit"] = (root / ".commit").read_text().strip()
    if device != "cpu" and shutil.which("nvidia-smi"):
        query = "--query-gpu=name,driver_version,clocks.max.sm"
        smi = subprocess.run(["nvidia-smi", query, "--format=csv,noheader", "--id=0"],
                             capture_output=True, text=True)
        if smi.returncode == 0:
            facts.update(zip(("gpu", "driver", "clock"), smi.stdout.strip().split(", ")))
    return facts


def figure(entries, name):
    entry = entries.get(name, {})
    return entry.get("microseconds") if entry.get("correct") else None


def ratios(entries):
    """The ratio of each Heddle's time to each peer's: the median over the rounds of the run."""
    found = {}
    for ours in HEDDLE:
        for name, entry in entries.items():
            if name in HEDDLE or figure(entries, ours) is None or figure(entries, name) is None:
                continue
            pairs = zip(entries[ours]["rounds"], entry["rounds"])
            found.setdefault(ours, {})[name] = statistics.median(a / b for a, b in pairs)
    return found


def best_peer(entries):
    times = {name: figure(entries, name) for name in entries if name not in HEDDLE}
    times = {name: time for name, time in times.items() if time is not None}
    return min(times, key=times.get) if times else None


def wanted_on_cpu(program, entries):
    """(text, name of the peer, factor) of the goal on the CPU."""
    if program.name == "Black-Scholes" and figure(entries, "numpy"):
        return f"1/{BLACK_SCHOLES_OVER_NUMPY} NumPy", "numpy", 1 / BLACK_SCHOLES_OVER_NUMPY
    best = best_peer(entries)
    return ("1.00 best peer", best, 1.0) if best else None


def verdict(program, entries, bytes_time, ceiling, device, scale):
    """The goal, Heddle's time relative to the goal's basis, and whether it is met; None if there is
    no goal.

    Heddle's time is that of C++ if there is one, else Python's."""
    ours = next((name for name in HEDDLE if figure(entries, name) is not None), None)
    if ours is None:
        return None
    goal, microseconds = program.goal, figure(entries, ours)
    if device == "cpu":
        wanted = wanted_on_cpu(program, entries)
        if wanted is None:
            return None
        text, peer, factor = wanted
        ratio = ratios(entries)[ours][peer]
    elif goal.basis == "peers":
        best = best_peer(entries)
        if best is None:
            return None
        text, factor = f"{goal.factor:.2f} best peer", goal.factor
        ratio = ratios(entries)[ours][best]
    elif scale != 1 or goal.basis in ("bytes", "reach") and not ceiling:
        return None  # the goal is of another size, or no system has copied
    elif goal.basis == "bytes":
        text, factor, ratio = f"{goal.factor:.2f} bytes", goal.factor, microseconds / bytes_time
    elif goal.basis == "reach":
        reach = goal.microseconds * CEILING_OF_REACH / ceiling
        text, factor, ratio = f"{goal.factor:.2f} reach", goal.factor, microseconds / reach
    else:
        text, factor = f"{goal.microseconds:g} us", 1.0
        ratio = microseconds / goal.microseconds
    return {"goal": text, "ratio": ratio, "met": ratio <= factor, "of": ours}


def row_of(program, entries, bytes_moved, copy_microseconds, ceiling, device, scale):
    """The JSON entry of a program. `copy_microseconds` is the time of a copy within the device that
    moves as many bytes as the program must; None if no system has one."""
    kept = {name: entry.json() for name, entry in entries.items()}
    bytes_time = bytes_moved / ceiling * 1e6 if ceiling else 0.0
    best = best_peer(kept)
    more = {key: getattr(program, key) for key in ("source", "operations") if hasattr(program, key)}
    return {"name": program.name, "listed": program.listed, "field": program.field,
            "class": program.kind,
            "shapes": [list(each.shape) for each in program.inputs],
            "dtypes": [each.dtype for each in program.inputs] or ["float32"],
            "fewest_bytes": bytes_moved, "bytes_microseconds": bytes_time,
            "bound_microseconds": copy_microseconds,
            "tolerance": program.tolerance, "systems": kept, "ratios": ratios(kept),
            "best_peer": best, **more,
            "goal": verdict(program, kept, bytes_time, ceiling, device, scale)}


def microseconds_text(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def cell(entry):
    if "microseconds" not in entry:
        return "-"
    return microseconds_text(entry["microseconds"]) + ("" if entry["correct"] else "!")


def print_heading(names):
    columns = "".join(f"{TITLES[name]:>10}" for name in names)
    print(f"{'program, us a call':<35}{'bytes':>8}{'copy':>8}{columns}{'/best':>7}{'/copy':>7}  goal",
          flush=True)


def print_row(row, names):
    bytes_time, copy = (microseconds_text(row[key]) if row[key] else "-"
                        for key in ("bytes_microseconds", "bound_microseconds"))
    cells = "".join(f"{cell(row['systems'].get(name, {})):>10}" for name in names)
    best, bound = (f"{ratio:.2f}" if ratio else "-"
                   for ratio in (classes.ratio_of(row), classes.over_bound(row)))
    goal = "-"
    if row["goal"]:
        met = "met" if row["goal"]["met"] else "MISSED"
        goal = f"{row['goal']['ratio']:.2f} <= {row['goal']['goal']}: {met}"
    print(f"{row['name']:<35}{bytes_time:>8}{copy:>8}{cells}{best:>7}{bound:>7}  {goal}", flush=True)


def notes_of(rows):
    """Notes on missing measurements and wrong results; equal notes are merged."""
    lines = {}
    for row in rows:
        for name, entry in row["systems"].items():
            if "reason" in entry:
                lines.setdefault((name, entry["reason"]), []).append(row["name"])
            elif not entry["correct"]:
                wrong = f"WRONG: error {entry['error']}, {row['tolerance']:g} allowed"
                lines.setdefault((name, wrong), []).append(row["name"])
    return [f"  {TITLES[name]:<9} {', '.join(programs)}: {text}"
            for (name, text), programs in lines.items()]


def print_notes(rows, absent):
    lines = [f"  {TITLES[name]:<9} not available: {text}" for name, text in absent.items()]
    lines += notes_of(rows)
    if lines:
        print("\nNot measured (-) or wrong (!):", *lines, sep="\n")


def host_overhead(rows):
    """Time per call of programs with negligible kernels: C++'s time, and Python's additional
    time."""
    found = {}
    for row in rows:
        if row["name"] in ("x*w+b, 1024 elements", "ten-op chain", "sqrt(sum(a*a, -1))"):
            times = [figure(row["systems"], name) for name in HEDDLE]
            if None not in times:
                found[row["name"]] = {"c++": times[0], "python_excess": times[1] - times[0]}
    return found


def print_overhead(overhead):
    if overhead:
        print(f"\n{'host overhead, us a call':<27}{'C++':>8}{'extra in Python':>20}")
    for name, times in overhead.items():
        print(f"{name:<27}{times['c++']:>8.2f}{times['python_excess']:>20.2f}")


def print_startup(results):
    if results:
        print(f"\n{'first call, ms':<27}{'cold':>10}{'warm':>10}")
    for name, result in results.items():
        if "reason" in result:
            print(f"{TITLES[name]:<27}{result['reason']}")
        else:
            loads = "  (loads NVRTC when warm)" if result["warm_loads_nvrtc"] else ""
            print(f"{TITLES[name]:<27}{result['cold']:>10.1f}{result['warm']:>10.1f}{loads}")


def print_summary(rows):
    goals = [row["goal"]["met"] for row in rows if row["listed"] and row["goal"]]
    others = [row["goal"]["met"] for row in rows if not row["listed"] and row["goal"]]
    print(f"\nGoals met: {sum(goals)} of {len(goals)} listed programs,"
          f" {sum(others)} of {len(others)} others.")


def write(path, report):
    """Writes a new file and renames it, so that an interrupted run leaves a complete file."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(report, indent=1) + "\n")
    new.replace(path)
