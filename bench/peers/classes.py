"""What a run says of each class of programs, from the rows of its JSON."""

import statistics

from peers.program import CLASSES, OVERALL

# Heddle's figures in this report are those of Python, as the peers' are.
OURS = "heddle"
EVEN = 1.02


def median_of(row, name):
    entry = row["systems"].get(name, {})
    return statistics.median(entry["rounds"]) if entry.get("correct") else None


def ratio_of(row):
    """Heddle's time over the best peer's, medians over the rounds; None if either is missing."""
    ours, best = median_of(row, OURS), row["best_peer"]
    return None if ours is None or best is None else ours / median_of(row, best)


def spread_of(row):
    """The slowest round of Heddle over its fastest."""
    rounds = row["systems"][OURS]["rounds"]
    return max(rounds) / min(rounds)


def is_behind(row):
    ratio = ratio_of(row)
    return ratio is not None and ratio > EVEN and ratio > spread_of(row)


def over_bound(row):
    """Heddle's time over the bound of its traffic; None if there is none."""
    ours, bound = median_of(row, OURS), row.get("bound_microseconds")
    return ours / bound if ours is not None and bound else None


def summary_of(rows, goal):
    ratios = [ratio for ratio in map(ratio_of, rows) if ratio is not None]
    mean = statistics.geometric_mean(ratios) if ratios else None
    return {"programs": len(rows), "compared": len(ratios), "mean": mean, "goal": goal,
            "met": None if mean is None else mean <= goal,
            "behind": [row["name"] for row in sorted(filter(is_behind, rows), key=ratio_of,
                                                     reverse=True)]}


def summaries(rows):
    """A summary of each class and, under "all", of every program."""
    found = {kind: summary_of([row for row in rows if row["class"] == kind], goal)
             for kind, goal in CLASSES.items()}
    return {**found, "all": summary_of(rows, OVERALL)}


def print_summaries(rows):
    print(f"\n{'class, Heddle / best peer':<27}{'programs':>9}{'compared':>9}{'mean':>7}{'goal':>7}"
          f"{'behind':>8}")
    for kind, found in summaries(rows).items():
        mean = "-" if found["mean"] is None else f"{found['mean']:.2f}"
        met = {None: "", True: "  met", False: "  MISSED"}[found["met"]]
        print(f"{kind:<27}{found['programs']:>9}{found['compared']:>9}{mean:>7}"
              f"{found['goal']:>7.2f}{len(found['behind']):>8}{met}")
    print_behind(rows)
    print_above_bound(rows)


def print_behind(rows):
    behind = sorted(filter(is_behind, rows), key=ratio_of, reverse=True)
    if behind:
        print(f"\nBehind the best peer (more than {EVEN} and than Heddle's own spread):")
    for row in behind:
        best = row["best_peer"]
        print(f"  {ratio_of(row):6.2f}  {row['name']:<36}{row['class']:<11}"
              f"{median_of(row, OURS):>10.1f} us, {best} {median_of(row, best):.1f}, spread "
              f"{spread_of(row):.2f}")


def print_above_bound(rows, limit=1.15):
    """Programs limited by bytes that take longer than a copy of the same traffic."""
    above = [row for row in rows if row["class"] == "bandwidth" and (over_bound(row) or 0) > limit]
    if above:
        print(f"\nAbove {limit} of a copy of the same traffic, measured in this run (class bandwidth):")
    for row in sorted(above, key=over_bound, reverse=True):
        print(f"  {over_bound(row):6.2f}  {row['name']:<36}{median_of(row, OURS):>10.1f} us, copy "
              f"{row['bound_microseconds']:.1f}")


def first_calls(rows, peer="jax"):
    """[(row, Heddle's first call in milliseconds, the peer's)] where both are known."""
    found = []
    for row in rows:
        pair = [row["systems"].get(name, {}).get("first_call_milliseconds")
                for name in (OURS, peer)]
        if None not in pair:
            found.append((row, *pair))
    return found


def print_first_calls(rows, peer="jax"):
    """First calls within the run, with what the process has loaded already."""
    found = first_calls(rows, peer)
    if not found:
        return
    mean = statistics.geometric_mean(ours / theirs for _, ours, theirs in found)
    slower = sorted((each for each in found if each[1] > each[2]), key=lambda each: each[2] / each[1])
    print(f"\nFirst calls, with the caches as the run found them: {mean:.2f} of {peer}'s time over "
          f"{len(found)} programs (geometric mean), slower in {len(slower)}")
    for row, ours, theirs in slower[:15]:
        print(f"  {ours / theirs:6.2f}  {row['name']:<36}{ours:>10.0f} ms, {peer} {theirs:.0f}")
