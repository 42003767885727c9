"""The table of functions: Heddle and one peer, in turns, one function at a time."""

import math
import statistics
import time
import warnings

from peers import measure, report

CALLS_A_BATCH = 4000


def seconds_a_batch(call, wait, count):
    start = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return (time.perf_counter() - start) / count


def calls_a_batch(call, wait, seconds):
    once = min(seconds_a_batch(call, wait, 1) for _ in range(2))
    return max(1, min(CALLS_A_BATCH, int(seconds / max(once, 1e-7))))


def take_turns(entries, systems, rounds, seconds):
    """Measures every system once a round: the fastest of three batches. Long calls are measured in
    batches of one call, and very long ones with one batch only."""
    counts = {system.name: calls_a_batch(entries[system.name].call, system.wait, seconds)
              for system in systems}
    for turn in range(rounds):
        for system in systems:
            entry = entries[system.name]
            first = seconds_a_batch(entry.call, system.wait, counts[system.name])
            batches = [first] if first * counts[system.name] > 20 * seconds else [
                first, *(seconds_a_batch(entry.call, system.wait, counts[system.name])
                         for _ in range(2))]
            entry.rounds.append(min(batches) * 1e6)


def measure_function(function, systems, rounds, seconds):
    inputs = [each.make(seed) for seed, each in enumerate(function.inputs)]
    reference = function.reference(inputs)
    entries = {system.name: measure.prepare(system, function, inputs, reference)
               for system in systems}
    if not any(entry.reason for entry in entries.values()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            take_turns(entries, systems, rounds, seconds)
    for entry in entries.values():
        entry.call = None
    return {name: entry.json() if entry.rounds or entry.reason else {"reason": "not timed"}
            for name, entry in entries.items()}


def row_of(function, entries, peer):
    """The JSON entry of a function. `times` is the peer's time divided by Heddle's."""
    row = {"name": function.name, "op": function.op, "dtype": function.dtype,
           "size": function.size, "tolerance": function.tolerance, "systems": entries,
           "times": None}
    ours, theirs = entries["heddle"], entries[peer]
    if "rounds" in ours and "rounds" in theirs:
        row["times"] = statistics.median(b / a for a, b in zip(ours["rounds"], theirs["rounds"]))
    return row


def print_row(row, peer):
    ours, theirs = row["systems"]["heddle"], row["systems"][peer]
    times = "-" if row["times"] is None else f"{row['times']:.2f}"
    notes = [each["reason"] for each in (ours, theirs) if "reason" in each]
    if ours.get("correct") is False:
        notes.append(f"WRONG: error {ours['error']}, {row['tolerance']:g} allowed")
    if row["times"] is not None and row["times"] < 1:
        notes.append("< 1")
    print(f"{row['name']:<38}{report.cell(ours):>12}{report.cell(theirs):>12}{times:>8}  "
          + "; ".join(notes), flush=True)


def print_summary(rows):
    timed = [row for row in rows if row["times"] is not None]
    slower = sorted((row for row in timed if row["times"] < 1), key=lambda row: row["times"])
    if timed:
        mean = math.exp(statistics.mean(math.log(row["times"]) for row in timed))
        print(f"\n{len(timed)} figures, {len(slower)} below 1, geometric mean {mean:.2f}")
    for row in slower:
        print(f"  {row['times']:.2f}  {row['name']}")


def failures(rows):
    return [row["name"] for row in rows
            if "reason" in row["systems"]["heddle"] or not row["systems"]["heddle"]["correct"]]
