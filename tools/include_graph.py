#!/usr/bin/env python3
"""Draws which folder includes which, across the five stages.

    tools/include_graph.py [--root FOLDER] OUTPUT.svg   the graph
    tools/include_graph.py [--root FOLDER] --table      folders and long files, as Markdown

A node is a subfolder of a stage, or the stage itself for files directly in it. Each row in a node
is an edge: the included folder, and the number of includes. Stages are drawn from left to right; a
stage may include only stages to its left. Within a stage, a folder is below the folders that it
includes. A red edge violates this order. If folders of a stage include each other in a cycle, the
order is chosen so that few includes violate it. Reads the tree at FOLDER, which may be an old
checkout.
"""

import argparse
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

STAGES = ["ir", "passes", "codegen", "runtime", "frontend"]
COLORS = {"ir": "#4c78a8", "passes": "#2a9d8f", "codegen": "#8a6fb0", "runtime": "#b8860b",
          "frontend": "#7a7a7a"}
WRONG = "#d62728"
PUBLIC = ["ir/include", "frontend/include"]  # search path for includes of "heddle/x.h"
SOURCES = {".h", ".cpp", ".def", ".py", ".js", ".css", ".html"}
LONG = 400  # lines
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)

MARGIN, WIDTH, GAP, COLUMN_GAP = 24, 190, 16, 150
TOP, HEAD, ROW = 92, 36, 13


@dataclass
class Folder:
    name: str
    files: dict = field(default_factory=dict)  # path -> lines
    includes: Counter = field(default_factory=Counter)  # other folder -> number of includes

    @property
    def stage(self):
        return self.name.split("/")[0]

    @property
    def lines(self):
        return sum(self.files.values())


def folder_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def resolve(root, include):
    """The path of an included file of the stages; None for other files."""
    for folder in ["."] + PUBLIC:
        path = (Path(folder) / include).as_posix()
        if path.split("/")[0] in STAGES and (root / path).is_file():
            return path
    return None


def read_tree(root):
    folders = {}
    for stage in STAGES:
        for file in sorted((root / stage).rglob("*")):
            if file.suffix not in SOURCES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            name = folder_of(path)
            folder = folders.setdefault(name, Folder(name))
            text = file.read_text(encoding="utf-8")
            folder.files[path] = text.count("\n")
            if file.suffix not in {".h", ".cpp", ".def"}:
                continue
            for include in INCLUDE.findall(text):
                target = resolve(root, include)
                if target and folder_of(target) != name:
                    folder.includes[folder_of(target)] += 1
    return folders


def ordered(folders):
    """Sorts the folders of one stage so that each comes after those that it includes, as far as
    possible."""
    left = {folder.name: folder for folder in folders}
    used = Counter()
    for folder in folders:
        used.update({name: count for name, count in folder.includes.items() if name in left})
    order = []
    while left:
        missing = {name: sum(folder.includes[other] for other in left if other != name)
                   for name, folder in left.items()}
        order.append(left.pop(min(left, key=lambda name: (missing[name], -used[name], name))))
    return order


@dataclass
class Box:
    folder: Folder
    position: int  # index in the order of all folders
    x: float
    y: float
    rows: list  # (name of the included folder, number of includes), in the order of the folders

    @property
    def height(self):
        return HEAD + ROW * len(self.rows) + (6 if self.rows else 0)

    def row(self, index):
        return self.y + HEAD + ROW * (index + 0.5)


def place(folders):
    """Lays out the boxes; returns them by folder, and the size of the drawing."""
    stages = defaultdict(list)
    for folder in folders.values():
        stages[folder.stage].append(folder)
    order = [folder for stage in STAGES for folder in ordered(stages[stage])]
    positions = {folder.name: i for i, folder in enumerate(order)}
    boxes, bottom = {}, 0
    next_y = dict.fromkeys(STAGES, TOP)
    for folder in order:
        rows = sorted(folder.includes.items(), key=lambda row: positions[row[0]])
        x = MARGIN + STAGES.index(folder.stage) * (WIDTH + COLUMN_GAP) + GAP * 3
        box = Box(folder, positions[folder.name], x, next_y[folder.stage], rows)
        boxes[folder.name] = box
        next_y[folder.stage] += box.height + GAP
        bottom = max(bottom, next_y[folder.stage])
    width = 2 * MARGIN + len(STAGES) * (WIDTH + COLUMN_GAP) - COLUMN_GAP + GAP * 3
    return boxes, width, bottom + MARGIN


def number(value):
    return f"{value:.1f}".removesuffix(".0")


def text(x, y, content, **attributes):
    style = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{number(x)}" y="{number(y)}"{style}>{escape(content)}</text>'


