"""The command that holds Heddle against its peers, on sizes that take no time."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from peers import __main__ as command
from peers import choice, errors, functions, measure, program, programs, report, systems
from peers.programs import checks

BENCH = os.environ["HEDDLE_BENCH_PROGRAMS"]
SCALE = 64


def run_peers(*arguments):
    return subprocess.run([sys.executable, "-m", "peers", "--bench", BENCH, *arguments],
                          capture_output=True, text=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The page's programs in Heddle and NumPy: what was printed, and the JSON."""
    out = tmp_path_factory.mktemp("peers")
    ended = run_peers("--systems", "heddle-c++,heddle,numpy", "--scale", str(SCALE), "--rounds",
                      "2", "--batch-milliseconds", "1", "--fields", "page", "--out", str(out))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout, json.loads((out / "peers.json").read_text())


def test_report_has_every_program_of_the_field_and_its_rounds(run):
    _, kept = run
    assert kept["absent"] == {}
    assert [row["name"] for row in kept["programs"]] == [
        each.name for each in programs.all_programs(SCALE, "cpu") if each.field == "page"]
    for row in kept["programs"]:
        for name in (measure.CPP, "heddle", "numpy"):
            entry = row["systems"][name]
            assert entry.get("correct"), (row["name"], name, entry)
            assert len(entry["rounds"]) == 2 and min(entry["rounds"]) > 0


@pytest.fixture(scope="module")
def heddle_and_numpy():
    running, absent = systems.start(("heddle", "numpy"), "cpu")
    assert absent == {}
    return running


def assert_right(each, running):
    inputs = [input.make(seed) for seed, input in enumerate(each.inputs)]
    reference = None if each.draws else errors.reference_of(each, inputs)
    for system in running:
        entry = measure.prepare(system, each, inputs, reference)
        if system.name in each.absent:
            assert entry.reason == each.absent[system.name] and system.name != "heddle"
            continue
        assert entry.correct, (each.name, system.name, entry.reason, entry.error, each.tolerance)


@pytest.mark.parametrize("field", [field for field in programs.FIELDS if field != "page"])
def test_every_program_is_right_in_python_and_numpy(field, heddle_and_numpy):
    for each in programs.all_programs(SCALE, "cpu"):
        if each.field == field:
            assert_right(each, heddle_and_numpy)


def test_list_is_of_many_fields_classes_and_dtypes():
    every = programs.all_programs()
    names = [each.name for each in every]
    assert len(names) >= 100 and len(set(names)) == len(names)
    assert {each.kind for each in every} == set(program.CLASSES)
    assert {len(input.shape) for each in every for input in each.inputs} >= set(range(1, 7))
    assert {input.dtype for each in every for input in each.inputs} >= {
        "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
        "float16", "bfloat16", "float32", "float64", "complex64", "complex128"}
    for each in every:  # four bits are the least that is asked for
        assert each.check or 0 <= each.tolerance <= 2**-4, each.name


def test_report_has_ratios_goals_and_first_calls(run):
    printed, kept = run
    assert kept["copy_bytes_per_second"] > 1e8
    for row in kept["programs"]:
        assert row["best_peer"] == "numpy"
        rounds = [row["systems"][name]["rounds"] for name in ("heddle", "numpy")]
        expected = np.median([ours / theirs for ours, theirs in zip(*rounds)])
        assert row["ratios"]["heddle"]["numpy"] == pytest.approx(expected)
        assert row["goal"]["met"] == (row["goal"]["ratio"] <= (
            1 / 8 if row["name"] == "Black-Scholes" else 1))
        assert row["name"] in printed
    for first in kept["first_call_milliseconds"].values():
        assert first["cold"] > 0 and first["warm"] > 0
    assert set(kept["host_overhead_microseconds"]) >= {"ten-op chain"}


def test_cpp_bench_is_right_in_the_same_sizes_and_times_numpy(tmp_path):
    target = tmp_path / "bench.json"
    subprocess.run([BENCH, "--device", "cpu", "--scale", str(SCALE), "--json", str(target),
                    "--batch-milliseconds", "1"], check=True, capture_output=True)
    rows = {row["name"]: row for row in json.loads(target.read_text())["programs"]}
    every = [each for each in programs.all_programs(SCALE, "cpu") if each.in_cpp]
    assert len(every) == 45
    for each in every:
        row = rows[each.name]
        assert row["correct"] and row["numpy_microseconds"] > 0
        assert row["shapes"] == [list(input.shape) for input in each.inputs]


