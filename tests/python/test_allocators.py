"""Allocators and pools of heddle.cuda, on whatever device HEDDLE_DEVICE names."""

import ctypes
import gc
import sys
import threading
import types

import numpy as np
import pytest

import heddle as hd

cuda = hd.cuda
MIB = 1 << 20


@pytest.fixture(autouse=True)
def the_default_again():
    gc.collect()
    hd.synchronize()
    yield
    cuda.set_allocator(hd.get_default_memory_pool().malloc)


def settle():
    gc.collect()
    hd.synchronize()


def test_a_pool_of_its_own():
    pool, default = cuda.MemoryPool(), hd.get_default_memory_pool()
    assert (pool.used_bytes(), pool.total_bytes(), pool.n_free_blocks()) == (0, 0, 0)
    used = default.used_bytes()
    cuda.set_allocator(pool.malloc)
    assert cuda.get_allocator() == pool.malloc
    x = hd.arange(1000.0).eval()
    assert pool.used_bytes() == 8192 and pool.total_bytes() == 2 * MIB
    assert pool.free_bytes() == pool.total_bytes() - 8192
    assert default.used_bytes() == used
    cuda.set_allocator(default.malloc)
    assert (x + 1).sum().item() == 500500
    assert pool.used_bytes() == 8192
    del x
    settle()
    assert pool.used_bytes() == 0 and pool.n_free_blocks() == 1
    pool.free_all_blocks()
    assert pool.total_bytes() == 0


def test_limit_of_a_pool():
    pool = cuda.MemoryPool()
    assert pool.get_limit() == 0
    pool.set_limit(size=4 * MIB)
    assert pool.get_limit() == 4 * MIB
    with cuda.using_allocator(pool.malloc):
        with pytest.raises(hd.OutOfMemory, match="under a limit of 4194304"):
            hd.zeros(MIB).eval()
        assert hd.ones(100).eval().sum().item() == 100
    pool.set_limit(fraction=0.25)
    assert pool.get_limit() == cuda.Device().mem_info[1] // 4
    for wrong in ({"size": 1, "fraction": 0.5}, {"fraction": 2}, {"size": -1}):
        with pytest.raises(ValueError):
            pool.set_limit(**wrong)


def test_a_function_is_asked_for_each_block():
    sizes, pool = [], cuda.MemoryPool()

    def allocator(size):
        sizes.append(size)
        return pool.malloc(size)

    with cuda.using_allocator(allocator):
        assert cuda.get_allocator() is allocator
        x = hd.arange(1000.0) + 1  # recorded here, so its memory comes from here
    assert sizes == [8192] and pool.used_bytes() == 8192
    np.testing.assert_array_equal(hd.asnumpy(x), np.arange(1000.0) + 1)
    assert cuda.get_allocator() == hd.get_default_memory_pool().malloc
    y = (x * 2).eval()
    assert len(sizes) == 1
    del x
    settle()
    hd.ones(3).eval()
    assert pool.used_bytes() == 0 and y[3].item() == 8


def test_a_pool_over_a_function_asks_for_segments():
    sizes = []

    def allocator(size):
        sizes.append(size)
        return cuda.malloc_managed(size)

    pool = cuda.MemoryPool(allocator)
    with cuda.using_allocator(pool.malloc):
        arrays = [hd.full(1000, i).eval() for i in range(5)]
    assert sizes == [2 * MIB]
    assert [int(each.sum()) for each in arrays] == [1000 * i for i in range(5)]


@pytest.mark.parametrize("allocator", [cuda.malloc_managed, cuda.malloc_async, None,
                                       cuda.MemoryPool(cuda.malloc_managed).malloc,
                                       cuda.MemoryPool(cuda.malloc_async).malloc,
                                       cuda.MemoryAsyncPool().malloc])
def test_kinds_of_memory(allocator):
    with cuda.using_allocator(allocator):
        x = hd.arange(100_000.0).reshape(100, 1000)
        np.testing.assert_array_equal(hd.asnumpy((x * 2).sum(axis=1)),
                                      (np.arange(100_000.0).reshape(100, 1000) * 2).sum(axis=1))
        pointer = cuda.alloc(100)
        assert isinstance(pointer, cuda.MemoryPointer) and pointer.mem.size == 100