def draw_edge(source, index, target, count):
    wrong = target.position > source.position
    x, y = source.x, source.row(index)
    end_y = target.y + HEAD / 2
    if target.x < source.x:
        end_x, bend = target.x + WIDTH, max(60, (source.x - target.x - WIDTH) / 2)
        points = (x - bend, y, end_x + bend, end_y, end_x, end_y)
    else:
        # For a target in the same column or further right: from the left side to the target's left
        # side.
        end_x, bend = target.x, 22 + min(40, abs(end_y - y) / 12)
        points = (x - bend, y, end_x - bend, end_y, end_x, end_y)
    curve = "M{} {}C{} {} {} {} {} {}".format(*map(number, (x, y) + points))
    color = WRONG if wrong else COLORS[target.folder.stage]
    width = min(4, 0.8 + count / 20)
    opacity = 0.9 if wrong else 0.6
    name = f"{source.folder.name} includes {target.folder.name}: {count}"
    return (f'<path d="{curve}" stroke="{color}" stroke-width="{number(width)}" '
            f'opacity="{opacity}"><title>{name}</title></path>')


def shown(name, stage):
    """The displayed name of a folder in the column of `stage`."""
    return name.removeprefix(stage + "/") if "/" in name else name + " (flat)"


def draw_box(box, boxes):
    folder, stage = box.folder, box.folder.stage
    parts = [
        (f'<rect x="{number(box.x)}" y="{number(box.y)}" width="{WIDTH}" '
         f'height="{number(box.height)}" rx="4" fill="#fff" stroke="{COLORS[stage]}"/>'),
        text(box.x + 8, box.y + 15, shown(folder.name, stage), font_size=13, font_weight="bold"),
        text(box.x + 8, box.y + 29, f"{len(folder.files)} files, {folder.lines:,} lines",
             fill="#555"),
    ]
    for i, (name, count) in enumerate(box.rows):
        target = boxes[name]
        wrong = target.position > box.position
        color = WRONG if wrong else COLORS[target.folder.stage]
        y = box.row(i) + 4
        parts.append(text(box.x + 8, y, shown(name, stage), fill=color))
        parts.append(text(box.x + WIDTH - 8, y, str(count), fill=color, text_anchor="end"))
    return parts


def draw(folders, title):
    boxes, width, height = place(folders)
    edges, wrong, includes = [], 0, 0
    for box in boxes.values():
        for i, (name, count) in enumerate(box.rows):
            target = boxes[name]
            edges.append((target.position > box.position, draw_edge(box, i, target, count)))
            includes += count
            wrong += count if target.position > box.position else 0
    edges.sort(key=lambda edge: edge[0])  # draw red edges last, above the others
    out = [
        (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" '
         f'width="{number(width)}" height="{number(height)}" font-family="sans-serif" '
         'font-size="11">'),
        f'<rect width="{number(width)}" height="{number(height)}" fill="#fff"/>',
        text(MARGIN + GAP * 3, 28, title, font_size=17, font_weight="bold"),
        text(MARGIN + GAP * 3, 46,
             f"{len(boxes)} folders, {len(edges)} edges, {includes:,} includes between folders; "
             f"red: {sum(edge[0] for edge in edges)} edges, {wrong} includes against the order. "
             "A row is a folder that is included, and how often.", fill="#555"),
    ]
    for i, stage in enumerate(STAGES):
        x = MARGIN + i * (WIDTH + COLUMN_GAP) + GAP * 3
        mine = [folder for folder in folders.values() if folder.stage == stage]
        out.append(text(x, TOP - 24, stage, font_size=15, font_weight="bold", fill=COLORS[stage]))
        out.append(text(x, TOP - 9, f"{sum(len(folder.files) for folder in mine)} files, "
                                    f"{sum(folder.lines for folder in mine):,} lines", fill="#555"))
    out.append('<g fill="none">')
    out += [edge for _, edge in edges]
    out.append("</g>")
    for box in boxes.values():
        out += draw_box(box, boxes)
    return "\n".join(out + ["</svg>", ""])


def table(folders):
    rows = ["| folder | files | lines |", "|---|--:|--:|"]
    rows += [f"| `{folder.name}/` | {len(folder.files)} | {folder.lines:,} |"
             for folder in folders.values()]
    files = sum(len(folder.files) for folder in folders.values())
    lines = sum(folder.lines for folder in folders.values())
    rows += [f"| all | {files} | {lines:,} |", "", f"Files of more than {LONG} lines:", ""]
    long = sorted(((count, path) for folder in folders.values()
                   for path, count in folder.files.items() if count > LONG), reverse=True)
    rows += ["| file | lines |", "|---|--:|"] if long else ["none"]
    rows += [f"| `{path}` | {count} |" for count, path in long]
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", nargs="?", type=Path, help="the SVG to write")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent,
                        help="the source tree to read (default: this one)")
    parser.add_argument("--title", default="Includes between folders")
    parser.add_argument("--table", action="store_true", help="print folders and long files")
    arguments = parser.parse_args()
    if not arguments.output and not arguments.table:
        parser.error("name an output, or give --table")
    folders = read_tree(arguments.root)
    if not folders:
        parser.error(f"{arguments.root} has none of the folders {', '.join(STAGES)}")
    if arguments.output:
        arguments.output.write_text(draw(folders, arguments.title), encoding="utf-8")
    if arguments.table:
        print(table(folders))


if __name__ == "__main__":
    main()
