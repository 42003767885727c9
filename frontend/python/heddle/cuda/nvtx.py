"""Names for parts of a program in Nsight Systems and hd.profile: cupy.cuda.nvtx. See also
heddle.profiler.time_range."""

from heddle import _heddle

_cuda = _heddle._cuda


def RangePush(message, id_color=-1):
    """Begins a range of this thread, inside of those that it has begun. id_color has no effect."""
    _cuda.push_range(str(message))


def RangePushC(message, color=0):
    """Like RangePush. color has no effect."""
    RangePush(message)


def RangePop():
    """Ends the range that this thread began last."""
    _cuda.pop_range()


def Mark(message, id_color=-1):
    """An empty range. id_color has no effect."""
    RangePush(message)
    RangePop()


def MarkC(message, color=0):
    """Like Mark. color has no effect."""
    Mark(message)


__all__ = ["Mark", "MarkC", "RangePop", "RangePush", "RangePushC"]
