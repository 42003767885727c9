"""Prints a GPU run's report as JSON: report.py suite TEST.xml | bench FILE.json ... | sanitize LOG ...

Every report contains the commit, the driver and the GPU.
"""

import datetime
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def machine():
    name, driver = output_of(
        "nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"
    ).split(", ")
    commit = pathlib.Path(".commit")
    return {
        "commit": commit.read_text().strip() if commit.exists() else "unknown",
        "gpu": name,
        "driver": driver,
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


def suite(path):
    tests = []
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        test = {
            "name": case.get("name"),
            "passed": case.get("status") == "run",
            "seconds": float(case.get("time")),
        }
        if not test["passed"]:
            test["output"] = (case.findtext("system-out") or "")[-4000:]
        tests.append(test)
    return {
        "passed": sum(t["passed"] for t in tests),
        "failed": sum(not t["passed"] for t in tests),
        "seconds": round(sum(t["seconds"] for t in tests), 3),
        "tests": tests,
    }


def bench(*paths):
    return {"benches": {pathlib.Path(p).stem: json.loads(pathlib.Path(p).read_text()) for p in paths}}


def sanitize(*paths):
    return {"logs": {pathlib.Path(p).stem: pathlib.Path(p).read_text().splitlines()[-20:] for p in paths}}


if __name__ == "__main__":
    kinds = {"suite": suite, "bench": bench, "sanitize": sanitize}
    print(json.dumps(machine() | kinds[sys.argv[1]](*sys.argv[2:]), indent=1))
