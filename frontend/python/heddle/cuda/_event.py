"""Events: cupy.cuda.Event."""

from heddle import _heddle

_cuda = _heddle._cuda


class Event:
    """A point in a stream's work: cupy.cuda.Event, with the same parameters.

    It counts as done until it is recorded. With `block`, a thread that waits for it sleeps. Without
    `disable_timing`, get_elapsed_time measures with it. `interprocess` events are not timed; other
    processes open them by their ipc_handle().

    >>> start, end = hd.cuda.Event(), hd.cuda.Event()
    >>> start.record()
    """

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self._native = _cuda.Event(not disable_timing, bool(block), bool(interprocess),
                                   _heddle.device())

    @classmethod
    def _of(cls, device):
        """An event of the device with this name."""
        event = cls.__new__(cls)
        event._native = _cuda.Event(True, False, False, device)
        return event

    @classmethod
    def from_ipc_handle(cls, handle):
        """An event of another process, on this thread's GPU, for which work here waits. Raises
        DeviceError if that process has ended, or is this one; ValueError for other bytes."""
        event = cls.__new__(cls)
        event._native = _cuda.Event.open(bytes(handle), _heddle.device())
        return event

    def ipc_handle(self):
        """64 bytes, with which another process of the machine opens the event. Keep the event as long
        as that process uses it. Raises DeviceError unless it was made with `interprocess`."""
        return self._native.ipc_handle()

    @property
    def ptr(self):
        """The driver's handle; 0 on the CPU."""
        return self._native.handle

    @property
    def done(self):
        """Whether the work before it is done."""
        return self._native.done

    def record(self, stream=None):
        """Marks the end of what is enqueued on the stream, by default this thread's current one.
        Evaluates first what the thread has recorded."""
        self._native.record(_cuda.stream_of(stream, self._native.device))

    def synchronize(self):
        """Waits for the work before it. Raises the errors of that work."""
        self._native.synchronize()

    def __repr__(self):
        return f"<Event {self.ptr}>"


def get_elapsed_time(start_event, end_event):
    """Milliseconds between two events: cupy.cuda.get_elapsed_time. On a GPU it is the device's time,
    on the CPU the host's.

    Raises DeviceError unless both are timed, recorded and done.
    """
    return end_event._native.milliseconds_since(start_event._native)
