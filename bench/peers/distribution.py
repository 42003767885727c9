"""What a run of random programs says: how Heddle's time over the best peer's is distributed, and the
text of the programs with the worst ratios."""

import statistics

from peers import classes

SHARES = (0, 5, 10, 25, 50, 75, 90, 95, 100)


def at_share(ordered, percent):
    """The number below which a share of the ordered numbers is; nearest rank."""
    return ordered[round(percent / 100 * (len(ordered) - 1))]


def distribution_of(rows):
    ratios = sorted(ratio for ratio in map(classes.ratio_of, rows) if ratio is not None)
    if not ratios:
        return {"programs": len(rows), "compared": 0}
    return {"programs": len(rows), "compared": len(ratios),
            "mean": statistics.geometric_mean(ratios),
            "behind": sum(map(classes.is_behind, rows)),
            "ratios": {str(share): at_share(ratios, share) for share in SHARES}}


def worst(rows, count):
    compared = [row for row in rows if classes.ratio_of(row) is not None]
    return sorted(compared, key=classes.ratio_of, reverse=True)[:count]


def print_distribution(rows, count=20):
    found = distribution_of(rows)
    print(f"\n{found['compared']} of {found['programs']} random programs compared", end="")
    if not found["compared"]:
        print(".")
        return
    print(f": Heddle's time over the best peer's {found['mean']:.2f} (geometric mean), behind in "
          f"{found['behind']}")
    print("  " + "".join(f"{share + '%':>7}" for share in found["ratios"]))
    print("  " + "".join(f"{ratio:>7.2f}" for ratio in found["ratios"].values()))
    print(f"\nThe {count} worst:")
    for row in worst(rows, count):
        best = row["best_peer"]
        shapes = ", ".join(f"{dtype}{shape}" for dtype, shape in zip(row["dtypes"], row["shapes"]))
        print(f"\n{classes.ratio_of(row):.2f}  {row['name']}, {row['operations']} operations: "
              f"{classes.median_of(row, classes.OURS):.1f} us, {best} "
              f"{classes.median_of(row, best):.1f}; {shapes}\n{row['source']}")
