#!/usr/bin/env python3
"""Draws the pictures of README.md and docs/: diagrams of the design, and charts of measured results.

    tools/draw_documents.py [--check]   writes docs/pictures/*.svg, or fails when one is stale
"""

import argparse
import sys
from pathlib import Path

from charts import first_call_chart, functions_chart, peers_chart
from picture import INK, LINE, PAPER, SOFT, Picture

PICTURES = Path(__file__).resolve().parent.parent / "docs/pictures"

STAGES = {"frontend": "#7a7a7a", "ir": "#4c78a8", "passes": "#2a9d8f", "codegen": "#8a6fb0",
          "runtime": "#b8860b"}
THREADS = ["#4c78a8", "#e39b4f", "#2a9d8f", "#b5567a", "#8a6fb0", "#7f8c4f", "#c9b037", "#6aa5b8"]
EMPTY = "#eef2f5"


def pipeline():
    p = Picture(900, 300)
    steps = [("frontend", "record", "y = tanh(x @ w + b)\nnodes of expressions;\nnothing runs"),
             ("ir", "graph", "ir::Graph: flat SSA,\nequal nodes are one,\nsymbolic extents"),
             ("passes", "plan", "simplify, resolve views,\nfuse into groups, give\neach loops and threads"),
             ("codegen", "print", "one plan, two printers:\nCUDA C++, and\nC++ for the CPU"),
             ("runtime", "run", "compile or take from\nthe cache; memory,\nstreams, CUDA graphs")]
    for i, (stage, verb, words) in enumerate(steps):
        x = 18 + i * 176
        p.box(x, 40, 158, 128, PAPER, STAGES[stage])
        p.box(x, 40, 158, 30, STAGES[stage], STAGES[stage])
        p.text(x + 10, 60, verb, 14, PAPER, bold=True)
        p.text(x + 148, 60, stage + "/", 12, PAPER, "end", mono=True)
        p.text(x + 10, 94, words, 12)
        if i:
            p.arrow(x - 16, 104, x - 2, 104)
    p.text(18, 26, "From a line of NumPy to a launch", 15, bold=True)
    p.box(18, 196, 862, 86, "#f6f8fa", LINE)
    p.text(34, 219, "once for each new program", 12.5, SOFT)
    p.text(34, 241, "record → graph → plan → print → compile", 13, mono=True)
    p.text(420, 219, "each further time", 12.5, SOFT)
    p.text(420, 241, "record → look up → launch", 13, mono=True)
    p.text(660, 219, "each further jitted call", 12.5, SOFT)
    p.text(660, 241, "look up → launch", 13, mono=True)
    p.text(34, 268, "In another process, the compiled program comes from the cache on disk.", 12.5, SOFT)
    return p


def recording():
    p = Picture(760, 240)
    p.text(18, 26, "Recording: nodes, and a graph when a value is needed", 15, bold=True)
    code = ["x = hd.ones((n, 4))", "y = hd.exp(x - x.max())", "y[0] = 0", "print(y)"]
    for i, line in enumerate(code):
        p.box(18, 46 + i * 44, 210, 32, "#f6f8fa", LINE)
        p.text(28, 67 + i * 44, line, 12.5, mono=True)
    nodes = [("ones", 300, 62), ("max", 400, 40), ("subtract", 470, 84), ("exp", 585, 84), ("slice_update", 560, 150)]
    where = {}
    for name, x, y in nodes:
        width = 20 + 7.4 * len(name)
        p.box(x, y, width, 26, "#eaf1f8", STAGES["ir"], 13)
        p.text(x + width / 2, y + 17.5, name, 12.5, anchor="middle", mono=True)
        where[name] = (x, y, width)
    for a, b in (("ones", "max"), ("ones", "subtract"), ("max", "subtract"), ("subtract", "exp")):
        p.arrow(where[a][0] + where[a][2], where[a][1] + 13, where[b][0] - 1, where[b][1] + 13)
    p.arrow(605, 110, 612, 148)
    p.text(300, 200, "Writing makes a new value; y names it from then on.", 12.5, SOFT)
    p.text(300, 218, "So everything before print(y) is one graph.", 12.5, SOFT)
    p.arrow(228, 194, 292, 194, dashed=True)
    return p


