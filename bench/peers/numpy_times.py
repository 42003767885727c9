"""Times programs in NumPy for bench_programs: numpy_times.py SCALE NAME ... prints a JSON object
of microseconds per call by name. Fails for a name that programs/ does not contain."""

import json
import sys

from peers import measure, programs, systems


def main():
    scale, names = int(sys.argv[1]), sys.argv[2:]
    numpy = systems.NumPy("cpu")
    by_name = {program.name: program for program in programs.all_programs(scale, "cpu")}
    times = {}
    for name in names:
        # On the CPU both Heddle and NumPy divide and multiply as IEEE says, so the exact program is
        # the reference.
        program = by_name[name.removesuffix(", approximate").removesuffix(", tf32")]
        inputs = [each.make(seed) for seed, each in enumerate(program.inputs)]
        call = measure.call_of(numpy, program, inputs)
        times[name] = measure.microseconds_a_call(call, numpy.wait)
    print(json.dumps(times))


main()
