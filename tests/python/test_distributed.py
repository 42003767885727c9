"""heddle.distributed: arrays that processes exchange, by the tests' own NCCL and by MPI."""

import pytest

import heddle as hd
from process_groups import free_port, needs_fake, run_mpi, run_processes, run_threads
from process_group_programs import ALL_KINDS, BACKEND, JITTED, MPI, NCCL, THREADS

@needs_fake
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_two_processes_exchange_arrays(dtype):
    run_processes(f"{NCCL}        dtype = '{dtype}'" + ALL_KINDS + "        print('done')\n")


@needs_fake
def test_methods_write_to_arrays_as_cupyx_does():
    run_processes(NCCL + BACKEND)


@needs_fake
def test_large_arrays_and_empty_ones():
    run_processes(NCCL + """
        n = 100_001
        x = hd.asarray(np.arange(n, dtype="float64"))
        assert hd.distributed.all_reduce(x, group).tolist() == (2 * np.arange(n)).tolist()
        assert hd.distributed.all_reduce(hd.zeros((0, 3)), group).shape == (0, 3)
        big = hd.asarray(np.full((2, 70_000), rank, "int32"))
        assert hd.distributed.reduce_scatter(big, group).tolist() == [1] * 70_000
        print("done")
    """)


@needs_fake
def test_complex_numbers_are_pairs():
    run_processes(NCCL + """
        x = hd.asarray(np.array([1 + 2j, 3j], "complex64") * (rank + 1))
        assert hd.distributed.all_reduce(x, group).tolist() == [3 + 6j, 9j]
        assert hd.distributed.all_gather(x, group).tolist()[1] == [2 + 4j, 6j]
        assert "summed" in refusal(hd.DTypeError, lambda: hd.distributed.all_reduce(x, group, "max"))
        print("done")
    """)


@needs_fake
def test_exchanges_in_a_program_keep_their_order_and_are_all_made():
    run_processes(NCCL + JITTED + "        print('done')\n")


@needs_fake
def test_threads_of_one_process():
    run_threads(THREADS)


@needs_fake
def test_a_process_that_does_not_come_is_an_error():
    run_processes("""
        said = refusal(hd.CommunicationError,
                       lambda: hd.distributed.init_process_group(3, rank, timeout=2))
        assert f"rank {rank} of 3" in said, said
        print("done")
    """)


@needs_fake
def test_an_exchange_that_one_process_does_not_make_is_an_error_on_the_other():
    run_processes("""
        group = hd.distributed.init_process_group(size, rank, timeout=2 if rank == 0 else 30)
        x = hd.asarray(np.ones(3))
        hd.distributed.all_reduce(x, group)
        if rank == 0:
            said = refusal(hd.CommunicationError, lambda: hd.distributed.all_gather(x, group).tolist())
            assert "all_gather" in said and "2 s" in said, said
            refusal(hd.CommunicationError, lambda: hd.distributed.all_reduce(x, group))
            refusal(hd.CommunicationError, group.check)
            assert (x + 0).shape == (3,)  # all else works
        print("done")
    """)


@needs_fake
def test_processes_that_make_other_exchanges_are_an_error_on_all():
    run_processes("""
        group = hd.distributed.init_process_group(size, rank, timeout=10)
        x = hd.asarray(np.ones(3))
        call = hd.distributed.all_reduce if rank == 0 else hd.distributed.all_gather
        assert "failed" in refusal(hd.CommunicationError, lambda: call(x, group).tolist())
        print("done")
    """)


@needs_fake
def test_a_failure_in_a_program_is_an_error_of_its_call():
    run_processes("""
        group = hd.distributed.init_process_group(size, rank, timeout=2)
        program = hd.jit(lambda x: hd.distributed.all_reduce(x, group))
        x = hd.asarray(np.ones(3))
        assert program(x).tolist() == [2, 2, 2]
        said = refusal(hd.CommunicationError, lambda: program(x).tolist())
        assert "all_reduce" in said and "world" in said, said
        group.stop()
        said = refusal(hd.CommunicationError, lambda: program(x))
        assert "no communicator 'world'" in said, said
        print("done")
    """, HEDDLE_FAKE_NCCL_FAIL="1")


@needs_fake
def test_two_processes_of_one_rank_are_refused():
    run_processes("""
        said = refusal(hd.CommunicationError,
                       lambda: hd.distributed.init_process_group(3, min(rank, 1), timeout=20))
        assert "rank 1" in said, said
        print("done")
    """, size=3)


@needs_fake
def test_what_is_refused():
    run_processes(NCCL + """
        x = hd.asarray(np.ones(3))
        d = hd.distributed
        assert "no rank 2" in refusal(ValueError, lambda: d.broadcast(x, group, 2))
        assert "op must be" in refusal(ValueError, lambda: d.all_reduce(x, group, "mean"))
        assert "first axis" in refusal(hd.ShapeError, lambda: d.scatter(x, group))
        body = lambda carry, item: (d.all_reduce(carry, group), item)
        assert "loop" in refusal(hd.TraceError, lambda: hd.scan(body, x, hd.zeros(2)))
        refusal(hd.TraceError, lambda: hd.jit(lambda x: (d.barrier(group), x)[1])(x))
        hd.cuda.nccl.groupStart()
        assert "group" in refusal(ValueError, lambda: d.all_reduce(x, group))
        hd.cuda.nccl.groupEnd()
        stream = hd.cuda.Stream()
        with stream:
            stream.begin_capture()
            assert "captured" in refusal(hd.DeviceError, lambda: d.all_reduce(x, group))
            stream.end_capture()
        assert d.all_reduce(x, group).tolist() == [2, 2, 2]
        print("done")
    """)


