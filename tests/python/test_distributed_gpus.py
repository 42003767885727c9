"""heddle.distributed and heddle.cuda.nccl on two real GPUs with NVIDIA's NCCL."""

import pytest

import heddle as hd
from process_groups import run_processes, run_threads
from process_group_programs import ALL_KINDS, BACKEND, JITTED, NCCL, THREADS


def have_two_gpus():
    if sum(device.startswith("cuda") for device in hd.devices()) < 2:
        return False
    try:
        return hd.cuda.nccl.get_version() > 0
    except hd.DeviceError:
        return False


pytestmark = pytest.mark.skipif(not have_two_gpus(), reason="needs two GPUs and NCCL")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "int16", "uint16", "int32",
                                   "uint32", "int64", "uint64", "float16"])
def test_two_processes_exchange_arrays(dtype):
    run_processes(f"{NCCL}        dtype = '{dtype}'" + ALL_KINDS + "        print('done')\n", real=True)


def test_methods_write_to_arrays_as_cupyx_does():
    run_processes(NCCL + BACKEND, real=True)


def test_exchanges_in_programs_with_kernels():
    run_processes(NCCL + JITTED + """
        @hd.jit
        def step(w, x, y):
            gradient = x.T @ (x @ w - y) / x.shape[0]
            return w - 0.5 * hd.distributed.all_reduce(gradient, group) / group.size
        generator = np.random.default_rng(rank)
        x = generator.standard_normal((64, 3))
        x, y = hd.asarray(x), hd.asarray(x @ np.array([1.0, -2.0, 3.0]))
        w = hd.zeros(3, dtype="float64")
        for _ in range(300):
            w = step(w, x, y)
        np.testing.assert_allclose(w.tolist(), [1, -2, 3], atol=1e-6)
        every = hd.distributed.all_gather(w, group)
        assert every[0].tolist() == every[1].tolist()
        flags = hd.asarray([rank == 0, True, False])
        assert hd.distributed.all_reduce(flags, group).tolist() == [True, True, False]
        z = hd.asarray([1 + 2j, 3j]) * (rank + 1)
        assert hd.distributed.all_reduce(z, group).tolist() == [3 + 6j, 9j]
        b = hd.asarray([1.0, 2.0]).astype(hd.bfloat16) * (rank + 1)
        assert hd.distributed.all_reduce(b, group).astype("float32").tolist() == [3, 6]
        print("done")
    """, real=True)


def test_threads_of_one_process():
    run_threads(THREADS, real=True)


def test_large_arrays_on_other_streams():
    run_processes(NCCL + """
        stream = hd.cuda.Stream(non_blocking=True)
        x = hd.ones(1 << 22, dtype="float32") * (rank + 1)
        for _ in range(10):
            y = hd.distributed.all_reduce(x, group) * 2
            with stream:
                z = hd.distributed.all_reduce(y, group) / 4
            x = hd.distributed.all_gather(z, group)[rank] / 2
        assert hd.all(x == x[0]).item()
        np.testing.assert_allclose(x[0].item(), 1.5)
        print("done")
    """, real=True)


def test_a_lost_process_is_an_error():
    run_processes("""
        group = hd.distributed.init_process_group(size, rank, timeout=5 if rank == 0 else 60)
        x = hd.ones(1 << 20, dtype="float32")
        assert hd.distributed.all_reduce(x, group)[0].item() == 2
        if rank == 0:
            said = refusal(hd.CommunicationError,
                           lambda: hd.distributed.all_reduce(x, group)[0].item())
            assert "all_reduce" in said, said
            refusal(hd.CommunicationError, group.check)
            assert (x + 1)[0].item() == 2  # the device works
        print("done", flush=True)
        os._exit(0) if rank == 1 else None
    """, real=True)
