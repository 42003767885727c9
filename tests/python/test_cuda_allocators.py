"""Allocators, kinds of memory and hooks on the tests' own driver, whose two GPUs have 256 MiB each."""

from fake_gpus import run_on_fake_gpus


def test_managed_memory_is_at_most_what_is_free():
    run_on_fake_gpus("""
        import heddle as hd
        from fake_gpus import control
        cuda, calls = hd.cuda, control().calls
        names = [b"cuMemAllocManaged", b"cuMemPrefetchAsync_v2", b"cuMemAdvise_v2"]
        assert [calls(name) for name in names] == [0, 0, 0]

        MIB = 1 << 20
        first, second = cuda.malloc_managed(100 * MIB), cuda.malloc_managed(100 * MIB)
        try:
            cuda.malloc_managed(100 * MIB)
        except hd.OutOfMemory as error:
            assert "104857600 bytes" in str(error), error
        else:
            raise AssertionError("more than there is")
        stream = cuda.get_current_stream()
        free = cuda.Device().mem_info[0]
        first.mem.prefetch(stream)
        first.mem.advise(cuda.runtime.cudaMemAdviseSetPreferredLocation, cuda.Device(0))
        first.mem.advise(cuda.runtime.cudaMemAdviseSetAccessedBy, cuda.runtime.cudaCpuDeviceId)
        stream.synchronize()
        assert cuda.Device().mem_info[0] == free - 100 * MIB
        first.mem.prefetch(stream, cuda.runtime.cudaCpuDeviceId)
        stream.synchronize()
        assert cuda.Device().mem_info[0] == free
        assert [calls(name) for name in names] == [2, 2, 2]
        del first, second
        assert cuda.malloc_managed(200 * MIB).device_id == 0
        print("done")
    """)


def test_the_drivers_pool():
    run_on_fake_gpus("""
        import numpy as np
        import heddle as hd
        cuda, MIB = hd.cuda, 1 << 20
        pool = cuda.MemoryAsyncPool()
        pointer = pool.malloc(10 * MIB)
        assert pool.used_bytes() == 10 * MIB == pool.total_bytes() and pool.free_bytes() == 0
        values = np.arange(100.0)
        pointer.copy_from_host(values.ctypes.data, 800)
        back = np.zeros(100)
        pointer.copy_to_host(back.ctypes.data, 800)
        assert (back == values).all()
        with cuda.Device(1):
            assert pool.used_bytes() == 0
        del pointer
        cuda.Device().synchronize()
        pool.free_all_blocks(cuda.Stream.null)
        assert pool.used_bytes() == pool.total_bytes() == 0
        with cuda.using_allocator(pool.malloc):
            x = hd.asarray(values)
            assert pool.used_bytes() > 0
        assert (hd.asnumpy(x) == values).all()
        print("done")
    """)


def test_allocators_know_device_and_stream():
    run_on_fake_gpus("""
        import gc
        import numpy as np
        import heddle as hd
        cuda = hd.cuda
        seen, pool = [], cuda.MemoryPool()

        def allocator(size):
            seen.append((cuda.get_device_id(), cuda.get_current_stream(), size))
            return pool.malloc(size)

        values, stream = np.arange(100.0), cuda.Stream(non_blocking=True)
        with cuda.using_allocator(allocator):
            with stream:
                x = hd.asarray(values)
            with cuda.Device(1):
                y = hd.asarray(values)
                assert pool.used_bytes() == 1024
        assert seen[0] == (0, stream, 1024) and [each[0] for each in seen[1:]] == [1], seen
        assert (hd.asnumpy(x) == values).all() and (hd.asnumpy(y) == values).all()
        assert pool.used_bytes() == 1024
        del x
        gc.collect()
        cuda.Device(0).synchronize()
        with cuda.using_allocator(allocator):
            z = hd.asarray(values)  # the next call of the allocator releases memory
        assert pool.used_bytes() == 1024
        print("done")
    """)


def test_arrays_over_memory_of_others():
    run_on_fake_gpus("""
        import numpy as np
        import heddle as hd
        from fake_gpus import ForeignStream, control
        cuda = hd.cuda
        values = np.arange(100.0)
        owner = cuda.Memory(800)
        cuda.MemoryPointer(owner, 0).copy_from_host(values.ctypes.data, 800)
        stream = ForeignStream()
        memory = cuda.UnownedMemory(owner.ptr, 800, owner, stream=stream.ptr)
        assert memory.device_id == 0
        calls = control().calls
        before = calls(b"cuStreamWaitEvent")
        x = hd.ndarray((10, 10), memptr=cuda.MemoryPointer(memory, 0))
        assert calls(b"cuStreamWaitEvent") == before + 1
        assert x.device == "cuda:0" and (hd.asnumpy(x) == values.reshape(10, 10)).all()
        assert x.data.ptr == owner.ptr and x.data.mem.size == 800
        tail = hd.ndarray((10,), memptr=x.data + 720)
        assert (hd.asnumpy(tail) == values[90:]).all()
        with cuda.Device(1):
            other = cuda.alloc(800)
            other.copy_from_device(x.data, 800)
            back = np.zeros(100)
            other.copy_to_host(back.ctypes.data, 800)
        assert other.device_id == 1 and (back == values).all()
        print("done")
    """)


def test_hooks_and_failures():
    run_on_fake_gpus("""
        import io
        import json
        import numpy as np
        import heddle as hd
        from fake_gpus import control
        cuda, MIB, out = hd.cuda, 1 << 20, io.StringIO()
        with cuda.memory_hooks.DebugPrintHook(file=out), cuda.Device(1):
            x = hd.asarray(np.zeros(1000))
        lines = [json.loads(line) for line in out.getvalue().splitlines()]
        assert [line["hook"] for line in lines] == ["alloc", "malloc"], lines
        assert [line["device_id"] for line in lines] == [1, 1]

        for name, allocator in ((b"cuMemAllocManaged", cuda.malloc_managed),
                                (b"cuMemAllocAsync", cuda.malloc_async)):
            for code, error in ((2, hd.OutOfMemory), (999, hd.DeviceError)):
                control().fail(name, code, 0)
                try:
                    allocator(1000)
                except error:
                    assert code == 999, "one failure is followed by another try"
                else:
                    assert code == 2
                allocator(1000)
        print("done")
    """)
