"""Sums the squares of the parts of an array in page-locked memory, each on a stream of its own."""

import common
import numpy


def parts_in_pinned_memory(xp, count, size):
    """Arrays of NumPy in memory from which a GPU copies without waiting for the host."""
    random = numpy.random.default_rng(11)
    parts = []
    for _ in range(count):
        memory = xp.cuda.alloc_pinned_memory(8 * size)
        part = numpy.frombuffer(memory, numpy.float64, size)
        part[:] = random.standard_normal(size)
        parts.append(part)
    return parts


def sums(xp, streams, parts):
    """The sum of squares of each part. Copies of later parts run beside the sums of earlier ones."""
    totals, done = [], []
    for stream, part in zip(streams, parts):
        with stream:
            on_device = xp.empty(part.shape, part.dtype)
            on_device.set(part, stream=stream)
            totals.append(common.evaluated((on_device * on_device).sum()))
            done.append(stream.record())
    current = xp.cuda.get_current_stream()
    for event in done:
        current.wait_event(event)
    return xp.stack(totals)


def main():
    options = common.arguments(__doc__, parts=8, size=4_000_000, repeats=5)
    xp = common.library(options)
    parts = parts_in_pinned_memory(xp, options.parts, options.size)
    streams = [xp.cuda.Stream(non_blocking=True) for _ in parts]
    total = common.timed(xp, "streams", lambda: sums(xp, streams, parts), options.repeats)
    one = [streams[0]] * len(parts)
    common.timed(xp, "one stream", lambda: sums(xp, one, parts), options.repeats)
    expected = numpy.array([numpy.dot(part, part) for part in parts])
    common.check(options, xp, "sums", total, expected, 1e-12)


if __name__ == "__main__":
    main()
