"""The charts of measured results that draw_documents.py draws."""

import json
import math
from collections import defaultdict
from pathlib import Path

from picture import INK, LINE, PAPER, SOFT, Picture

RESULTS = Path(__file__).resolve().parent.parent / "bench/results"

SYSTEMS = {"heddle-c++": ("Heddle, C++", "#c0392b"), "heddle": ("Heddle, Python", "#e59866"), "jax": ("JAX", "#4a7fb5"),
           "inductor": ("torch.compile", "#8e5aa8"), "torch": ("PyTorch", "#b8a038"), "cupy": ("CuPy", "#76b041"),
           "numpy": ("NumPy", "#7f8c8d")}


def log_axis(p, left, width, top, bottom, low, high, ticks, unit=""):
    position = lambda value: left + width * math.log(value / low) / math.log(high / low)
    for tick in ticks:
        p.add(f'<line x1="{position(tick):.1f}" y1="{top}" x2="{position(tick):.1f}" y2="{bottom}" '
              f'stroke="{LINE if tick != 1 else INK}" stroke-width="1"/>')
        p.text(position(tick), bottom + 16, f"{tick:g}{unit}", 11, SOFT, "middle")
    return position


def legend(p, x, y, names):
    for name in names:
        title, color = SYSTEMS[name]
        p.add(f'<circle cx="{x + 5}" cy="{y - 4}" r="5" fill="{color}"/>')
        p.text(x + 15, y, title, 12)
        x += 30 + 7 * len(title)


def peers_chart():
    report = json.loads((RESULTS / "h200-peers-2026-11-23.json").read_text())
    programs = [program for program in report["programs"] if program["listed"]]
    p = Picture(820, 110 + 24 * len(programs))
    p.text(18, 26, "Time a call on one H200, over the fastest of the other libraries", 15, bold=True)
    legend(p, 18, 50, ("heddle-c++", "jax", "inductor", "torch", "cupy"))
    top, bottom = 64, 66 + 24 * len(programs)
    position = log_axis(p, 200, 590, top, bottom, 0.03, 20, (0.03, 0.1, 0.3, 1, 3, 10), "x")
    for i, program in enumerate(programs):
        y = top + 14 + 24 * i
        p.text(186, y + 4, program["name"], 12, INK, "end")
        best = program["systems"][program["best_peer"]]["microseconds"]
        for name in ("cupy", "torch", "inductor", "jax", "heddle-c++"):
            entry = program["systems"].get(name, {})
            if entry.get("correct"):
                x, color = position(entry["microseconds"] / best), SYSTEMS[name][1]
                if name.startswith("heddle"):
                    p.add(f'<path d="M{x:.1f} {y - 7} l7 7 l-7 7 l-7 -7 z" fill="{color}"/>')
                else:
                    p.add(f'<circle cx="{x:.1f}" cy="{y}" r="4.5" fill="{color}" fill-opacity="0.85"/>')
    p.text(210, bottom + 34, "left is faster; the line at 1x is the fastest other library for that program", 12, SOFT)
    return p


def first_call_chart():
    report = json.loads((RESULTS / "h200-peers-2026-11-23.json").read_text())["first_call_milliseconds"]
    p = Picture(760, 230)
    p.text(18, 26, "First call of a fresh process, milliseconds (one H200)", 15, bold=True)
    position = log_axis(p, 150, 520, 44, 180, 1, 10000, (1, 10, 100, 1000, 10000))
    for i, name in enumerate(("heddle-c++", "heddle", "jax", "inductor")):
        y = 52 + i * 32
        title, color = SYSTEMS[name]
        p.text(142, y + 16, title, 12.5, INK, "end")
        for j, kind in enumerate(("cold", "warm")):
            value = report[name][kind]
            p.box(150, y + j * 12, position(value) - 150, 11, color if kind == "warm" else color + "77", PAPER, 1)
            p.text(position(value) + 5, y + j * 12 + 10, f"{value:,.0f}" if value >= 10 else f"{value:.1f}", 10.5, SOFT)
    p.text(150, 218, "upper bar: empty cache; lower bar: what an earlier process compiled is on disk", 12, SOFT)
    return p


def functions_chart():
    report = json.loads((RESULTS / "cpu-functions-2026-11-23.json").read_text())
    ratios = defaultdict(list)
    for function in report["functions"]:
        ours, numpy = (function["systems"].get(name, {}) for name in ("heddle", "numpy"))
        if "microseconds" in ours and "microseconds" in numpy:
            key = (function["dtype"], int(float(function["size"])))
            ratios[key].append(numpy["microseconds"] / ours["microseconds"])
    dtypes = ("float16", "float32", "float64", "int32", "bool")
    p = Picture(820, 120 + 40 * len(dtypes))
    p.text(18, 26, "Every function on a two-core CPU: NumPy's time over Heddle's", 15, bold=True)
    p.text(18, 46, "each line is a function of 10⁷ elements, called from Python; right is faster", 12, SOFT)
    top, bottom = 60, 66 + 40 * len(dtypes)
    position = log_axis(p, 90, 700, top, bottom, 0.1, 300, (0.1, 0.3, 1, 3, 10, 30, 100, 300), "x")
    for i, dtype in enumerate(dtypes):
        y = top + 8 + 40 * i
        values = ratios[dtype, 10_000_000]
        p.text(82, y + 20, dtype, 12.5, INK, "end")
        for value in values:
            x = position(min(max(value, 0.1), 300))
            p.add(f'<line x1="{x:.1f}" y1="{y + 4}" x2="{x:.1f}" y2="{y + 28}" stroke="#c0392b" '
                  'stroke-opacity="0.35" stroke-width="2"/>')
        mean = math.exp(sum(map(math.log, values)) / len(values))
        p.add(f'<path d="M{position(mean):.1f} {y} l6 6 l-6 6 l-6 -6 z" fill="{INK}"/>')
    p.text(90, bottom + 36, "diamond: geometric mean. Values beyond the axis are drawn at its ends.", 12, SOFT)
    return p
