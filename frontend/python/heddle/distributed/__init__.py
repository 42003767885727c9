"""Arrays that processes exchange: cupyx.distributed, and exchanges inside of jitted programs.

Each process has a rank, from 0, and its own device. On GPUs the processes are joined by NCCL, on CPUs by
MPI. All of them must make the same calls in the same order.

>>> group = hd.distributed.init_process_group(2, rank)
>>> total = hd.distributed.all_reduce(x, group)
"""

from heddle.distributed._functions import (all_gather, all_reduce, all_to_all, barrier, broadcast, gather,
                                           recv, reduce, reduce_scatter, scatter, send, send_recv)
from heddle.distributed._groups import (MPIBackend, NCCLBackend, ProcessGroup, init_process_group)

__all__ = ["MPIBackend", "NCCLBackend", "ProcessGroup", "all_gather", "all_reduce", "all_to_all", "barrier",
           "broadcast", "gather", "init_process_group", "recv", "reduce", "reduce_scatter", "scatter", "send",
           "send_recv"]
