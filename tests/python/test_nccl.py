"""heddle.cuda.nccl: pointers, with the tests' own NCCL."""

import os

import pytest

import heddle as hd
from process_groups import needs_fake, run_processes, run_threads


def test_constants_are_those_of_nccl():
    nccl = hd.cuda.nccl
    assert (nccl.NCCL_SUM, nccl.NCCL_PROD, nccl.NCCL_MAX, nccl.NCCL_MIN) == (0, 1, 2, 3)
    assert (nccl.NCCL_FLOAT, nccl.NCCL_FLOAT64, nccl.NCCL_BFLOAT16, nccl.NCCL_UINT64) == (7, 8, 9, 5)


def test_a_group_must_be_open_to_be_ended():
    with pytest.raises((hd.ValueError, hd.DeviceError)):
        hd.cuda.nccl.groupEnd()


@needs_fake
def test_two_processes_exchange_pointers():
    run_processes("""
        nccl = hd.cuda.nccl
        path = os.environ["ID_FILE"]
        if rank == 0:
            open(path + ".new", "w").write(repr(nccl.get_unique_id()))
            os.rename(path + ".new", path)
        while not os.path.exists(path):
            pass
        number = eval(open(path).read())
        assert len(number) == nccl.NCCL_UNIQUE_ID_BYTES and nccl.get_version() == 22899
        comm = nccl.NcclCommunicator(2, number, rank, timeout=30)
        assert (comm.size(), comm.rank_id(), comm.device_id()) == (2, rank, rank)
        stream = hd.cuda.Stream()

        def pointer(array):
            return array.__cuda_array_interface__["data"][0]

        def filled(*values):
            array = hd.asarray(np.array(values, "float32"))
            return array, pointer(array)

        with stream:
            x, x_pointer = filled(1 + rank, 10 * (1 + rank))
            y, y_pointer = filled(0, 0)
            for op, wanted in [(nccl.NCCL_SUM, [3, 30]), (nccl.NCCL_PROD, [2, 200]),
                               (nccl.NCCL_MAX, [2, 20]), (nccl.NCCL_MIN, [1, 10])]:
                comm.allReduce(x_pointer, y_pointer, 2, nccl.NCCL_FLOAT32, op, stream.ptr)
                assert y.tolist() == wanted, (op, y)
            comm.broadcast(x_pointer, y_pointer, 2, nccl.NCCL_FLOAT, 1, stream.ptr)
            assert y.tolist() == [2, 20]
            comm.reduce(x_pointer, y_pointer, 2, nccl.NCCL_FLOAT, nccl.NCCL_SUM, 0, stream.ptr)
            assert y.tolist() == ([3, 30] if rank == 0 else [2, 20])
            comm.reduceScatter(x_pointer, y_pointer, 1, nccl.NCCL_FLOAT, nccl.NCCL_SUM, stream.ptr)
            assert y.tolist()[0] == (3, 30)[rank]
            z, z_pointer = filled(0, 0, 0, 0)
            comm.allGather(x_pointer, z_pointer, 2, nccl.NCCL_FLOAT, stream.ptr)
            assert z.tolist() == [1, 10, 2, 20]
            # In a group both may send first.
            nccl.groupStart()
            comm.send(x_pointer, 2, nccl.NCCL_FLOAT, 1 - rank, stream.ptr)
            comm.recv(z_pointer, 2, nccl.NCCL_FLOAT, 1 - rank, stream.ptr)
            nccl.groupEnd()
            assert z.tolist()[:2] == ([2, 20] if rank == 0 else [1, 10])
            comm.bcast(x_pointer, 2, nccl.NCCL_FLOAT, 0, stream.ptr)
            assert x.tolist() == [1, 10]
        comm.check_async_error()
        refusal(ValueError, lambda: comm.broadcast(x_pointer, y_pointer, 2, 7, 2, stream.ptr))
        refusal(ValueError, lambda: comm.allReduce(x_pointer, y_pointer, 2, 33, 0, stream.ptr))
        comm.destroy()
        assert "destroyed" in refusal(nccl.NcclError, comm.size)
        print("done")
    """, ID_FILE=os.path.join(os.environ.get("TMPDIR", "/tmp"), f"heddle-nccl-{os.getpid()}"))


@needs_fake
def test_one_thread_drives_several_devices_in_a_group():
    run_threads("""
        nccl = hd.cuda.nccl
        comms = nccl.NcclCommunicator.initAll(2)
        assert [each.device_id() for each in comms] == [0, 1]
        arrays, streams = [], []
        for device in range(2):
            with hd.cuda.Device(device):
                arrays.append(hd.asarray(np.array([device + 1, 5], "int64")))
                streams.append(hd.cuda.Stream())
                arrays[-1].__cuda_array_interface__
                hd.cuda.Device(device).synchronize()
        nccl.groupStart()
        for comm, array, stream in zip(comms, arrays, streams):
            pointer = array.__cuda_array_interface__["data"][0]
            comm.allReduce(pointer, pointer, 2, nccl.NCCL_INT64, nccl.NCCL_SUM, stream.ptr)
        nccl.groupEnd()
        for stream in streams:
            stream.synchronize()
        assert [each.tolist() for each in arrays] == [[3, 10], [3, 10]]
        print("done")
    """)


@needs_fake
def test_a_group_of_one_needs_nobody():
    run_threads("""
        nccl = hd.cuda.nccl
        comm = nccl.NcclCommunicator(1, bytes(nccl.get_unique_id()), 0)
        x = hd.asarray(np.arange(3.0))
        pointer = x.__cuda_array_interface__["data"][0]
        comm.allReduce(pointer, pointer, 3, nccl.NCCL_DOUBLE, nccl.NCCL_SUM, 0)
        assert x.tolist() == [0, 1, 2]
        assert (comm.size(), comm.rank_id()) == (1, 0)
        comm.check_async_error()
        comm.abort()
        refusal(nccl.NcclError, lambda: comm.allReduce(pointer, pointer, 3, nccl.NCCL_DOUBLE, nccl.NCCL_SUM, 0))
        assert nccl.get_build_version() == nccl.get_version()
        refusal(ValueError, lambda: nccl.NcclCommunicator(2, nccl.get_unique_id(), 2))
        refusal(ValueError, lambda: nccl.NcclCommunicator(2, b"short", 0))
        refusal(ValueError, lambda: nccl.NcclCommunicator(1, (1, 2, 3), 0))
        refusal(TypeError, lambda: nccl.NcclCommunicator(1, None, 0))
        (alone,) = nccl.NcclCommunicator.initAll(1)
        assert (alone.rank_id(), alone.device_id(), alone.size()) == (0, 0, 1)
        alone.destroy()
        print("done")
    """)


def test_without_nccl_the_error_says_what_to_do(monkeypatch):
    if hd.device() != "cpu":
        pytest.skip("a machine with a GPU may have NCCL")
    with pytest.raises(hd.DeviceError, match="GPU|NCCL|driver"):
        hd.cuda.nccl.get_unique_id()