def test_scopes_nest_and_belong_to_a_thread():
    first, second = cuda.MemoryPool(), cuda.MemoryPool()
    with cuda.using_allocator(first.malloc):
        with cuda.using_allocator(second.malloc):
            x = hd.ones(10).eval()
        y = hd.ones(1000).eval()
        assert (first.used_bytes(), second.used_bytes()) == (8192, 512)
        with pytest.raises(ValueError, match="using_allocator"):
            cuda.set_allocator(None)
        found = []
        thread = threading.Thread(target=lambda: found.append(hd.ones(77).eval()))
        thread.start()
        thread.join()
        assert (first.used_bytes(), second.used_bytes()) == (8192, 512)
    assert x.sum().item() == 10 and y.sum().item() == 1000 and found[0].sum().item() == 77


def test_errors_of_an_allocator_are_those_of_the_call():
    class Refusal(Exception):
        pass

    def refuses(size):
        raise Refusal(f"no {size} bytes")

    x = hd.arange(100.0).eval()
    with pytest.raises(Refusal, match="no 1024 bytes"):
        with cuda.using_allocator(refuses):
            y = x + 1
            y.eval()
    np.testing.assert_array_equal(hd.asnumpy(y), np.arange(100.0) + 1)  # the same operation again

    def has_none(size):
        raise MemoryError("not here")

    with pytest.raises(hd.OutOfMemory, match="allocator that was set has no more memory"):
        with cuda.using_allocator(has_none):
            z = x + 2
            z.eval()
    assert z.sum().item() == 5150
    for wrong in (3, "pool"):
        with pytest.raises(TypeError, match="function of a size"):
            cuda.set_allocator(wrong)
    with pytest.raises(TypeError, match="ptr"):
        with cuda.using_allocator(lambda size: size):
            w = x + 3
            w.eval()


def test_arrays_in_an_allocator_have_memory_of_the_default_pool():
    made = []

    def allocator(size):
        made.append(hd.ones(4).eval())
        return hd.get_default_memory_pool().malloc(size)

    with cuda.using_allocator(allocator):
        assert (hd.arange(10.0) + 1).eval().sum().item() == 55
    assert len(made) > 0 and made[0].sum().item() == 4


def test_memory_that_is_not_aligned():
    held = []

    def allocator(size):
        pointer = hd.get_default_memory_pool().malloc(size + 16) + 16
        held.append(pointer.ptr)
        return pointer

    with cuda.using_allocator(allocator):
        x = (hd.arange(1000.0) + 1).eval()
    assert len(held) == 2 and held[1] % 512 == 16
    np.testing.assert_array_equal(hd.asnumpy(x * x), (np.arange(1000.0) + 1) ** 2)


def test_python_functions():
    blocks = {}

    def malloc_func(size, device_id):
        pointer = hd.get_default_memory_pool().malloc(size)
        blocks[pointer.ptr] = (pointer, device_id)
        return pointer.ptr

    allocator = cuda.PythonFunctionAllocator(malloc_func, lambda ptr, device_id: blocks.pop(ptr))
    with cuda.using_allocator(allocator.malloc):
        x = hd.arange(50.0).eval()
    assert [device for _, device in blocks.values()] == [cuda.get_device_id()]
    assert x.sum().item() == 1225
    del x
    settle()
    with cuda.using_allocator(allocator.malloc):
        pass
    hd.synchronize()
    pointer = allocator.malloc(100)
    assert pointer.ptr in blocks
    del pointer
    gc.collect()
    with pytest.raises(MemoryError):
        cuda.PythonFunctionAllocator(lambda size, device_id: 0, print).malloc(8)