def test_other_backends_are_refused():
    with pytest.raises(ValueError, match="nccl"):
        hd.distributed.init_process_group(2, 0, backend="gloo")
    for size, rank in ((2, 2), (2, -1), (0, 0), (-1, 0)):
        with pytest.raises(ValueError, match=f"no rank {rank} of {size} "):
            hd.distributed.init_process_group(size, rank, port=free_port())


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_mpi_exchanges_arrays_of_cpus(dtype):
    run_mpi(f"{MPI}        dtype = '{dtype}'" + ALL_KINDS + "        print('done')\n")


def test_mpi_with_methods():
    run_mpi(MPI + BACKEND)


def test_mpi_in_programs():
    run_mpi(MPI + JITTED + """
        @hd.jit
        def loss(w, x):
            local = hd.sum((x * w) ** 2)
            return hd.distributed.all_reduce(local, group) / group.size
        w, x = hd.asarray(np.array([1.0, 2.0])), hd.asarray(np.array([3.0, 4.0]) * (rank + 1))
        assert abs(float(loss(w, x)) - (9 + 64) * (1 + 4) / 2) < 1e-9
        print("done")
    """)


def test_mpi_of_dtypes_that_it_does_not_reduce():
    run_mpi(MPI + """
        d = hd.distributed
        for dtype in [hd.float16, hd.bfloat16, hd.int16, hd.uint16]:
            x = hd.asarray([1, 2]).astype(dtype) * (rank + 1)
            found = d.all_reduce(x, group)
            assert found.dtype == dtype and found.astype("float64").tolist() == [3, 6], found
            assert d.all_gather(x, group).astype("float64").tolist() == [[1, 2], [2, 4]]
        flags = hd.asarray([rank == 0, True, False])
        assert d.all_reduce(flags, group).tolist() == [True, True, False]
        assert d.all_reduce(flags, group, "prod").tolist() == [False, True, False]
        z = hd.asarray([1 + 2j, 3j]) * (rank + 1)
        assert d.all_reduce(z, group).tolist() == [3 + 6j, 9j]
        assert d.all_reduce(2.5, group).tolist() == 5.0
        print("done")
    """)


def test_mpi_must_agree():
    run_mpi("""
        said = refusal(ValueError, lambda: hd.distributed.init_process_group(3, rank, backend="mpi"))
        assert "mpiexec -n 3" in said, said
        print("done")
    """)


def on_cpu():
    return hd.cuda.Device(-1)


def test_programs_make_their_exchanges_in_order_also_unused_and_equal_ones():
    made = []
    group = hd.distributed.ProcessGroup(
        hd._heddle._distributed.host(2, 0, "recorded", lambda kind, *rest: made.append((kind, rest[-3]))))

    @hd.jit
    def program(x):
        hd.distributed.broadcast(x, group)
        y = hd.distributed.all_gather(x + 1, group)
        hd.distributed.broadcast(x, group)
        hd.distributed.broadcast(x, group)
        hd.distributed.all_to_all(hd.stack([x, x]), group)
        return hd.sum(y)

    @hd.jit
    def nothing(x):
        hd.distributed.reduce(x, group, 1)
        return x

    with on_cpu():
        x = hd.ones(3)
        for program, wanted in [
                (program, ["broadcast", "all_gather", "broadcast", "broadcast", "all_to_all"]),
                (nothing, ["reduce"])]:
            for _ in range(2):
                made.clear()
                program(x)
                assert [kind for kind, _ in made] == wanted
        assert made == [("reduce", 1)]
        # Outside of programs they are made where they stand.
        made.clear()
        hd.distributed.all_reduce(x * 2, group)
        hd.distributed.broadcast(x, group)
        assert [kind for kind, _ in made] == ["all_reduce", "broadcast"]


def test_an_error_of_the_exchange_reaches_the_caller():
    def fail(*_):
        raise RuntimeError("the network is down")
    group = hd.distributed.ProcessGroup(hd._heddle._distributed.host(2, 0, "down", fail))
    with on_cpu(), pytest.raises(hd.CommunicationError, match="network is down"):
        hd.distributed.all_reduce(hd.ones(3), group)


def test_a_program_needs_the_group_of_its_name():
    group = hd.distributed.ProcessGroup(hd._heddle._distributed.host(2, 0, "lost", lambda *_: None))
    program = hd.jit(lambda x: hd.distributed.all_reduce(x, group))
    with on_cpu():
        x = hd.ones(3)
        program(x)
        group.stop()
        with pytest.raises(hd.CommunicationError, match="no communicator 'lost'"):
            program(x)


def test_a_group_of_one_exchanges_with_itself():
    group = hd.distributed.ProcessGroup(hd._heddle._distributed.host(1, 0, "alone", lambda *_: None))
    with on_cpu():
        assert hd.distributed.all_reduce(hd.arange(3.0), group).tolist() == [0, 1, 2]
        assert hd.distributed.all_gather(hd.arange(3.0), group).tolist() == [[0, 1, 2]]
        assert hd.distributed.send_recv(hd.arange(3.0), group, 0).tolist() == [0, 1, 2]
        hd.distributed.send(hd.arange(3.0), group, 0)
        assert hd.distributed.recv(hd.arange(3.0), group, 0).tolist() == [0, 1, 2]
