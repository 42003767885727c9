"""NVIDIA's NCCL on memory that the caller has: cupy.cuda.nccl.

heddle.distributed exchanges arrays. Use this module where you have pointers and streams.
"""

from heddle import _heddle
from heddle.cuda._device import name_of

_native = _heddle._distributed

NcclError = _heddle.CommunicationError

NCCL_UNIQUE_ID_BYTES = 128
NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN = range(4)
NCCL_INT8 = NCCL_CHAR = 0
NCCL_UINT8 = 1
NCCL_INT32 = NCCL_INT = 2
NCCL_UINT32 = 3
NCCL_INT64 = 4
NCCL_UINT64 = 5
NCCL_FLOAT16 = NCCL_HALF = 6
NCCL_FLOAT32 = NCCL_FLOAT = 7
NCCL_FLOAT64 = NCCL_DOUBLE = 8
NCCL_BFLOAT16 = 9


def get_version():
    """NCCL's version, 22809 for 2.28.9: cupy.cuda.nccl.get_version. Raises DeviceError without
    NCCL."""
    return _native.nccl_version()


get_build_version = get_version  # NCCL is found when it is first used: there is no version of the build


def get_unique_id():
    """The number of a new group, 128 integers, which one process makes and gives to the others:
    cupy.cuda.nccl.get_unique_id. Raises DeviceError without NCCL."""
    return tuple(_native.new_id())


def groupStart():
    """Makes the calls of this thread until groupEnd() one operation: cupy.cuda.nccl.groupStart.
    Groups nest. Their calls may be of several communicators, and sends and receives do not wait for
    each other."""
    _native.begin_group()


def groupEnd():
    """Starts the calls of the group: cupy.cuda.nccl.groupEnd. Raises NcclError if they are refused,
    ValueError if no group is open."""
    _native.end_group()


class NcclCommunicator:
    """Membership `rank` of `ndev` in a group of GPUs, with the current device:
    cupy.cuda.nccl.NcclCommunicator. Returns when all members have come.

    `commId` is from get_unique_id(), as integers or bytes. Methods take pointers, numbers of elements,
    element types and reductions (NCCL_FLOAT32, NCCL_SUM), and the handle of a stream; they return when
    the work is enqueued. `timeout`, in seconds, is how long other members may take.

    Raises NcclError if a member does not come, a call is refused, or an earlier one failed;
    ValueError for a wrong rank, or on the CPU; DeviceError without NCCL.

    >>> comm = hd.cuda.nccl.NcclCommunicator(2, commId, rank)
    >>> pointer = x.__cuda_array_interface__["data"][0]
    >>> comm.allReduce(pointer, pointer, x.size, hd.cuda.nccl.NCCL_FLOAT32, hd.cuda.nccl.NCCL_SUM,
    ...                hd.cuda.get_current_stream().ptr)
    """

    def __init__(self, ndev, commId, rank, *, name="nccl", timeout=600.0):
        if not isinstance(commId, (bytes, list, tuple)):
            raise TypeError(f"commId must be what get_unique_id returns, not {type(commId).__name__}")
        number = commId if isinstance(commId, bytes) else bytes(each & 255 for each in commId)
        self._communicator = _native.join(ndev, number, rank, name, timeout)

    @staticmethod
    def initAll(devices, *, name="nccl", timeout=600.0):
        """Communicators of several devices of this process: a list of device numbers, or how many."""
        numbers = range(devices) if isinstance(devices, int) else devices
        made = []
        for each in _native.of_devices([name_of(number) for number in numbers], name, timeout):
            communicator = NcclCommunicator.__new__(NcclCommunicator)
            communicator._communicator = each
            made.append(communicator)
        return made

    def _exchange(self, kind, sendbuf, recvbuf, count, datatype, stream, op=0, root=0, to=-1, source=-1):
        if self._communicator is None:
            raise NcclError("the communicator was destroyed")
        self._communicator.exchange(kind, sendbuf, recvbuf, count, datatype, op, root, to, source, stream)

    def allReduce(self, sendbuf, recvbuf, count, datatype, op, stream):
        """Reduces `count` elements of all members into `recvbuf` of each."""
        self._exchange("all_reduce", sendbuf, recvbuf, count, datatype, stream, op)

    def reduce(self, sendbuf, recvbuf, count, datatype, op, root, stream):
        """Reduces `count` elements of all members into the root's `recvbuf`."""
        self._exchange("reduce", sendbuf, recvbuf, count, datatype, stream, op, root)

    def broadcast(self, sendbuf, recvbuf, count, datatype, root, stream):
        """Copies `count` elements of the root's `sendbuf` to `recvbuf` of each member."""
        self._exchange("broadcast", sendbuf, recvbuf, count, datatype, stream, 0, root)

    def bcast(self, buff, count, datatype, root, stream):
        """broadcast() in place."""
        self.broadcast(buff, buff, count, datatype, root, stream)

    def reduceScatter(self, sendbuf, recvbuf, recvcount, datatype, op, stream):
        """Reduces blocks of `recvcount` elements, one for each member."""
        self._exchange("reduce_scatter", sendbuf, recvbuf, recvcount, datatype, stream, op)

    def allGather(self, sendbuf, recvbuf, count, datatype, stream):
        """Copies `count` elements of each member, one after the other, to `recvbuf` of each."""
        self._exchange("all_gather", sendbuf, recvbuf, count, datatype, stream)

    def send(self, sendbuf, count, datatype, peer, stream):
        """Sends elements to a member, which calls recv()."""
        self._exchange("exchange", sendbuf, 0, count, datatype, stream, to=peer)

    def recv(self, recvbuf, count, datatype, peer, stream):
        """Receives elements from a member, which calls send()."""
        self._exchange("exchange", 0, recvbuf, count, datatype, stream, source=peer)

    def _alive(self):
        if self._communicator is None:
            raise NcclError("the communicator was destroyed")
        return self._communicator

    def size(self):
        """The number of members."""
        return self._alive().size

    def rank_id(self):
        """This member's rank."""
        return self._alive().rank

    def device_id(self):
        """The number of this member's device."""
        return int(self._alive().device.partition(":")[2])

    def check_async_error(self):
        """Raises NcclError if a call has failed so far."""
        self._alive().check()

    def abort(self):
        """Ends the calls that are not done. Every later call raises NcclError."""
        if self._communicator is not None:
            self._communicator.abort()

    def destroy(self):
        """Waits for this thread's calls, and leaves the group."""
        communicator, self._communicator = self._communicator, None
        if communicator is not None:
            communicator.settle()


__all__ = ["NcclCommunicator", "NcclError", "get_unique_id", "get_version", "groupEnd", "groupStart"]
__all__ += [name for name in list(globals()) if name.startswith("NCCL_")]
