"""Draws a report: chart.py peers.json peers.svg. Needs matplotlib."""

import json
import pathlib
import sys

from peers import classes
from peers.program import CLASSES

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


def draw_programs(axes, rows):
    """Every system's time, a program a line."""
    for name, color in COLORS.items():
        found = list(points(rows, name))
        if found:
            ours = name.startswith("heddle")
            axes.scatter(*zip(*found), color=color, label=TITLES[name], s=42 if ours else 26,
                         marker="D" if ours else "o", zorder=3 if ours else 2)
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("time per call, relative to the best peer (left is faster)")
    axes.legend(fontsize=8, loc="upper right", framealpha=0.9)


def draw_classes(axes, rows):
    """Heddle's ratios, a class a line: a stroke for each program, a diamond for the geometric mean,
    and a bar for its goal."""
    summaries = classes.summaries(rows)
    labels = []
    for line, (kind, found) in enumerate(summaries.items()):
        ratios = [classes.ratio_of(row) for row in rows if kind in ("all", row["class"])]
        ratios = [ratio for ratio in ratios if ratio is not None]
        axes.scatter(ratios, [line] * len(ratios), marker="|", s=160, color=COLORS["heddle-c++"],
                     alpha=0.45, linewidth=1.2)
        axes.plot([found["goal"]] * 2, [line - 0.4, line + 0.4], color="#222222", linewidth=2)
        if ratios:
            axes.scatter([found["mean"]], [line], marker="D", s=46, color="#222222", zorder=3)
        mean = f"{found['mean']:.2f}" if ratios else "-"
        labels.append(f"{kind}, {len(ratios)}: {mean} (goal {found['goal']:.2f})")
    axes.set_yticks(range(len(labels)), labels, fontsize=9)
    axes.set_ylim(len(labels) - 0.5, -0.5)


def order_of(row):
    """By class, and within it by Heddle's ratio."""
    return list(CLASSES).index(row["class"]), classes.ratio_of(row) or 0


def draw(source, target):
    """Draws the classes, and below every system's time relative to the best peer's. Returns a message
    that says what was done."""
    try:
        import matplotlib

        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError:
        return f"No chart: matplotlib is not installed. With it, peers/chart.py draws {source}."
    report = json.loads(pathlib.Path(source).read_text())
    rows = sorted((row for row in report["programs"] if row["best_peer"]), key=order_of)
    heights = (2.4, 1.0 + 0.26 * len(rows))
    figure, (above, below) = pyplot.subplots(2, figsize=(9, sum(heights) + 0.6), height_ratios=heights)
    draw_classes(above, rows)
    draw_programs(below, rows)
    for axes in (above, below):
        axes.axvline(1, color="#555555", linewidth=0.8)
        axes.set_xscale("log")
        axes.grid(axis="both", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    above.set_title(f"{report.get('gpu', report['processor'])}, commit {report['commit'][:7]}\n"
                    "Heddle / best peer: a program, the geometric mean (diamond), the goal (bar)",
                    fontsize=9)
    figure.tight_layout()
    figure.savefig(target)
    pyplot.close(figure)
    return f"Wrote {source} and {target}."


if __name__ == "__main__":
    print(draw(sys.argv[1], sys.argv[2]))
