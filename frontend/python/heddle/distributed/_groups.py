"""Groups of processes, and the methods of cupyx.distributed's backends, which write to given arrays."""

import contextlib
import os

from heddle import _heddle
from heddle.cuda._stream import ExternalStream
from heddle.distributed import _functions, _mpi, _store

_native = _heddle._distributed


@contextlib.contextmanager
def _on(stream):
    """Makes a stream current: None for the thread's own, an object with `ptr` of any library."""
    if stream is None:
        yield
    elif hasattr(stream, "__enter__") and type(stream).__module__.startswith("heddle"):
        with stream:
            yield
    else:
        with ExternalStream(stream.ptr):
            yield


class ProcessGroup:
    """This process's membership in a group. init_process_group makes it.

    The methods are those of cupyx.distributed.NCCLBackend: they write to arrays that they are given.
    The functions of heddle.distributed take the group, and return new arrays. `stream` is the stream on
    which to work, by default the current one.
    """

    def __init__(self, communicator):
        self._communicator = communicator

    @property
    def rank(self):
        """The number of this process, from 0."""
        return self._communicator.rank

    @property
    def size(self):
        """How many processes there are."""
        return self._communicator.size

    @property
    def name(self):
        """The name by which programs refer to the group."""
        return self._communicator.name

    def all_reduce(self, in_array, out_array, op="sum", stream=None):
        """Writes the sum of the in_arrays of all processes: cupyx's all_reduce."""
        with _on(stream):
            out_array[...] = _functions.all_reduce(in_array, self, op)

    def reduce(self, in_array, out_array, root=0, op="sum", stream=None):
        """Writes the sum, on the process `root` only: cupyx's reduce."""
        with _on(stream):
            result = _functions.reduce(in_array, self, root, op)
            if self.rank == root:
                out_array[...] = result

    def broadcast(self, in_out_array, root=0, stream=None):
        """Writes the root's array to those of the others: cupyx's broadcast."""
        with _on(stream):
            result = _functions.broadcast(in_out_array, self, root)
            if self.rank != root:
                in_out_array[...] = result

    def _blocks(self, array, count=None):
        """The array, or its first elements, as a block for each process."""
        flat = array.reshape(-1)
        count = flat.shape[0] // self.size if count is None else count
        return flat[:self.size * count].reshape(self.size, count)

    def reduce_scatter(self, in_array, out_array, count, op="sum", stream=None):
        """Writes block `rank`, of `count` elements, of the sum of all in_arrays: cupyx's
        reduce_scatter."""
        with _on(stream):
            result = _functions.reduce_scatter(self._blocks(in_array, count), self, op)
            out_array.reshape(-1)[:count] = result

    def all_gather(self, in_array, out_array, count, stream=None):
        """Writes `count` elements of each process, one after the other: cupyx's all_gather."""
        with _on(stream):
            result = _functions.all_gather(in_array.reshape(-1)[:count], self)
            out_array.reshape(-1)[:self.size * count] = result.reshape(-1)

    def send(self, array, peer, stream=None):
        """Sends an array to the process `peer`, which calls recv: cupyx's send."""
        with _on(stream):
            _functions.send(array, self, peer)

    def recv(self, out_array, peer, stream=None):
        """Writes the array that the process `peer` sends: cupyx's recv."""
        with _on(stream):
            out_array[...] = _functions.recv(out_array, self, peer)

    def send_recv(self, in_array, out_array, peer, stream=None):
        """Sends to the process `peer` and receives from it: cupyx's send_recv."""
        with _on(stream):
            out_array[...] = _functions.send_recv(in_array, self, peer)

    def scatter(self, in_array, out_array, root=0, stream=None):
        """Writes element `rank` of the root's in_array: cupyx's scatter."""
        with _on(stream):
            out_array[...] = _functions.scatter(in_array, self, root)

    def gather(self, in_array, out_array, root=0, stream=None):
        """Writes the in_arrays of all processes, on the process `root` only: cupyx's gather."""
        with _on(stream):
            result = _functions.gather(in_array, self, root)
            if self.rank == root:
                out_array[...] = result.reshape(out_array.shape)

    def all_to_all(self, in_array, out_array, stream=None):
        """Writes element `rank` of the in_arrays of all processes: cupyx's all_to_all."""
        with _on(stream):
            out_array[...] = _functions.all_to_all(in_array, self)

    def barrier(self):
        """Returns when all processes have called it: cupyx's barrier."""
        _functions.barrier(self)

    def check(self):
        """Raises CommunicationError if an exchange has failed so far."""
        self._communicator.check()

    def abort(self):
        """Ends the exchanges that are not done. Later ones raise CommunicationError."""
        self._communicator.abort()

    def stop(self):
        """Waits for this thread's exchanges, and leaves the group: cupyx's stop. Jitted programs that
        use its name then raise CommunicationError."""
        communicator, self._communicator = self._communicator, None
        if communicator is not None:
            communicator.settle()

    def __repr__(self):
        if self._communicator is None:
            return f"<heddle {type(self).__name__}, stopped>"
        return (f"<heddle {type(self).__name__} {self.name!r}, rank {self.rank} of {self.size}, "
                f"{self._communicator.device}>")


