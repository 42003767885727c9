"""What test_with_mpi.py runs in two processes: Arrays are sent and received."""

import numpy as np
from mpi4py import MPI

import heddle as hd

world = MPI.COMM_WORLD
rank, other = world.Get_rank(), 1 - world.Get_rank()
assert world.Get_size() == 2


def sent_and_received():
    x = hd.arange(4.0) + 10 * rank
    if rank == 0:
        world.Send(x, dest=1)
    else:
        y = hd.zeros(4)
        world.Recv(y, source=0)
        assert y.tolist() == [0, 1, 2, 3], y
    request = world.Isend(x, dest=other)
    y = hd.zeros(4)
    world.Irecv(y, source=other).Wait()
    request.Wait()
    assert y.tolist() == [10 * other + each for each in range(4)], y


def every_dtype():
    for name in ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
                 "complex128").split():
        x, y = hd.full(3, rank + 1, dtype=name), hd.zeros(3, dtype=name)
        try:
            world.Sendrecv(np.ones(3, name), dest=other, recvbuf=np.zeros(3, name), source=other)
        except MPI.Exception:  # some MPI libraries have no float16
            assert name == "float16"
            continue
        world.Sendrecv(x, dest=other, recvbuf=y, source=other)
        assert y.tolist() == hd.full(3, other + 1, dtype=name).tolist(), (name, y)


def collectives():
    x = hd.arange(3.0) if rank == 0 else hd.zeros(3)
    world.Bcast(x, root=0)
    assert x.tolist() == [0, 1, 2], x
    total = hd.zeros(3)
    world.Allreduce(hd.ones(3) * (rank + 1), total)
    assert total.tolist() == [3, 3, 3], total
    world.Allreduce(MPI.IN_PLACE, total)
    assert total.tolist() == [6, 6, 6], total
    parts = hd.zeros((2, 3))
    world.Allgather(hd.full(3, 1.0 + rank), parts)
    assert parts.tolist() == [[1, 1, 1], [2, 2, 2]], parts


def values_that_are_not_computed_yet():
    x = hd.sin(hd.arange(1000.0)) * 2 + rank
    y = hd.zeros(1000)
    before = y + 1
    world.Sendrecv(x, dest=other, recvbuf=y, source=other)
    np.testing.assert_allclose(y.get(), np.sin(np.arange(1000.0)) * 2 + other, rtol=1e-12)
    assert before.tolist() == [1] * 1000  # what y was


def pickled():
    assert world.allreduce(hd.ones(2) * (rank + 1)).tolist() == [3, 3]
    assert [each.item() for each in world.allgather(hd.sum(hd.arange(3)) + rank)] == [3, 4]


checks = (sent_and_received, every_dtype, collectives, values_that_are_not_computed_yet, pickled)
for check in checks:
    check()
print(f"rank {rank}: {len(checks)} checks", flush=True)
