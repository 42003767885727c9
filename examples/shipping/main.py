"""Ships a program: what one process compiles, another one runs without a compiler.

    main.py save FOLDER                      writes FOLDER/waves.hdp, and compiles into the cache
    HEDDLE_NO_COMPILE=1 main.py run FOLDER   runs both. The file may come from the C++ program, too.
"""

import argparse
import os

import heddle as hd


@hd.jit(name="waves", dynamic=[(None, None), ("n",)])
def waves(sources, place, time):
    """Waves from points [k, 3] (x, y, frequency): their height at n x n places, and its extremes."""
    x, y = place[None, :], place[:, None]
    height = 0
    for k in range(sources.shape[0]):
        distance = hd.hypot(x - sources[k, 0], y - sources[k, 1])
        height = height + hd.sin(sources[k, 2] * (distance - time)) / (1 + 4 * distance)
    return height, hd.min(height), hd.max(height)


def save(path):
    sources, place = hd.spec((3, 3), hd.float32), hd.spec(("n",), hd.float32)
    # The program, its graph and its machine code, here for this device: others are named by targets=.
    waves.lower(sources, place, 0.0).save(path)


def run(path, size, out):
    program = hd.load_program(path)
    print("inputs:", *("number" if a.is_number else "x".join(map(str, a.shape)) for a in program.inputs))
    sources = hd.asarray([[-0.5, -0.4, 30], [0.6, -0.2, 40], [0.1, 0.7, 25]], dtype=hd.float32)
    # Made on the host: hd.linspace would be a program of its own, and have to be compiled as well.
    place = hd.asarray([2 * i / size - 1 for i in range(size)], dtype=hd.float32)
    height, lowest, highest = program(sources, place, 0.25)
    print(f"from the file: lowest {lowest.item():.5f}, highest {highest.item():.5f}")
    traced, lowest, highest = waves(sources, place, 0.25)
    print(f"from the cache: lowest {lowest.item():.5f}, highest {highest.item():.5f}")
    print(f"runs of a compiler: {hd.statistics()['compiler_runs']}")
    if out:
        hd.save(out, height)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["save", "run"])
    parser.add_argument("folder")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--out")
    options = parser.parse_args()

    path = os.path.join(options.folder, "waves.hdp")
    if options.role == "save":
        save(path)
    else:
        run(path, options.size, options.out)


if __name__ == "__main__":
    main()
