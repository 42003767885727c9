"""What the reports say of classes, of several runs, and of random programs."""

import hashlib
import json
import os

import pytest

from peers import classes, distribution, errors, generator, measure, merge, plans, program, systems

NIGHTLY = os.environ.get("HEDDLE_NIGHTLY") == "1"


def row_of(name, ours, theirs, kind="bandwidth", bound=None, **more):
    """A row of a report: rounds of Heddle and of JAX."""
    found = {"heddle": {"rounds": ours, "correct": True, "first_call_milliseconds": 30.0},
             "jax": {"rounds": theirs, "correct": True, "first_call_milliseconds": 60.0}}
    for entry in found.values():
        entry.update(microseconds=sorted(entry["rounds"])[1], error=0.0)
    return {"name": name, "class": kind, "field": "image", "listed": False, "systems": found,
            "best_peer": "jax", "bound_microseconds": bound, "bytes_microseconds": None,
            "goal": None, "tolerance": 0, "shapes": [[8]], "dtypes": ["float32"], **more}


def test_behind_is_beyond_even_and_beyond_the_spread():
    assert not classes.is_behind(row_of("even", [101, 102, 101.5], [100, 100, 100]))
    assert classes.is_behind(row_of("slower", [103, 104, 103.5], [100, 100, 100]))
    assert not classes.is_behind(row_of("noisy", [100, 104, 110], [100, 100, 100]))
    assert classes.ratio_of(row_of("medians", [1, 3, 9], [2, 6, 1])) == 3 / 2
    wrong = row_of("wrong", [1, 1, 1], [2, 2, 2])
    wrong["systems"]["heddle"]["correct"] = False
    assert classes.ratio_of(wrong) is None and not classes.is_behind(wrong)


def test_classes_have_their_own_means_and_goals():
    rows = [row_of("a", [50, 50, 50], [100, 100, 100]), row_of("b", [128, 128, 128], [100] * 3),
            row_of("c", [2, 2, 2], [20, 20, 20], "dispatch")]
    found = classes.summaries(rows)
    assert found["bandwidth"]["mean"] == pytest.approx(0.8) and found["bandwidth"]["met"]
    assert found["bandwidth"]["behind"] == ["b"]
    assert found["dispatch"]["mean"] == pytest.approx(0.1)
    assert found["library"] == {"programs": 0, "compared": 0, "mean": None, "goal": 1.0,
                                "met": None, "behind": []}
    assert found["all"]["mean"] == pytest.approx((0.5 * 1.28 * 0.1) ** (1 / 3))
    assert {kind: found[kind]["goal"] for kind in found} == {**program.CLASSES, "all": 0.70}


def test_what_takes_longer_than_a_copy_is_printed(capsys):
    classes.print_summaries([row_of("slow", [120] * 3, [100] * 3, bound=100.0),
                             row_of("fast", [110] * 3, [100] * 3, bound=100.0),
                             row_of("sums", [120] * 3, [100] * 3, "arithmetic", bound=100.0)])
    bound = capsys.readouterr().out.split("Above 1.15")[1]
    assert "slow" in bound and "1.20" in bound and "fast" not in bound and "sums" not in bound


def test_reports_of_parts_are_joined(tmp_path, capsys):
    facts = {"processor": "one", "commit": "0" * 40, "seconds": 1.5}
    parts = [{**facts, "programs": [row_of("a", [1, 1, 1], [2, 2, 2])], "not_run": ["b", "c"]},
             {**facts, "programs": [row_of("b", [4, 4, 4], [1, 1, 1])]}]
    for k, part in enumerate(parts):
        (tmp_path / f"{k}.json").write_text(json.dumps(part))
    merge.main([str(tmp_path / "0.json"), str(tmp_path / "1.json"), "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "2 programs on one" in printed and "not run: c" in printed
    kept = json.loads((tmp_path / "peers.json").read_text())
    assert [row["name"] for row in kept["programs"]] == ["a", "b"] and kept["seconds"] == 3
    assert kept["classes"]["all"]["mean"] == pytest.approx(2**0.5)
    assert ": 0.50 of jax's time over 2 programs" in printed


def test_distribution_names_the_worst_with_their_text(capsys):
    rows = [row_of(f"random {k}", [k, k, k], [100] * 3, source=f"text {k}", operations=k)
            for k in range(1, 102)]
    found = distribution.distribution_of(rows)
    assert found["ratios"]["0"] == 0.01 and found["ratios"]["50"] == 0.51
    assert found["ratios"]["100"] == 1.01 and found["compared"] == 101
    distribution.print_distribution(rows, 2)
    printed = capsys.readouterr().out
    assert "text 101" in printed and "text 100" in printed and "text 99" not in printed


def test_parts_of_random_programs_are_joined(tmp_path, capsys):
    rows = [row_of(f"random {k}", [k] * 3, [2] * 3, source=f"text {k}", operations=5) for k in (1, 4)]
    for row in rows:
        report = {"processor": "one", "commit": "0", "seconds": 1, "programs": [row]}
        (tmp_path / row["name"]).write_text(json.dumps(report))
    merge.main([str(tmp_path / row["name"]) for row in rows])
    printed = capsys.readouterr().out
    assert "2 of 2 random programs compared" in printed and "1.00 (geometric mean)" in printed
    assert "class, Heddle / best peer" not in printed


def test_random_programs_depend_on_their_seeds_only():
    sources = [each.source for each in generator.random_programs(1)]
    assert len(set(sources)) == 200
    assert hashlib.sha256("".join(sources).encode()).hexdigest() == DIGEST
    assert generator.random_program(7).source == sources[7]
    for each in generator.random_programs(1):
        assert 5 <= each.operations <= 60, each.name


# Of all 200 texts: figures of different days are of the same programs.
DIGEST = "7a86463896adfde6c9ad51911d26edeaa3aa182983537df9364f3fe53d560688"


@pytest.mark.parametrize("first", range(0, 200, 1 if NIGHTLY else 23))
def test_random_program_is_right(first):
    running, absent = systems.start(("heddle", "numpy"), "cpu")
    assert absent == {}
    each = generator.random_program(first, 64)
    inputs = [input.make(seed) for seed, input in enumerate(each.inputs)]
    reference = errors.reference_of(each, inputs)
    for system in running:
        entry = measure.prepare(system, each, inputs, reference)
        assert entry.correct, (each.source, system.name, entry.reason, entry.error)


def test_plans_need_no_gpu(capsys, tmp_path):
    target = tmp_path / "plans.json"
    assert plans.main(["--only", "heat, 7 points|x@w, float64", "--scale", "8", "--out",
                       str(target)]) == 0
    heat, product = sorted(json.loads(target.read_text()), key=lambda plan: plan["name"])
    assert heat["kernels"] == 1 and heat["calls"] == [] and heat["over_fewest"] < 1.2
    assert product["kernels"] == 0 and product["calls"] == ["matmul"]
    assert "heat, 7 points" in capsys.readouterr().out
