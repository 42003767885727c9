"""Programs for each process of a group, which begin with NCCL or MPI."""

ALL_KINDS = """
        x = hd.asarray(np.arange(4, dtype=dtype) + 4 * rank)
        every = [np.arange(4, dtype=dtype) + 4 * each for each in range(size)]
        d = hd.distributed
        def check(found, wanted):
            np.testing.assert_array_equal(np.asarray(found.tolist(), dtype), wanted)
            assert found.shape == wanted.shape and str(found.dtype).endswith(dtype), found.dtype
        check(d.all_reduce(x, group), sum(every))
        check(d.all_reduce(x, group, "max"), every[-1])
        check(d.all_reduce(x, group, "min"), every[0])
        check(d.all_reduce(x, group, "prod"), np.prod(every, axis=0, dtype=dtype))
        check(d.reduce(x, group, 1), sum(every) if rank == 1 else every[rank])
        check(d.broadcast(x, group, 1), every[1])
        check(d.all_gather(x, group), np.stack(every))
        check(d.gather(x, group, 1), np.stack(every) if rank == 1 else np.zeros((size, 4), dtype))
        table = x.reshape(2, 2)
        tables = [each.reshape(2, 2) for each in every]
        check(d.scatter(table, group, 1), tables[1][rank])
        check(d.reduce_scatter(table, group), sum(tables)[rank])
        check(d.all_to_all(table, group), np.stack([each[rank] for each in tables]))
        check(d.send_recv(x, group, 1 - rank), every[1 - rank])
        if rank == 0:
            d.send(x, group, 1)
        else:
            check(d.recv(x, group, 0), every[0])
        d.barrier(group)
"""

BACKEND = """
        def zeros(*shape):
            return hd.asarray(np.zeros(shape, "float32"))
        x = hd.asarray(np.array([1, 2], "float32") * (rank + 1))
        y, z = zeros(2), zeros(4)
        group.all_reduce(x, y)
        assert y.tolist() == [3, 6]
        y = zeros(2)
        group.reduce(x, y, root=1)
        assert y.tolist() == ([3, 6] if rank == 1 else [0, 0])
        group.all_gather(x, z, 2)
        assert z.tolist() == [1, 2, 2, 4]
        one = zeros(1)
        group.reduce_scatter(x, one, 1, op="max")
        assert one.tolist() == [(2, 4)[rank]]
        group.send_recv(x, y, 1 - rank)
        assert y.tolist() == ([2, 4] if rank == 0 else [1, 2])
        if rank == 0:
            group.send(x, 1)
        else:
            group.recv(y, 0)
            assert y.tolist() == [1, 2]
        table, both = x.reshape(2, 1), zeros(2, 2)
        group.scatter(table, one, root=1)
        assert one.tolist() == [(2, 4)[rank]]
        group.gather(x, both, root=0)
        assert both.tolist() == ([[1, 2], [2, 4]] if rank == 0 else [[0, 0], [0, 0]])
        turned = zeros(2, 1)
        group.all_to_all(table, turned)
        assert turned.tolist() == ([[1], [2]] if rank == 0 else [[2], [4]])
        group.broadcast(x, root=1)
        assert x.tolist() == [2, 4]
        group.barrier()
        assert (group.rank, group.size, group.name) == (rank, 2, "world") and "world" in repr(group)
        group.stop()
        print("done")
"""

NCCL = "        group = hd.distributed.init_process_group(size, rank, timeout=60)\n"
MPI = "        group = hd.distributed.init_process_group(size, rank, backend='mpi')\n"

JITTED = """
        @hd.jit
        def program(x):
            first = hd.distributed.all_gather(x, group)
            hd.distributed.all_reduce(x, group)  # nobody uses it, yet the others wait for it
            second = hd.distributed.broadcast(x, group, 1)
            same = hd.distributed.broadcast(x, group, 1)
            return first, second, same

        for step in range(3):
            x = hd.asarray(np.array([rank, step], "int32"))
            first, second, same = program(x)
            assert first.tolist() == [[0, step], [1, step]]
            assert second.tolist() == same.tolist() == [1, step]
        text = str(program.ir(x))
        kinds = [line.split('kind = "')[1].split('"')[0] if "kind =" in line else "all_reduce"
                 for line in text.splitlines() if "distributed.collective" in line]
        assert kinds == ["all_gather", "all_reduce", "broadcast", "broadcast"], text
"""

THREADS = """
        failures = []
        number = hd.cuda.nccl.get_unique_id()
        def work(rank):
            try:
                hd.cuda.Device(rank).use()
                group = hd.distributed.init_process_group(2, rank, timeout=60)
                x = hd.asarray(np.array([1.0, rank]))
                for _ in range(20):
                    assert hd.distributed.all_reduce(x, group).tolist() == [2, 1]
                traced = hd.jit(lambda x: hd.distributed.all_gather(x, group))
                assert traced(x).tolist() == [[1, 0], [1, 1]]
            except BaseException as error:
                failures.append(repr(error))
        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert not failures, failures
        print("done")
    """