def test_c_functions():
    pool, blocks, seen = hd.get_default_memory_pool(), {}, []

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    def malloc_func(param, size, device):
        seen.append((param, device))
        pointer = pool.malloc(size)
        blocks[pointer.ptr] = pointer
        return pointer.ptr

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    def free_func(param, pointer, device):
        del blocks[pointer]

    def address(function):
        return ctypes.cast(function, ctypes.c_void_p).value

    allocator = cuda.CFunctionAllocator(4711, address(malloc_func), address(free_func),
                                        (malloc_func, free_func))
    pointer = allocator.malloc(1000)
    assert seen == [(4711, cuda.get_device_id())] and pointer.ptr in blocks
    del pointer
    assert blocks == {}
    with cuda.using_allocator(allocator.malloc):
        assert hd.arange(50.0).eval().sum().item() == 1225


def test_rmm(monkeypatch):
    class DeviceBuffer:
        def __init__(self, size, stream=None):
            self._memory = cuda.Memory(size)
            self.ptr, self.size = self._memory.ptr, size

    rmm = types.ModuleType("rmm")
    rmm.DeviceBuffer = DeviceBuffer
    rmm.pylibrmm = types.SimpleNamespace(stream=types.SimpleNamespace(Stream=lambda obj: obj))
    monkeypatch.setitem(sys.modules, "rmm", rmm)
    if cuda.get_device_id() < 0:
        with pytest.raises(hd.DeviceError, match="GPUs only"):
            cuda.rmm_allocator(8)
        return
    with cuda.using_allocator(cuda.rmm_allocator):
        assert hd.arange(50.0).eval().sum().item() == 1225


def test_a_pool_outlives_its_object_while_arrays_use_it():
    pool = cuda.MemoryPool()
    with cuda.using_allocator(pool.malloc):
        x = hd.arange(1000.0).eval()
    del pool
    gc.collect()
    assert (x * 2).sum().item() == 999000


def test_the_drivers_pool():
    pool = cuda.MemoryAsyncPool()
    if cuda.get_device_id() < 0:
        with pytest.raises(hd.DeviceError, match="pool"):
            pool.used_bytes()
    else:
        pointer = pool.malloc(MIB)
        assert pool.used_bytes() >= MIB and pool.total_bytes() >= pool.used_bytes()
        assert pool.free_bytes() >= 0
        del pointer
    pool.free_all_blocks()
    for call in (pool.n_free_blocks, pool.get_limit, pool.set_limit):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(ValueError, match="pool_handles"):
        cuda.MemoryAsyncPool("create")


def test_managed_memory():
    pointer = cuda.malloc_managed(8000)
    stream = cuda.get_current_stream()
    pointer.mem.prefetch(stream)
    pointer.mem.prefetch(stream, device_id=-1)
    pointer.mem.advise(cuda.runtime.cudaMemAdviseSetReadMostly, cuda.Device())
    stream.synchronize()
    x = hd.ndarray((1000,), memptr=pointer)
    x[:] = hd.arange(1000.0)
    assert (x + 1).sum().item() == 500500


def test_pinned_arrays():
    x = cuda.zeros_pinned((2, 3), np.float32)
    assert x.shape == (2, 3) and x.dtype == np.float32 and (x == 0).all()
    assert cuda.empty_pinned(5).dtype == np.float64
    assert cuda.empty_pinned((2, 3), order="F").flags.f_contiguous
    assert cuda.empty_pinned((0, 3)).shape == (0, 3)
    like = cuda.zeros_like_pinned(np.zeros((3, 4), np.int16, order="F"))
    assert like.flags.f_contiguous and like.dtype == np.int16
    assert cuda.empty_like_pinned(hd.ones((2, 2)), shape=(7,)).shape == (7,)
    np.testing.assert_array_equal(hd.arange(6.0).reshape(2, 3).get(out=cuda.empty_pinned((2, 3))),
                                  np.arange(6.0).reshape(2, 3))
    with pytest.raises(ValueError):
        cuda.empty_pinned((-1,))
    with pytest.raises(TypeError, match="subok"):
        cuda.empty_like_pinned(x, subok=True)
    sizes = []

    def allocator(size):
        sizes.append(size)
        return cuda.PinnedMemory(size)

    cuda.set_pinned_memory_allocator(allocator)
    try:
        cuda.empty_pinned(4)
    finally:
        cuda.set_pinned_memory_allocator()
    cuda.empty_pinned(4)
    assert sizes == [32]
    with pytest.raises(TypeError):
        cuda.set_pinned_memory_allocator(3)
