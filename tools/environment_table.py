#!/usr/bin/env python3
"""The table of environment variables in docs/reference/environment.md, from ir/base/environment.def.

    tools/environment_table.py [--check]   writes the page's table, or fails when it is stale
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/environment.md"
BEGIN, END = "<!-- variables: tools/environment_table.py -->\n", "<!-- end of variables -->\n"
TEXT = r'"(?:[^"\\]|\\.)*"'
ROW = re.compile(rf'HEDDLE_VARIABLE\(\w+,\s*({TEXT}),\s*.*?((?:{TEXT}\s*)+),\s*((?:{TEXT}\s*)+),'
                 rf'\s*((?:{TEXT}\s*)+)\)\n', re.S)


def variables():
    """The rows of environment.def: (name, values, default, meaning)."""
    text = (ROOT / "ir/base/environment.def").read_text()
    entries = re.split(r"^(?=HEDDLE_VARIABLE)", re.sub(r"^//.*\n", "", text, flags=re.M), flags=re.M)
    rows = [ROW.fullmatch(entry.strip() + "\n") for entry in entries if entry.strip()]
    assert all(rows), "environment.def has an entry of another form"
    return [tuple("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', cell)) for cell in row.groups())
            for row in rows]


def table():
    """The page's two tables, in Markdown."""
    lines = []
    for ours, title in ((True, "Heddle's variables"), (False, "Variables of other programs")):
        lines += ["", f"## {title}", "", "| variable | values | default | what it does |",
                  "| --- | --- | --- | --- |"]
        for name, values, default, meaning in variables():
            if name.startswith("HEDDLE_") == ours:
                lines.append(f"| `{name}` | {values} | {default} | {meaning} |")
    return "\n".join(lines) + "\n\n"


def page_with(text):
    """The page with those tables in their place."""
    page = PAGE.read_text()
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return page[:begin] + text + page[end:]


def main():
    """Writes the page's table, or checks it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail when the page is stale")
    arguments = parser.parse_args()
    wanted = page_with(table())
    if arguments.check:
        return 0 if PAGE.read_text() == wanted else 1
    PAGE.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
