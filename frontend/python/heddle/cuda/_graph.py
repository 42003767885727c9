"""Graphs of captured work: cupy.cuda.Graph."""

from heddle import _heddle

_cuda = _heddle._cuda


class Graph:
    """Work that Stream.end_capture() has captured: cupy.cuda.Graph. It keeps the arrays that it
    reads and writes; each launch uses the same memory.

    A write to an array, such as x.set(values) or x += 1, gives the array other memory, so a launch
    does not see it. To feed a graph, copy from pinned memory during the capture: each launch reads
    that memory again. get(blocking=False) during a capture copies results at each launch. Other
    memory of the host is read once, at the capture.
    """

    def __init__(self, native):
        self._native = native

    def launch(self, stream=None):
        """Enqueues the work on a stream, by default this thread's current one."""
        self._native.launch(_cuda.stream_of(stream, _heddle.device()))

    def upload(self, stream=None):
        """Prepares the first launch."""
        self._native.upload(_cuda.stream_of(stream, _heddle.device()))
