"""Memory by its address, and arrays over it, on whatever device HEDDLE_DEVICE names."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

import heddle as hd
from heddle.cuda.device import Device as DeviceOfModule
from heddle.cuda.memory import MemoryPointer, UnownedMemory
from heddle.cuda.memory_hooks import DebugPrintHook
from heddle.cuda.pinned_memory import PinnedMemoryPool
from heddle.cuda.stream import Stream

cuda = hd.cuda


def test_submodules_are_cupys():
    assert DeviceOfModule is cuda.Device and Stream is cuda.Stream
    assert MemoryPointer is cuda.MemoryPointer and UnownedMemory is cuda.UnownedMemory
    assert PinnedMemoryPool is cuda.PinnedMemoryPool
    assert issubclass(DebugPrintHook, cuda.memory_hook.MemoryHook)
    assert cuda.device.get_compute_capability() == cuda.Device().compute_capability
    for module in (cuda.memory, cuda.pinned_memory, cuda.stream, cuda.device, cuda.memory_hooks):
        assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize("kind", [cuda.Memory, cuda.ManagedMemory, cuda.MemoryAsync])
def test_copies(kind):
    values = np.arange(100.0)
    memory = kind(800)
    assert memory.size == 800 and memory.device_id == cuda.get_device_id() and int(memory) != 0
    assert memory.device == cuda.Device()
    pointer = cuda.MemoryPointer(memory, 0)
    pointer.copy_from_host(values.ctypes.data, 800)
    back = np.zeros(100)
    pointer.copy_to_host(ctypes.c_void_p(back.ctypes.data), 800)
    np.testing.assert_array_equal(back, values)
    other = cuda.MemoryPointer(kind(400), 0)
    other.copy_from_device(pointer + 400, 400)
    other.copy_to_host(back.ctypes.data, 400)
    np.testing.assert_array_equal(back[:50], values[50:])
    stream = cuda.Stream(non_blocking=True)
    other.memset_async(0, 400, stream)
    other.copy_from_async((pointer + 80) - 40, 8, stream)
    stream.synchronize()
    other.copy_to_host_async(back.ctypes.data, 400, stream)
    stream.synchronize()
    assert back[0] == 5 and (back[1:50] == 0).all()
    other.memset(255, 8)
    other.copy_from(values.ctypes.data, 8)
    assert int(other) == other.ptr == other.mem.ptr
    assert cuda.Memory(0).ptr == 0
    with pytest.raises(ValueError):
        kind(-1)
    with pytest.raises(hd.OutOfMemory):
        kind(1 << 60)


def test_an_array_over_memory_shares_it():
    pointer = cuda.alloc(960)
    x = hd.ndarray((10, 12), memptr=pointer)
    x[:] = hd.arange(120.0).reshape(10, 12)
    x.eval()
    same = hd.ndarray((120,), "float64", pointer)
    np.testing.assert_array_equal(hd.asnumpy(same), np.arange(120.0))
    turned = hd.ndarray((12, 10), float, memptr=pointer, strides=(8, 96))
    np.testing.assert_array_equal(hd.asnumpy(turned), np.arange(120.0).reshape(10, 12).T)
    fortran = hd.ndarray((12, 10), memptr=pointer, order="F")
    # CuPy's order of arguments.
    for again in (hd.ndarray((12, 10), float, pointer, (8, 96)), hd.ndarray((12, 10), float, pointer, None, "F")):
        np.testing.assert_array_equal(hd.asnumpy(again), hd.asnumpy(turned))
    assert not hd.ndarray((2, 3), float, None, None, "C").any()
    with pytest.raises(ValueError, match="strides need a buffer"):
        hd.ndarray((2, 3), float, None, (24, 8))
    with pytest.raises(TypeError, match="offset"):
        hd.ndarray((2, 3), float, pointer, (24, 8), None, "C")
    np.testing.assert_array_equal(hd.asnumpy(fortran), hd.asnumpy(turned))
    tail = hd.ndarray((20,), memptr=pointer + 800)
    tail += 1000
    gaps = hd.ndarray((3, 2), memptr=pointer + 8, strides=(192, 24))
    before = hd.asnumpy(x)
    gaps -= 5000
    gaps[1] = -1
    after = before.copy().reshape(-1)
    after[[1, 4, 49, 52]] -= 5000
    after[[25, 28]] = -1
    np.testing.assert_array_equal(hd.asnumpy(x).reshape(-1), after)
    x[...] = hd.asarray(before)
    assert x[9, 11].item() == 1119 and x[0, 0].item() == 0
    assert hd.ndarray((0,), memptr=pointer + 960).shape == (0,)
    for wrong, match in ((dict(shape=(121,)), "bytes are needed"), (dict(shape=(-1,)), "negative"),
                         (dict(shape=(5, 4), strides=(8, 8)), "share memory"),
                         (dict(shape=(5,), offset=4), "aligned")):
        with pytest.raises(ValueError, match=match):
            hd.ndarray(**wrong, memptr=pointer)
    with pytest.raises(TypeError, match="not both"):
        hd.ndarray((3,), buffer=np.zeros(3), memptr=pointer)


def test_memory_of_an_array_that_is_gone_is_kept():
    memory = cuda.Memory(80)
    gone = weakref.ref(memory)
    x = hd.ndarray((10,), memptr=cuda.MemoryPointer(memory, 0))
    x[:] = 3
    del memory
    gc.collect()
    assert gone() is not None and x.sum().item() == 30
    del x
    hd.synchronize()
    gc.collect()
    assert gone() is None


def test_memory_of_another_library():
    if cuda.get_device_id() < 0:
        owner = np.arange(10.0)
        memory = cuda.UnownedMemory(owner.ctypes.data, 80, owner)
    else:
        owner = cuda.Memory(80)
        memory = cuda.UnownedMemory(owner.ptr, 80, owner, stream=cuda.get_current_stream())
    assert memory.device_id == cuda.get_device_id()
    x = hd.ndarray((10,), memptr=cuda.MemoryPointer(memory, 0))
    x[:] = 2
    assert (x * 3).sum().item() == 60
    if cuda.get_device_id() < 0:
        assert (owner == 2).all()


def test_data_of_an_array():
    x = (hd.arange(10.0) + 1).eval()
    if cuda.get_device_id() < 0:
        assert isinstance(x.data, memoryview)
        return
    assert isinstance(x.data, cuda.MemoryPointer) and x.data.mem.size == 80
    back = np.zeros(10)
    x.data.copy_to_host(back.ctypes.data, 80)
    np.testing.assert_array_equal(back, np.arange(10.0) + 1)


def test_memory_of_a_pool_is_freed_by_name():
    pool = hd.cuda.MemoryPool()
    memory = pool.malloc(1000).mem
    assert isinstance(memory, hd.cuda.memory.PooledMemory) and pool.used_bytes() == 1024
    memory.free()
    memory.free()
    assert pool.used_bytes() == 0 and memory.ptr == 0 and memory.size == 0
    assert pool.malloc(0).ptr == 0
    pool.free_all_blocks()
    assert pool.total_bytes() == 0