class NCCLBackend(ProcessGroup):
    """A group of GPUs, joined by NCCL: cupyx.distributed.NCCLBackend. See init_process_group."""

    def __init__(self, n_devices, rank, host=None, port=None, use_mpi=False, *, name="world",
                 timeout=600.0):
        if not 0 <= rank < n_devices:
            raise ValueError(f"init_process_group: there is no rank {rank} of {n_devices} processes")
        number = _native.new_id() if rank == 0 else None
        if use_mpi:
            number = _mpi.share(number, n_devices, rank)
        elif n_devices > 1:
            host = host or os.environ.get("HEDDLE_DISTRIBUTED_HOST", _store.DEFAULT_HOST)
            port = int(port or os.environ.get("HEDDLE_DISTRIBUTED_PORT", _store.DEFAULT_PORT))
            number = _store.share(number, n_devices, rank, host, port, timeout)
        super().__init__(_native.join(n_devices, number, rank, name, timeout))


class MPIBackend(ProcessGroup):
    """A group of CPUs, joined by MPI through mpi4py: the processes of mpiexec. See init_process_group."""

    def __init__(self, n_devices, rank, *, name="world"):
        if n_devices == rank + 1 == 1:  # the runtime itself exchanges with itself
            def exchange(*_):
                raise RuntimeError("one process makes no exchange")
        else:
            exchange = _mpi.exchange_of(n_devices, rank)
        super().__init__(_native.host(n_devices, rank, name, exchange))


def init_process_group(n_devices, rank, *, backend="nccl", host=None, port=None, use_mpi=False,
                       name="world", timeout=600.0):
    """Joins `n_devices` processes, of which this one has number `rank`: cupyx.distributed's
    init_process_group. Returns a ProcessGroup when all have come.

    With the backend 'nccl', each process has a GPU, its current device. They find each other by a TCP
    connection to process 0, at `host` and `port`, by default HEDDLE_DISTRIBUTED_HOST (127.0.0.1) and
    HEDDLE_DISTRIBUTED_PORT (13333); or, with `use_mpi`, by mpi4py. With 'mpi', each has a CPU, and
    mpi4py exchanges the arrays.

    `name` is how jitted programs refer to the group: the same on all processes. `timeout`, in seconds, is
    how long the other processes may take, with NCCL.

    Raises CommunicationError if processes do not come, ValueError for a wrong rank or another backend,
    DeviceError without NCCL, ImportError without mpi4py.

    >>> hd.cuda.Device(rank).use()
    >>> group = hd.distributed.init_process_group(2, rank)
    """
    if backend == "nccl":
        return NCCLBackend(n_devices, rank, host, port, use_mpi, name=name, timeout=timeout)
    if backend == "mpi":
        return MPIBackend(n_devices, rank, name=name)
    raise ValueError(f"init_process_group: backend must be 'nccl' or 'mpi', not {backend!r}")