def fusing():
    p = Picture(760, 300)
    p.text(18, 26, "Grouping goes from the outputs back", 15, bold=True)
    chain = [("slice", "x[1:]", 40, 60, True), ("multiply", "", 150, 60, False), ("max", "", 270, 60, False),
             ("subtract", "", 370, 60, False), ("exp", "", 500, 60, False), ("sum", "", 585, 60, False), ("divide", "", 660, 60, False)]
    p.box(140, 46, 610, 54, "#e8f5f3", STAGES["passes"], 8, dashed=True)
    p.text(160, 118, "group 0: a normalisation. Rows are the outer loops; max and sum run over the inner ones.", 12.5, SOFT)
    for i, (name, note, x, y, view) in enumerate(chain):
        width = 18 + 7.4 * len(name)
        p.box(x, y, width, 26, "#f6f8fa" if view else PAPER, LINE if view else STAGES["passes"], 13, view)
        p.text(x + width / 2, y + 17.5, name, 12.5, anchor="middle", mono=True)
        if i:
            previous = chain[i - 1]
            p.arrow(previous[2] + 18 + 7.4 * len(previous[0]), 73, x - 1, 73)
    p.text(24, 118, "a view: only\nan index map", 12.5, SOFT)
    p.box(40, 170, 190, 104, "#f6f8fa", LINE)
    p.text(52, 190, "index map", 12.5, bold=True)
    p.text(52, 212, "x[1:] at (i, j)\n  = x at (i + 1, j)", 12.5, mono=True)
    p.text(52, 258, "no kernel, no copy", 12.5, SOFT)
    p.box(290, 170, 190, 104, "#f6f8fa", LINE)
    p.text(302, 190, "instructions", 12.5, bold=True)
    p.text(302, 212, "v0 = load x[i+1, j]\nv1 = multiply v0, 2\nv2 = reduce max v1 ...", 12.5, mono=True)
    p.box(540, 170, 200, 104, "#f6f8fa", LINE)
    p.text(552, 190, "kernel plan", 12.5, bold=True)
    p.text(552, 212, "mapping rows\n64 threads a row\nvectors of 4\nheld in registers", 12.5, mono=True)
    p.arrow(230, 222, 288, 222)
    p.arrow(480, 222, 538, 222)
    p.text(259, 214, "lower", 11.5, SOFT, "middle")
    p.text(509, 214, "plan", 11.5, SOFT, "middle")
    return p


def printing():
    p = Picture(760, 250)
    p.text(18, 26, "One plan, two texts", 15, bold=True)
    p.box(18, 84, 160, 76, "#e8f5f3", STAGES["passes"])
    p.text(98, 118, "KernelPlan", 13.5, anchor="middle", bold=True)
    p.text(98, 138, "decided in passes/", 12, SOFT, "middle")
    rows = [("codegen/cuda/", "CUDA C++", "over the device library,\nno header of CUDA's", "NVRTC → cubin", 44),
            ("codegen/host/", "C++", "loops over vectors,\nlibmvec, threads", "c++ → .so", 134)]
    for folder, language, words, result, y in rows:
        p.box(250, y, 250, 76, "#f1edf7", STAGES["codegen"])
        p.text(264, y + 22, language, 13.5, bold=True)
        p.text(488, y + 22, folder, 12, SOFT, "end", mono=True)
        p.text(264, y + 43, words, 12.5)
        p.box(570, y + 18, 170, 40, "#fbf5e6", STAGES["runtime"])
        p.text(655, y + 43, result, 13, anchor="middle", mono=True)
        p.arrow(178, 122, 248, y + 38)
        p.arrow(500, y + 38, 568, y + 38)
    p.text(18, 236, "ir/scalar/ says what each op means: one text for NVRTC, the CPU's compiler and the library.", 12, SOFT)
    return p


