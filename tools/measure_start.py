#!/usr/bin/env python3
"""Measures what a program pays for linking Heddle as a shared library.

measure_start.py PREFIX [RUNS], of an installed shared library: sizes of the stripped library and of a
hello-world, and the time from starting an empty program to its end: the least of RUNS (300), and the
median of the processor's time, which other programs of the machine change little.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

EMPTY = "int main() {}\n"
HELLO = """#include <cstdio>
#include <heddle/heddle.h>
int main() { std::printf("%f\\n", heddle::sum(heddle::tanh(heddle::ones<float>({3}))).item<double>()); }
"""


def built(folder, name, text, options):
    source = folder / (name + ".cpp")
    source.write_text(text)
    subprocess.run(["c++", "-std=c++20", "-O2", source, "-o", folder / name, *options], check=True)
    subprocess.run(["strip", folder / name], check=True)
    return folder / name


def started(program, runs):
    """The least seconds from start to end of the program, and the median of its processor's seconds."""
    elapsed, used = [], []
    for _ in range(runs):
        start = time.perf_counter()
        usage = os.wait4(os.posix_spawn(program, [program], os.environ), 0)[2]
        elapsed.append(time.perf_counter() - start)
        used.append(usage.ru_utime + usage.ru_stime)
    return min(elapsed), sorted(used)[runs // 2]


def main(prefix, runs=300):
    library = next(path for path in (pathlib.Path(prefix) / "lib").rglob("libheddle.so"))
    options = [f"-I{prefix}/include", "-Wl,--no-as-needed", f"-L{library.parent}", "-lheddle",
               f"-Wl,-rpath,{library.parent.resolve()}"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["strip", "-o", folder / "stripped.so", library], check=True)
        hello = built(folder, "hello", HELLO, options)
        print(f"libheddle.so, stripped   {(folder / 'stripped.so').stat().st_size / 1e6:8.2f} MB")
        print(f"hello-world, stripped    {hello.stat().st_size / 1e6:8.3f} MB")
        standard = ["-Wl,--no-as-needed", "-lstdc++", "-lm"]
        for title, links in (("an empty program", []), ("with libstdc++", standard),
                             ("with Heddle", options)):
            least, used = started(built(folder, "empty", EMPTY, links), int(runs))
            print(f"{title:<24} {least * 1e3:8.2f} ms, processor {used * 1e3:.2f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
