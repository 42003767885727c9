"""Draws a report: chart.py peers.json peers.svg. Needs matplotlib."""

import json
import pathlib
import sys

COLORS = {"heddle-c++": "#c0392b", "heddle": "#e59866", "numpy": "#7f8c8d", "cupy": "#76b041",
          "jax": "#4a7fb5", "torch": "#b8a038", "inductor": "#8e5aa8"}
TITLES = {"heddle-c++": "Heddle, C++", "heddle": "Heddle, Python", "numpy": "NumPy",
          "cupy": "CuPy", "jax": "JAX", "torch": "PyTorch", "inductor": "torch.compile"}


def points(rows, name):
    """Yields (time relative to the best peer, row) for programs where the system's result is
    correct."""
    for place, row in enumerate(rows):
        entry, best = row["systems"].get(name, {}), row["best_peer"]
        if entry.get("correct") and best:
            yield entry["microseconds"] / row["systems"][best]["microseconds"], place


def draw(source, target):
    """Draws every system's time relative to the best peer's, one program per line. Returns a
    message that says what was done."""
    try:
        import matplotlib

        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError:
        return f"No chart: matplotlib is not installed. With it, peers/chart.py draws {source}."
    report = json.loads(pathlib.Path(source).read_text())
    rows = [row for row in report["programs"] if row["best_peer"]]
    figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.26 * len(rows)))
    for name, color in COLORS.items():
        found = list(points(rows, name))
        if found:
            ours = name.startswith("heddle")
            axes.scatter(*zip(*found), color=color, label=TITLES[name], s=42 if ours else 26,
                         marker="D" if ours else "o", zorder=3 if ours else 2)
    axes.axvline(1, color="#555555", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="both", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("time per call, relative to the best peer (left is faster)")
    axes.set_title(f"{report.get('gpu', report['processor'])}, commit {report['commit'][:7]}",
                   fontsize=10)
    axes.legend(fontsize=8, loc="upper right", framealpha=0.9)
    figure.tight_layout()
    figure.savefig(target)
    pyplot.close(figure)
    return f"Wrote {source} and {target}."


if __name__ == "__main__":
    print(draw(sys.argv[1], sys.argv[2]))
