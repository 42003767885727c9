"""Copies between the devices of a machine, in GB/s: python bench/copies.py [MB]

The least time of several copies of float32, each waited for. Between two GPUs a copy goes from one to
the other, over NVLink where there is one.
"""

import sys
import time

import numpy as np

import heddle as hd


def seconds(copy, repeat=10):
    """The least time of a call, with the wait for what it has enqueued."""
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        result = copy()
        for number in range(hd.cuda.runtime.getDeviceCount()):
            hd.cuda.Device(number).synchronize()
        times.append(time.perf_counter() - begin)
        del result
    return min(times)


def main():
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    elements = megabytes * 1_000_000 // 4
    count = hd.cuda.runtime.getDeviceCount()
    print(f"copies of {megabytes} MB, {count} GPUs, GB/s")
    host = hd.asarray(np.ones(elements, np.float32), device="cpu")
    on = [host.to_device(f"cuda:{number}") for number in range(count)]
    for number, array in enumerate(on):
        for name, copy in ((f"cpu -> cuda:{number}", lambda: host.to_device(f"cuda:{number}")),
                           (f"cuda:{number} -> cpu", lambda: array.to_device("cpu"))):
            print(f"{name:<20}{megabytes / 1e3 / seconds(copy):8.1f}")
    for source in range(count):
        for target in range(count):
            if source == target:
                continue
            reach = "" if hd.cuda.Device(target).can_access_peer(source) else "  (through the host)"
            time_of = seconds(lambda: on[source].to_device(f"cuda:{target}"))
            print(f"cuda:{source} -> cuda:{target}    {megabytes / 1e3 / time_of:8.1f}{reach}")


if __name__ == "__main__":
    main()