def running():
    p = Picture(760, 270)
    p.text(18, 26, "From a call to a launch", 15, bold=True)
    layers = [("program in memory?", "found by structure: graph, shapes, device", 50),
              ("program on disk?", "found by a hash of everything that decides it", 112),
              ("compile", "all kernels of the program in parallel", 174)]
    for name, words, y in layers:
        p.box(18, y, 340, 50, "#fbf5e6", STAGES["runtime"])
        p.text(32, y + 21, name, 13, bold=True)
        p.text(32, y + 39, words, 12, SOFT)
    for y in (100, 162):
        p.arrow(60, y, 60, y + 11)
        p.text(70, y + 11, "no", 11.5, SOFT)
    p.box(450, 50, 294, 174, PAPER, STAGES["runtime"])
    p.text(464, 72, "launch", 13, bold=True)
    p.text(464, 96, "1. outputs and temporaries from the pool\n2. wait for streams that still write inputs\n"
           "3. kernels, fills, library calls\n4. from the third call on: one CUDA graph,\n"
           "    with addresses and scalars patched", 12)
    p.text(464, 206, "A jitted call goes from its signature to here.", 12, SOFT)
    for y, label in ((75, "yes"), (137, "yes: load"), (199, "store, load")):
        p.arrow(358, y, 448, 137 if y != 137 else y)
        p.text(372, y - 5 if y < 190 else y + 17, label, 11.5, SOFT)
    p.text(18, 254, "A machine without a compiler interprets the graph. Errors leave arrays as they were.", 12, SOFT)
    return p


def thread(i):
    return THREADS[i % len(THREADS)]


