"""Reads what became of a program: its kernels and their memory traffic, its CUDA, and a profile.

The program smooths a table along its rows, standardizes the columns, and multiplies by weights. The names of
its operations and lines are in the texts that are only measured here: print them to read all of it.
"""

import argparse

import heddle as hd


@hd.jit
def layer(table, weights):
    smooth = (table[:, :-2] + 2 * table[:, 1:-1] + table[:, 2:]) / 4
    centered = smooth - hd.mean(smooth, axis=0)
    deviation = hd.sqrt(hd.mean(centered * centered, axis=0) + 1e-6)
    return hd.tanh(centered / deviation @ weights + 0.1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out")
    options = parser.parse_args()

    place = hd.arange(options.size * 258).astype(hd.float32).reshape((options.size, 258))
    table = hd.sin(0.37 * place)
    weights = hd.cos(hd.arange(256 * 64).astype(hd.float32)).reshape((256, 64)) / 16
    hd.eval(table, weights)

    # The whole text also says why there is more than one kernel. form="html" is a page with sources.
    explained = layer.explain(table, weights).splitlines()
    print(explained[0])
    print(next(line for line in explained if line.startswith("bytes moved")))

    # What an H100 would run can be read without one. host() is what this processor runs.
    source = layer.cuda(table, weights).splitlines()
    print("CUDA kernels:", sum("__global__" in line for line in source))

    layer(table, weights).eval()  # the first call compiles
    with hd.profile() as profile:
        for _ in range(options.steps):
            result = layer(table, weights)
            hd.eval(result)
        hd.synchronize()
    # profile.table() has times, and profile.save_trace(path) what chrome://tracing shows.
    launches = [event["launch"] for event in profile.events() if event["phase"] == "kernel"]
    one_call = launches[:len(launches) // options.steps]
    for launch in one_call:
        print(f"  {launch['kernel']}: {launch['bytes']} bytes")
    print("launches:", len(launches))
    print(f"mean {result.mean().item():.4f}, deviation {result.std().item():.4f}")
    if options.out:
        hd.save(options.out, hd.asarray([launch["bytes"] for launch in one_call]))


if __name__ == "__main__":
    main()
