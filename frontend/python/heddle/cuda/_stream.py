"""Streams: cupy.cuda.Stream, ExternalStream and get_current_stream."""

import atexit
import operator
import threading

from heddle import _heddle
from heddle.cuda._device import CPU, get_device_id, name_of, number_of

_cuda = _heddle._cuda
# A Python function cannot run on the driver's thread when the interpreter has ended.
atexit.register(_cuda.finish_host_functions)


class _Entered(threading.local):
    """The streams before the with statements that this thread is in."""

    def __init__(self):
        self.before = []


_entered = _Entered()


class _StreamMethods:
    """What all streams have."""

    @property
    def ptr(self):
        """The driver's handle, for other libraries; 0 on the CPU."""
        return self._native.handle

    @property
    def device_id(self):
        """The number of the stream's device; -1 for the CPU."""
        return number_of(self._native.device)

    @property
    def done(self):
        """Whether the stream has nothing to do. Evaluates what this thread has recorded."""
        return self._native.done

    def use(self):
        """This thread's work on the stream's device runs on it from now on. Evaluates first what
        the thread has recorded. Returns self."""
        self._native.use()
        return self

    def __enter__(self):
        before = _cuda.Stream.current(self._native.device)
        self.use()
        _entered.before.append(before)
        return self

    def __exit__(self, *_):
        _cuda.leave_stream(_entered.before.pop())

    def synchronize(self):
        """Waits for the stream's work. Raises the errors of that work."""
        self._native.synchronize()

    def record(self, event=None):
        """Records an event on the stream, by default a new one, and returns it."""
        from heddle.cuda._event import Event

        event = Event._of(self._native.device) if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        """The stream's later work starts after the event."""
        native = getattr(event, "_native", None)
        if not isinstance(native, _cuda.Event):
            raise TypeError(f"wait_event: takes a heddle.cuda.Event, not {type(event).__name__}")
        self._native.wait(native)

    def launch_host_func(self, callback, arg):
        """Calls callback(arg) on another thread when the work enqueued so far is done; the stream
        waits for it. It must use neither Heddle nor CUDA. Its exceptions go to
        sys.unraisablehook. On the CPU it is called here."""
        self._native.launch_host_function(callback, (arg,))

    def add_callback(self, callback, arg):
        """Like launch_host_func, but calls callback(stream, 0, arg)."""
        self._native.launch_host_function(callback, (self, 0, arg))

    def begin_capture(self, mode=None):
        """Captures the stream's work from now on, instead of running it. The stream must be this
        thread's current one for Heddle's work to go there. `mode` says what is forbidden to other
        calls meanwhile: runtime.streamCaptureModeRelaxed (nothing, the default), ...ThreadLocal or
        ...Global. Raises DeviceError on the CPU."""
        self._native.begin_capture(2 if mode is None else operator.index(mode))

    def end_capture(self):
        """Ends the capture, and returns the Graph."""
        from heddle.cuda._graph import Graph

        return Graph(self._native.end_capture())

    def is_capturing(self):
        """Whether the stream's work is captured now."""
        return self._native.capturing

    def __cuda_stream__(self):
        """The protocol by which other libraries take a stream: (version, handle)."""
        return (0, self.ptr)

    def __eq__(self, other):
        if not isinstance(other, _StreamMethods):
            return NotImplemented
        return self._native.equals(other._native)

    def __hash__(self):
        return hash((self.device_id, self.ptr))

    def __repr__(self):
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"


class Stream(_StreamMethods):
    """A queue of work on this thread's device: cupy.cuda.Stream, with the same parameters.

    In a with statement, and after use(), this thread's work runs on it. Arrays may be used on every
    stream: work that reads an array waits for the stream that computes it.

    Unless it is `non_blocking`, its work is ordered with work on CUDA's legacy default stream.
    `priority` is smaller for more urgent work. With `null` or `ptds` it is Stream.null: the calling
    thread's own stream, on which work runs unless another one is set. On the CPU all streams are
    the same one.

    >>> stream = hd.cuda.Stream(non_blocking=True)
    >>> with stream:
    ...     x = hd.sqrt(hd.arange(4.0))
    >>> stream.synchronize()
    """

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        self._made = None
        self._options = False, 0
        if not (null or ptds):
            self._options = bool(non_blocking), 0 if priority is None else operator.index(priority)
            self._made = _cuda.Stream(not non_blocking, self._options[1])

    @property
    def is_non_blocking(self):
        """Whether the stream was made non_blocking: its work is not ordered with the legacy default
        stream's."""
        return self._options[0]

    @property
    def priority(self):
        """The priority that the stream was made with; smaller is more urgent."""
        return self._options[1]

    @property
    def _native(self):
        return _cuda.Stream.own() if self._made is None else self._made

    @staticmethod
    def from_external(stream):
        """A stream of another library: an object with `__cuda_stream__`, which is kept as long as the
        result. Raises TypeError for an object that has no such method, or whose method does not return
        the version 0 and a handle."""
        if not hasattr(stream, "__cuda_stream__"):
            raise TypeError(f"from_external: {type(stream).__name__} does not implement __cuda_stream__")
        told = stream.__cuda_stream__()
        if not isinstance(told, tuple) or len(told) != 2:
            raise TypeError(f"from_external: __cuda_stream__ must return a 2-tuple, not {told!r}")
        version, handle = told
        if not isinstance(version, int) or not isinstance(handle, int):
            raise TypeError(f"from_external: __cuda_stream__ must return (int, int), not {told!r}")
        if version != 0:
            raise TypeError(f"from_external: unsupported version {version} of __cuda_stream__, only 0")
        result = ExternalStream(handle)
        result._foreign = stream
        return result


class ExternalStream(_StreamMethods):
    """A stream that other code has made: cupy.cuda.ExternalStream. `ptr` is its handle; 0 is CUDA's
    legacy default stream. Its owner destroys it only after the arrays that were computed on it. The
    handle of one of Heddle's streams gives an equal stream.

    Raises ValueError for 2, CUDA's per-thread default stream, which is another one in each thread.
    """

    def __init__(self, ptr, device_id=-1):
        device = get_device_id() if device_id == CPU else device_id
        self._native = _cuda.Stream.external(ptr, name_of(device))


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


def get_current_stream(device_id=-1):
    """The stream on which this thread's work on the device, by default its current one, runs now:
    cupy.cuda.get_current_stream."""
    device = get_device_id() if device_id == CPU else device_id
    native = _cuda.Stream.current(name_of(device))
    if device == get_device_id() and native.equals(_cuda.Stream.own()):
        return Stream.null
    stream = Stream(null=True)
    stream._made = native
    return stream