def elements():
    p = Picture(760, 190)
    p.text(18, 26, "elements: a thread takes neighbours along the last loop", 15, bold=True)
    p.cells(18, 64, 32, 1, lambda r, c: thread(c // 4), 22, lambda r, c: f"t{c // 4}" if c % 4 == 0 else "")
    p.text(18, 56, "an array of 32 elements, 4 bytes each", 12, SOFT)
    p.arrow(18, 106, 104, 106, head=False)
    p.text(18, 122, "one access of 16 bytes", 12)
    p.text(18, 154, "A block has 256 threads. A thread computes all operations of the group for its elements, and writes the\n"
           "results as a vector. Where neighbours read the same, as in a stencil, a thread takes several and shares loads.", 12.5, SOFT)
    return p


def tiles():
    p = Picture(760, 306)
    p.text(18, 26, "tiles: reads and writes go along different axes", 15, bold=True)
    inside = lambda r, c: 2 <= r < 4 and 4 <= c < 6
    p.text(18, 56, "what is read", 12, SOFT)
    p.cells(18, 64, 8, 6, lambda r, c: thread(r - 2) if inside(r, c) else EMPTY, 22)
    p.text(296, 78, "a tile in shared memory", 12, SOFT)
    p.cells(316, 88, 4, 4, lambda r, c: thread(r // 2), 22)
    p.text(530, 56, "what is written", 12, SOFT)
    p.cells(530, 64, 6, 8, lambda r, c: thread(c - 2) if 4 <= r < 6 and 2 <= c < 4 else EMPTY, 22)
    p.arrow(200, 130, 308, 130)
    p.text(254, 122, "rows of the input", 11.5, SOFT, "middle")
    p.arrow(410, 130, 522, 130)
    p.text(466, 122, "rows of the result", 11.5, SOFT, "middle")
    p.text(18, 266, "Both sides touch whole lines of memory. The real tile is 32 x 32 or more, with a pitch that avoids bank conflicts.\n"
           "All of a tile is loaded before the first element is waited for.", 12.5, SOFT)
    return p


def rows():
    p = Picture(760, 260)
    p.text(18, 26, "rows: a group of threads reduces a row", 15, bold=True)
    p.text(18, 56, "inner loop: a row of 32 elements", 12, SOFT)
    p.cells(18, 64, 32, 3, lambda r, c: thread(c // 2 % 4 + (0 if r == 0 else 4 if r == 1 else 0)), 16)
    p.text(18, 132, "4 threads a row, vectors of 2: each walks the row in steps of 8 elements", 12, SOFT)
    for i in range(4):
        p.box(560 + i * 46, 66, 40, 22, thread(i), PAPER, 3)
        p.text(580 + i * 46, 81, f"s{i}", 11, PAPER, "middle")
    for i, (a, b) in enumerate(((0, 1), (2, 3))):
        p.box(560 + i * 92 + 23, 108, 40, 22, "#dde5ec", LINE, 3)
        for j in (a, b):
            p.arrow(580 + j * 46, 88, 603 + i * 92, 107)
        p.arrow(603 + i * 92, 130, 649, 149)
    p.box(629, 150, 40, 22, INK, INK, 3)
    p.text(649, 165, "sum", 11, PAPER, "middle")
    p.text(560, 56, "states are combined in a tree", 12, SOFT)
    p.text(18, 204, "1 to 1,024 threads share a row: short rows take one thread, a warp takes several. Up to 32 threads combine by\n"
           "shuffles, more through shared memory. The order is fixed, so floats come out equal in every run.", 12.5, SOFT)
    return p


def normalization():
    p = Picture(760, 300)
    p.text(18, 26, "normalization: a row is read once, reduced, and used again", 15, bold=True)
    names = [("load", "once"), ("max", "pass 0"), ("exp, sum", "pass 1"), ("divide, store", "pass 2")]
    p.box(176, 58, 560, 64, "#f6f8fa", LINE)
    p.text(188, 76, "registers hold the row between the passes", 12, SOFT)
    for i, (name, note) in enumerate(names):
        x = 34 + i * 180
        if i == 0:
            x = 34
        p.box(x, 86, 120, 28, "#e8f5f3" if i else "#eaf1f8", STAGES["passes"] if i else STAGES["ir"], 4)
        p.text(x + 60, 105, name, 12.5, anchor="middle", mono=True)
        p.text(x + 60, 136, note, 11.5, SOFT, "middle")
        if i:
            p.arrow(x - 58, 100, x - 2, 100)
    p.text(18, 172, "a row too long for one block: a cluster of up to 16 blocks, each with a part", 12.5, SOFT)
    for i in range(4):
        p.box(18 + i * 160, 182, 150, 30, thread(i), PAPER, 4)
        p.text(93 + i * 160, 201, f"block {i}: registers", 11.5, PAPER, "middle")
    for i in range(3):
        p.arrow(100 + i * 160, 213, 250 + i * 160, 229, dashed=True)
        p.arrow(250 + i * 160, 213, 100 + i * 160, 229, dashed=True)
    p.box(18, 230, 630, 24, "#dde5ec", LINE)
    p.text(333, 246, "each pushes its state into the others' shared memory, and counts the bytes that come", 11.5, anchor="middle")
    p.text(18, 282, "A softmax of any row that a cluster can hold reads and writes memory once.", 12.5, SOFT)
    return p


def columns():
    p = Picture(760, 270)
    p.text(18, 26, "columns: the reduced axis is not the one that is contiguous", 15, bold=True)
    p.cells(18, 60, 12, 8, lambda r, c: thread(c // 2 + (6 if r % 2 else 0)), 18)
    p.text(18, 222, "neighbouring threads take neighbouring columns, 2 each; two sets of threads share the rows", 12, SOFT)
    p.text(300, 80, "states of 2 x 6 threads", 12, SOFT)
    for y in range(2):
        for c in range(6):
            p.box(300 + c * 44, 90 + y * 30, 40, 24, thread(c + 6 * y), PAPER, 3)
    for c in range(6):
        p.arrow(320 + c * 44, 145, 320 + c * 44, 163)
        p.box(300 + c * 44, 164, 40, 22, INK, INK, 3)
    p.text(580, 108, "through shared\nmemory, in a tree", 12, SOFT)
    p.text(580, 178, "one result a column", 12, SOFT)
    p.text(18, 250, "Each access is a whole line of memory. Columns that are used again stay in registers, as rows do.", 12.5, SOFT)
    return p


def split():
    p = Picture(760, 230)
    p.text(18, 26, "split: few and long reductions take two kernels", 15, bold=True)
    for i in range(6):
        p.box(18 + i * 104, 56, 100, 28, thread(i), PAPER, 3)
        p.text(68 + i * 104, 75, f"block {i}", 11.5, PAPER, "middle")
        p.arrow(68 + i * 104, 84, 68 + i * 104, 106)
        p.box(48 + i * 104, 108, 40, 22, thread(i), PAPER, 3)
        p.text(68 + i * 104, 123, "state", 10, PAPER, "middle")
        p.arrow(68 + i * 104, 130, 330, 158)
    p.text(650, 75, "kernel 1", 12.5, SOFT)
    p.text(650, 123, "in memory", 12.5, SOFT)
    p.box(270, 160, 120, 26, INK, INK, 3)
    p.text(330, 178, "combined in order", 11, PAPER, "middle")
    p.text(650, 178, "kernel 2", 12.5, SOFT)
    p.text(18, 214, "No float is added by an atomic, so the result is the same in every run.", 12.5, SOFT)
    return p


def scan():
    p = Picture(760, 270)
    p.text(18, 26, "scan: one kernel that reads once and writes once", 15, bold=True)
    for i in range(6):
        x = 18 + i * 122
        p.box(x, 56, 112, 30, thread(i), PAPER, 3)
        p.text(x + 56, 75, f"tile {i}", 11.5, PAPER, "middle")
        p.box(x + 26, 112, 60, 24, PAPER, thread(i), 3)
        p.text(x + 56, 128, f"total {i}", 11, anchor="middle")
        p.arrow(x + 56, 86, x + 56, 110)
    for i, (a, b) in enumerate(((0, 1), (2, 3), (4, 5))):
        middle = 18 + (a + b) / 2 * 122 + 56
        p.box(middle - 38, 160, 76, 24, "#dde5ec", LINE, 3)
        p.text(middle, 176, f"totals {a}–{b}", 11, anchor="middle")
        for j in (a, b):
            p.arrow(18 + j * 122 + 56, 136, middle + (j - a) * 16 - 8, 158)
    p.text(18, 216, "A block scans its tile in registers, publishes what it comes to, looks back through a tree of fixed shape for what\n"
           "is before it, and writes. Blocks take tickets, so none waits for one that has not begun. The fixed shape makes\n"
           "floats equal in every run. Rows that fit a block need no looking back.", 12.5, SOFT)
    return p


def scatter():
    p = Picture(760, 220)
    p.text(18, 26, "scatter: values go to where their indices say", 15, bold=True)
    keys = [2, 0, 2, 5, 1, 2, 5, 0]
    p.text(18, 74, "index", 12, SOFT)
    p.cells(90, 58, 8, 1, lambda r, c: thread(keys[c]), 26, lambda r, c: str(keys[c]))
    p.text(18, 164, "result", 12, SOFT)
    p.cells(90, 148, 8, 1, lambda r, c: thread(c) if c in keys else EMPTY, 26)
    for i, key in enumerate(keys):
        p.arrow(103 + i * 26, 84, 103 + key * 26, 146)
    p.text(340, 78, "An earlier step writes zeros. Then each thread adds its value\n(or takes the maximum) with an atomic.\n\n"
           "Only integers are scattered, so the order of the threads does\nnot show. Sums of floats by index are made by a sort\n"
           "and a segmented sum.", 12.5, SOFT)
    return p


def sort():
    p = Picture(760, 270)
    p.text(18, 26, "sort by digits: one kernel counts, one kernel a digit moves", 15, bold=True)
    p.box(18, 52, 150, 40, "#fbf5e6", STAGES["runtime"])
    p.text(93, 77, "count all digits", 12.5, anchor="middle")
    for i in range(3):
        x = 220 + i * 180
        p.box(x, 52, 150, 40, "#f1edf7", STAGES["codegen"])
        p.text(x + 75, 77, f"pass of digit {i}", 12.5, anchor="middle")
        p.arrow(x - 50 if i == 0 else x - 30, 72, x - 2, 72)
    p.text(18, 124, "inside a pass, for each tile:", 12.5, SOFT)
    steps = ["keys in registers,\n28 a thread", "rank of equal digits\nin the tile", "look back: how many\nin earlier tiles", "move to shared memory,\nthen out in runs"]
    for i, words in enumerate(steps):
        x = 18 + i * 184
        p.box(x, 136, 164, 50, "#f6f8fa", LINE)
        p.text(x + 82, 157, words, 12, anchor="middle")
        if i:
            p.arrow(x - 20, 161, x - 2, 161)
    p.text(18, 218, "Where it is estimated to be faster, blocks sort tiles instead, and passes merge neighbouring runs. Short rows\n"
           "share a block. Only integers are added by atomics, so runs are equal bit by bit.", 12.5, SOFT)
    return p


def host():
    p = Picture(760, 230)
    p.text(18, 26, "on the CPU: the same plans, other loops", 15, bold=True)
    p.text(18, 56, "rows: a thread of the pool takes whole rows, or a part of a long one", 12, SOFT)
    p.cells(18, 64, 32, 4, lambda r, c: thread(0 if r < 2 else 1), 12)
    p.text(420, 76, "a row is walked in vectors of the\nprocessor's width, with several\nstates side by side", 12.5, SOFT)
    p.text(18, 140, "columns: a thread takes a run of columns and walks the rows", 12, SOFT)
    p.cells(18, 148, 32, 4, lambda r, c: thread(0 if c < 16 else 1), 12)
    p.text(420, 160, "sums combine in one order that follows\nfrom the extents alone, whatever is\nfused and however many threads run", 12.5, SOFT)
    p.text(18, 220, "Elements and tiles are loops over ranges and small local blocks.", 12, SOFT)
    return p


def items():
    p = Picture(760, 384)
    p.text(18, 26, "items: calls on the items of a batch, in fast memory", 15, bold=True)
    chain = [("elements", "load x, w\nx * w"), ("routine", "rfft_item"), ("elements", "load h\nv * h"),
             ("routine", "irfft_item"), ("elements", "v / n\nstore y")]
    p.text(18, 52, "the phases of a convolution; all threads finish one before the next begins", 12, SOFT)
    for i, (kind, words) in enumerate(chain):
        x, elements = 18 + i * 148, kind == "elements"
        color = STAGES["passes" if elements else "codegen"]
        p.box(x, 62, 132, 68, "#e8f5f3" if elements else "#f1edf7", color)
        p.text(x + 10, 81, kind, 12.5, bold=True)
        p.text(x + 10, 101, words, 12, mono=True)
        if i:
            p.arrow(x - 16, 96, x - 2, 96)
    p.text(232, 163, "memory", 12, SOFT, "middle")
    p.text(18, 196, "shared memory of an item", 12, SOFT)
    for i, name in ((0, "x, w"), (2, "h"), (4, "y")):
        x = 84 + i * 148
        p.box(x - 40, 148, 80, 22, "#dde5ec", LINE, 3)
        p.text(x, 163, name, 11.5, anchor="middle", mono=True)
        p.arrow(x, *((130, x, 146) if i == 4 else (148, x, 132)))
    for left, width, name in ((18, 340, "operand and result of the first call"), (402, 340, "of the second call")):
        p.box(left, 204, width, 22, "#fbf5e6", STAGES["runtime"], 3)
        p.text(left + width / 2, 219, name, 11.5, anchor="middle")
    p.arrow(358, 215, 400, 215)
    p.text(18, 260, "elements: all threads of a block, all its items", 12, SOFT)
    p.cells(18, 268, 16, 2, lambda r, c: thread((c + 16 * r) % 8), 20)
    p.text(402, 260, "routine: 4 threads for each item, in their own order", 12, SOFT)
    p.cells(402, 268, 16, 2, lambda r, c: thread(c % 4 + 4 * r), 20)
    p.text(18, 336, "Neither x * w nor the spectra are stored. Along another axis than the last, neighbours in memory belong to\n"
           "neighbouring items. Then elements go across the items, and a block takes enough of them to fill lines of memory.\n"
           "On the CPU, an item lies on the stack of one thread.", 12.5, SOFT)
    return p


DRAWINGS = {f.__name__.replace("_", "-"): f for f in (
    pipeline, recording, fusing, printing, running, elements, tiles, rows, normalization, columns, split, scan, items,
    scatter, sort, host, peers_chart, first_call_chart, functions_chart)}


def main():
    """Draws all pictures, or checks them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail when a picture is stale")
    arguments = parser.parse_args()
    stale = []
    for name, draw in DRAWINGS.items():
        path, text = PICTURES / f"{name}.svg", draw().svg()
        if not path.exists() or path.read_text() != text:
            stale.append(path.name)
            if not arguments.check:
                path.write_text(text)
    if stale and arguments.check:
        print("stale: " + ", ".join(stale))
    return 1 if stale and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
