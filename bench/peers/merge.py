"""Joins the reports of several runs, for instance of the parts of one list:

    python -m peers.merge [--out DIR] DIR/peers.json ...

Prints what one run would print of all their programs. Of a program in several reports, the last one
counts. With --out, writes the joined peers.json and its chart there.
"""

import argparse
import json
import pathlib
import sys

from peers import chart, classes, distribution, report


def joined(reports):
    """One report: the facts of the first, and the rows of all."""
    rows = {row["name"]: row for each in reports for row in each["programs"]}
    not_run = [name for each in reports for name in each.get("not_run", []) if name not in rows]
    cards = sorted({each.get("gpu", each["processor"]) for each in reports})
    found = {**reports[0], "programs": list(rows.values()), "not_run": not_run, "machines": cards,
             "seconds": round(sum(each["seconds"] for each in reports), 1)}
    found["classes"] = classes.summaries(found["programs"])
    return found


def main(words):
    parser = argparse.ArgumentParser(prog="python -m peers.merge", description=__doc__)
    parser.add_argument("reports", nargs="+", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args(words)
    found = joined([json.loads(path.read_text()) for path in options.reports])
    rows = found["programs"]
    print(f"{len(rows)} programs on {', '.join(found['machines'])}, commit {found['commit'][:12]}; "
          f"not run: {', '.join(found['not_run']) or 'none'}\n")
    names = [name for name in report.TITLES if any(name in row["systems"] for row in rows)]
    report.print_heading(names)
    for row in rows:
        report.print_row(row, names)
    report.print_notes(rows, {})
    if all("source" in row for row in rows):
        distribution.print_distribution(rows)
    else:
        classes.print_summaries(rows)
    classes.print_first_calls(rows)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        report.write(options.out / "peers.json", found)
        print(chart.draw(options.out / "peers.json", options.out / "peers.svg"))


if __name__ == "__main__":
    main(sys.argv[1:])
