"""How Heddle plans the programs for a GPU that need not be there:

    python -m peers.plans [--target sm_90] [--scale N] [--fields NAMES] [--only PATTERN]
        [--random FIRST:COUNT] [--out FILE]

Prints a line a program: the steps, the bytes moved over the fewest possible, and of the kernels the
most registers and the bytes of local memory, where NVRTC is there to compile them. The programs that
move the most come last.
"""

import argparse
import json
import pathlib
import sys

from peers import generator, programs


def plan_of(heddle, program, target):
    """The facts that `explain` gives of a program, without any data."""
    heddle.set_matmul_precision("tf32" if program.tf32 else "ieee")
    function = heddle.jit(program.bind(heddle, "heddle"), approximate=program.approximate)
    shapes = [heddle.spec(tuple(each.shape), each.dtype) for each in program.inputs]
    explained = json.loads(function.lower(*shapes).explain(target, "json"))
    resources = [kernel.get("resources") or {} for kernel in explained["kernels"]]
    return {"name": program.name, "field": program.field, "class": program.kind,
            "kernels": sum(step["kind"] == "kernel" for step in explained["steps"]),
            "calls": [step["kind"] for step in explained["steps"] if step["kind"] != "kernel"],
            "families": [kernel["family"] for kernel in explained["kernels"]],
            "bytes_moved": explained["bytes_moved"]["value"],
            "fewest_bytes": explained["fewest_bytes"]["value"],
            "over_fewest": explained["bytes_over_fewest"],
            "registers": max((each.get("registers", 0) for each in resources), default=0),
            "local_bytes": max((each.get("local_bytes", 0) for each in resources), default=0)}


def print_plan(plan):
    kernels = [f"{plan['kernels']} kernel" + ("s" if plan["kernels"] > 1 else "")]
    steps = ", ".join((kernels if plan["kernels"] else []) + plan["calls"])
    local = f"  {plan['local_bytes']} bytes of local memory" if plan["local_bytes"] else ""
    print(f"{plan['name']:<36}{plan['class']:<11}{steps:<30}{plan['fewest_bytes'] / 1e6:>10.1f} MB"
          f"{plan['over_fewest']:>8.2f}{plan['registers']:>6}{local}", flush=True)


def arguments(words):
    parser = argparse.ArgumentParser(prog="python -m peers.plans", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--fields", default="")
    parser.add_argument("--only", default="", help="separate several by |")
    parser.add_argument("--random", metavar="FIRST:COUNT", nargs="?", const="0:200")
    parser.add_argument("--out", type=pathlib.Path, help="also write the plans there, as JSON")
    return parser.parse_args(words)


def chosen(options):
    if options.random:
        every = generator.random_programs(options.scale, *map(int, options.random.split(":")))
    else:
        every = programs.all_programs(options.scale)
    fields = options.fields.split(",") if options.fields else list(programs.FIELDS) + ["random"]
    return [each for each in every if each.field in fields and not each.draws
            and any(text in each.name for text in options.only.split("|"))]


def main(words):
    import heddle

    options = arguments(words)
    plans, failed = [], []
    for program in chosen(options):
        try:
            plans.append(plan_of(heddle, program, options.target))
        except heddle.Error as error:
            failed.append(program.name)
            print(f"{program.name}: {type(error).__name__}: {error}", file=sys.stderr)
    for plan in sorted(plans, key=lambda plan: plan["over_fewest"]):
        print_plan(plan)
    if options.out:
        options.out.write_text(json.dumps(plans, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
