"""Runs a program of examples/ at a small size, and compares what it prints with NumPy.

    check.py NAME EXECUTABLE             the program in C++
    check.py NAME EXECUTABLE MAIN.PY     the one in Python, which has to print what the C++ prints
"""

import os
import re
import subprocess
import sys
import tempfile

import numpy as np

import references

# size, steps (0: the program has none), and how far numbers may be from NumPy's, relatively.
RUNS = {
    "filters": (64, 0, 1e-4),
    "kmeans": (3000, 8, 1e-4),
    "mandelbrot": (64, 64, 1e-2),
    "heat": (48, 120, 1e-4),
    "nbody": (64, 20, 1e-4),
    "pricing": (5000, 8, 1e-4),
    "logistic": (500, 50, 1e-3),
    "life": (64, 40, 1e-4),
    "raymarch": (48, 64, 1e-3),
    "shipping": (40, 0, 1e-4),
    "inspect": (64, 2, 1e-2),
    "spectrogram": (16384, 0, 1e-4),
    "lenet": (1438, 5, 1e-4),
    "pagerank": (500, 30, 1e-4),
    "poisson": (24, 0, 1e-4),
}
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")


def output(command, **variables):
    ran = subprocess.run(command, env={**os.environ, **variables}, text=True, capture_output=True)
    if ran.returncode != 0 or ran.stderr:
        sys.exit(f"{' '.join(command)}: status {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def ship(saver, runners, options):
    """The output of all runners, which must be one, of what the saver has saved."""
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "cache")
        output([*saver, "save", folder], HEDDLE_CACHE_DIR=cache)
        texts = {output([*runner, "run", folder, *options], HEDDLE_CACHE_DIR=cache, HEDDLE_NO_COMPILE="1")
                 for runner in runners}
    if len(texts) != 1:
        sys.exit("\nis not\n".join(texts))
    return texts.pop()


def differences(lines, expected, tolerance):
    """Texts of what differs."""
    if expected[0] is ...:
        lines, expected = lines[-len(expected) + 1:], expected[1:]
    if len(lines) != len(expected):
        return [f"{len(lines)} lines, not {len(expected)}"]
    found = []
    for line, right in zip(lines, expected):
        if right is None:
            continue
        numbers, wanted = ([float(n) for n in NUMBER.findall(text)] for text in (line, right))
        # The last digit may be rounded otherwise.
        digits = [len(n.partition(".")[2]) for n in NUMBER.findall(right)]
        if NUMBER.sub("#", line) != NUMBER.sub("#", right) or any(
                abs(a - b) > tolerance * abs(b) + (1.01 * 10.0**-d if d else 0)
                for a, b, d in zip(numbers, wanted, digits)):
            found.append(f"{line!r} is not {right!r}")
    return found


def main():
    name, executable, *script = sys.argv[1:]
    size, steps, tolerance = RUNS[name]
    options = ["--size", str(size)] + (["--steps", str(steps)] if steps else [])
    programs = [[executable]] + ([[sys.executable, *script]] if script else [])
    if name == "shipping":
        text = ship(programs[-1], programs, options)
    else:
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, f"{i}.npy") for i in range(len(programs))]
            texts = [output([*program, *options, "--out", file]) for program, file in zip(programs, files)]
            if texts[0] != texts[-1]:
                sys.exit(f"C++ prints\n{texts[0]}and Python\n{texts[-1]}")
            first, last = np.load(files[0]), np.load(files[-1])
            np.testing.assert_array_equal(first, last)
            text = texts[0]
    print(text, end="")
    if found := differences(text.splitlines(), getattr(references, name)(size, steps), tolerance):
        sys.exit("\n".join(found))
    if name == "pricing" and float(NUMBER.findall(text)[-1]) > 4:
        sys.exit("the random paths are far from the formula")
    if name == "lenet" and float(NUMBER.findall(text)[-1]) < 85:
        sys.exit("too few digits are recognised")


if __name__ == "__main__":
    main()