def test_two_builds_take_turns(tmp_path):
    target = tmp_path / "builds.json"
    ended = subprocess.run(
        [sys.executable, "-m", "peers.builds", BENCH, BENCH, "--device", "cpu", "--scale",
         str(SCALE), "--rounds", "2", "--only", "sum of rows", "--out", str(target),
         "--batch-milliseconds", "1"],
        capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = json.loads(target.read_text())["programs"]
    assert len(rows) == 3 and all(row["name"] in ended.stdout for row in rows)
    assert all(len(row[key]) == 2 for row in rows for key in ("before", "again", "after"))


def test_slices_are_the_whole_list():
    def names(*words):
        chosen = choice.chosen_programs(command.arguments(["--device", "cpu", *words]))
        return [each.name for each in chosen]

    listed = [names(), *(names("--part", f"{part}/3") for part in (1, 2, 3))]
    assert len(listed[0]) == len(programs.all_programs(4, "cpu"))
    assert sorted(listed[0]) == sorted(listed[1] + listed[2] + listed[3])
    assert min(map(len, listed[1:])) > 0.3 * len(listed[0])
    small = names("--fields", "small,image")
    assert "softmax 16 x 128" in small and "sepia, uint8" in small and "Adam" not in small
    for words in (("--fields", "nothing"), ("--part", "4/3"), ("--random", "five")):
        with pytest.raises(SystemExit):
            names(*words)


def test_random_programs_are_measured_and_the_worst_printed(tmp_path):
    ended = run_peers("--random", "23:2", "--systems", "heddle,numpy", "--scale", str(SCALE), "--rounds",
                      "2", "--batch-milliseconds", "1", "--device", "cpu", "--out", str(tmp_path))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 of 2 random programs compared" in ended.stdout
    kept = json.loads((tmp_path / "peers.json").read_text())
    assert [row["name"] for row in kept["programs"]] == ["random 23", "random 24"]
    assert kept["distribution"]["compared"] == 2
    assert all(row["source"] in ended.stdout for row in kept["programs"])


def test_what_is_missing_or_unknown_is_said():
    ended = run_peers("--systems", "heddle,cupy", "--only", "ten-op chain", "--startup-rounds", "0",
                      "--rounds", "1", "--device", "cpu")
    assert ended.returncode == 0, ended.stderr
    assert "CuPy      not available: does not run on cpu" in ended.stdout
    assert run_peers("--only", "no such program").returncode == 2
    assert "no such system" in run_peers("--systems", "nobody").stderr
    ended = run_peers("--only", "ten-op chain", "--bench", "/nonexistent", "--systems", measure.CPP)
    assert ended.returncode == 1 and "No such file" in ended.stdout


class Failing(systems.NumPy):
    name = "failing"

    def compile(self, program):
        raise RuntimeError("cannot do it\nsecond line")


class Wrong(systems.NumPy):
    name = "wrong"

    def get(self, result):
        return np.asarray(result) + np.float32(0.5)


def test_a_peer_that_fails_or_is_wrong_ends_nothing():
    chain = next(p for p in programs.all_programs(SCALE) if p.name == "ten-op chain")
    peers = [Failing("cpu"), Wrong("cpu"), systems.NumPy("cpu")]
    entries, _ = measure.measure_program(chain, peers, None, 1, program.Input.make, 1e-3)
    kept = {name: entry.json() for name, entry in entries.items()}
    assert kept["failing"] == {"reason": "RuntimeError: cannot do it"}
    assert kept["wrong"]["correct"] is False and kept["numpy"]["correct"] is True
    assert report.best_peer(kept) == "numpy"


@pytest.mark.parametrize("spoiled", [np.nan, np.inf])
def test_an_element_that_is_no_number_is_wrong(spoiled):
    reference = np.ones(1000)
    result = reference.astype(np.float32)
    assert errors.worst_error(result, reference, 1.0) == 0
    result[999] = spoiled
    assert not errors.worst_error(result, reference, 1.0) <= 1e-5


def test_checks_without_a_reference():
    numbers = np.array([0.3, 0.1, 0.2, 0.1], np.float32)
    assert checks.order_error(np.array([3, 1, 2, 0]), [numbers]) == 0
    assert checks.order_error(np.array([1, 1, 2, 0]), [numbers]) == np.inf
    assert checks.order_error(np.array([0, 1, 2, 3]), [numbers]) == np.inf
    drawn = np.random.default_rng(0).standard_normal(100_000)
    assert checks.normal_error(drawn, []) < 1
    assert checks.normal_error(drawn * 1.05, []) > 1
    assert checks.normal_error(np.abs(drawn), []) > 1


def entries_of(**microseconds):
    return {name.replace("cpp", measure.CPP): {"microseconds": time, "rounds": [time],
                                               "correct": True}
            for name, time in microseconds.items()}


@pytest.mark.parametrize("goal, ratio, met", [
    (program.Goal(1.02, "peers"), 0.5, True), (program.Goal(1.06, "bytes"), 1.05, True),
    (program.Goal(1.04, "bytes"), 1.05, False), (program.Goal(1.01, "reach", 100), 1.05, False),
    (program.Goal(1.0, "us", 210), 0.5, True)])
def test_goals_on_a_gpu(goal, ratio, met):
    """105 us in C++, 120 through Python, 210 of the best peer; 100 of the fewest bytes."""
    one = program.Program("p", None, (), goal)
    entries = entries_of(cpp=105.0, heddle=120.0, jax=210.0, torch=500.0)
    found = report.verdict(one, entries, 100.0, report.CEILING_OF_REACH, "cuda", 1)
    assert found["ratio"] == pytest.approx(ratio) and found["met"] == met
    without_copies = report.verdict(one, entries, 0.0, 0.0, "cuda", 1)
    assert (without_copies is None) == (goal.basis in ("bytes", "reach"))
    del entries[measure.CPP]
    found = report.verdict(one, entries, 100.0, report.CEILING_OF_REACH, "cuda", 1)
    assert found["of"] == "heddle" and found["ratio"] == pytest.approx(ratio * 120 / 105)


def test_functions_beside_numpy(tmp_path):
    chosen = ["add, float32, 1e5", "argmax of rows, int32, 1e5", "cumsum of columns, float64, 1e5",
              "argsort, float16, 1e5"]
    ended = run_peers("--functions", "--only", "|".join(chosen), "--rounds", "2",
                      "--batch-milliseconds", "1", "--out", str(tmp_path))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    kept = json.loads((tmp_path / "functions.json").read_text())
    assert [row["name"] for row in kept["functions"]] == chosen
    for row in kept["functions"]:
        assert row["systems"]["heddle"]["correct"], row
        assert row["times"] > 0 and row["name"] in ended.stdout


def test_functions_are_those_of_the_tables():
    names = {function.op for function in functions.all_functions((1000,))}
    assert {"add", "nextafter", "select", "ldexp", "sum", "argmin", "cummax", "argsort"} <= names
    assert not any(name.startswith("philox") for name in names)
    for function in functions.all_functions((1000,)):
        inputs = [each.make(0) for each in function.inputs]
        assert not np.isnan(function.reference(inputs).astype(complex)).any() or \
            function.dtype == "float16", function.name


def test_programs_are_checked_in_several_processes_and_then_measured(tmp_path):
    done = run_peers("--systems", "heddle,numpy", "--scale", str(SCALE), "--rounds", "1",
                     "--startup-rounds", "0", "--batch-milliseconds", "1", "--workers", "2",
                     "--only", "ten-op chain|x@w, float64", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    kept = json.loads((tmp_path / "peers.json").read_text())
    assert kept["workers"] == 2 and "Not checked ahead" not in done.stdout
    rows = {row["name"]: row["systems"]["heddle"] for row in kept["programs"]}
    assert set(rows) == {"ten-op chain", "x@w, float64"}
    assert all(row["correct"] and len(row["rounds"]) == 1 for row in rows.values())


def test_a_program_that_failed_in_another_process_is_tried_again():
    chain = next(p for p in programs.all_programs(SCALE) if p.name == "ten-op chain")
    peers = [systems.NumPy("cpu"), Wrong("cpu")]
    checked, fewest = measure.prepare_program(chain, peers)
    assert checked["wrong"].correct is False and checked["numpy"].call is None
    checked["numpy"].reason = "MemoryError: it was full"
    entries, again = measure.measure_program(chain, peers, None, 1, program.Input.make, 1e-3,
                                             checked=(checked, fewest))
    assert again == fewest and all(len(entry.rounds) == 1 for entry in entries.values())
    assert entries["wrong"].correct is False  # as the other process said
    assert entries["numpy"].correct is True and entries["numpy"].reason is None
