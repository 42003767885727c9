"""Exchanges of arrays of the CPU, by MPI through mpi4py."""

import ctypes

import numpy


def _world(size, rank):
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError("init_process_group: MPI needs the package mpi4py (pip install mpi4py), and an "
                          "MPI such as Open MPI") from error
    world = MPI.COMM_WORLD
    if world.Get_size() != size or world.Get_rank() != rank:
        raise ValueError(
            f"init_process_group: MPI says that this is rank {world.Get_rank()} of {world.Get_size()} "
            f"processes, not rank {rank} of {size}; start them with mpiexec -n {size}")
    return MPI


def share(number, size, rank):
    """The number of process 0, in all processes."""
    return _world(size, rank).COMM_WORLD.bcast(number, root=0)


def _elements(address, count, dtype):
    """A NumPy array of memory at an address."""
    if count == 0 or address == 0:
        return numpy.empty(0, dtype)
    dtype = numpy.dtype(dtype)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return numpy.frombuffer(memory, dtype)


def exchange_of(size, rank):
    """The function that makes the exchanges of a host communicator."""
    MPI = _world(size, rank)
    comm = MPI.COMM_WORLD.Dup()
    comm.Set_errhandler(MPI.ERRORS_RETURN)  # mpi4py raises
    operations = [MPI.SUM, MPI.PROD, MPI.MAX, MPI.MIN]
    reductions = {"all_reduce", "reduce", "reduce_scatter"}

    def exchange(kind, source, target, count, dtype, operation, root, to, from_rank):
        if kind not in reductions:  # what moves only moves as bytes
            count, dtype = count * numpy.dtype(_plain(dtype)).itemsize, "uint8"
        op = operations[operation]

        def sent(blocks=1):
            return _elements(source, blocks * count, dtype)

        def received(blocks=1):
            return _elements(target, blocks * count, dtype)

        if kind == "all_reduce":
            comm.Allreduce(MPI.IN_PLACE if source == target else sent(), received(), op)
        elif kind == "reduce":
            result = numpy.empty_like(sent())
            comm.Reduce(sent(), result, op, root)
            if rank == root:
                received()[:] = result
        elif kind == "reduce_scatter":
            comm.Reduce_scatter_block(sent(size), received(), op)
        elif kind == "broadcast":
            if rank == root and source != target:
                received()[:] = sent()
            comm.Bcast(received(), root)
        elif kind == "all_gather":
            comm.Allgather(sent(), received(size))
        elif kind == "gather":
            comm.Gather(sent(), received(size) if rank == root else None, root)
        elif kind == "scatter":
            comm.Scatter(sent(size) if rank == root else None, received(), root)
        elif kind == "all_to_all":
            comm.Alltoall(sent(size), received(size))
        else:
            peers = [MPI.PROC_NULL if each < 0 else each for each in (to, from_rank)]
            comm.Sendrecv(sent(), peers[0], recvbuf=received(), source=peers[1])

    return exchange


def _plain(dtype):
    """NumPy has no bfloat16; two bytes are two bytes."""
    return "uint16" if dtype == "bfloat16" else dtype
