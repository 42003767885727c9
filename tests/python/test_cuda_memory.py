"""Copies to the host on streams, pinned memory and pools, on whatever device HEDDLE_DEVICE names."""

import gc

import numpy as np
import pytest

import heddle as hd

cuda = hd.cuda


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("order", ["C", "F", "A", "c"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex128"])
def test_get(dtype, order, blocking):
    values = np.arange(12).reshape(3, 4).astype(dtype)
    stream = cuda.Stream(non_blocking=True)
    for array in (hd.asarray(values), hd.asarray(values.T.copy()).T):
        for found in (array.get(stream, order, blocking=blocking),
                      hd.asnumpy(array, stream=stream, order=order, blocking=blocking)):
            stream.synchronize()
            np.testing.assert_array_equal(found, values)
            assert found.dtype == values.dtype
            assert found.flags.f_contiguous if order == "F" else found.flags.c_contiguous


@pytest.mark.parametrize("blocking", [True, False])
def test_get_into(blocking):
    values = np.arange(12.0).reshape(3, 4)
    array = hd.asarray(values) * 1
    wide = np.zeros((3, 8))
    for out in (np.zeros((3, 4)), np.zeros((3, 4), order="F"), wide[:, ::2]):
        assert array.get(out=out, blocking=blocking) is out
        cuda.get_current_stream().synchronize()
        np.testing.assert_array_equal(out, values)
    assert (wide[:, 1::2] == 0).all()
    with pytest.raises(ValueError, match="shape"):
        array.get(out=np.zeros((4, 3)))
    with pytest.raises(TypeError, match="float32"):
        array.get(out=np.zeros((3, 4), "float32"))
    with pytest.raises(TypeError, match="out"):
        array.get(out=[0.0])
    with pytest.raises(ValueError, match="read-only"):
        array.get(out=np.frombuffer(bytes(96), np.float64).reshape(3, 4))
    with pytest.raises(TypeError, match="stream"):
        array.get(stream="0")


def test_get_of_what_goes_away():
    stream = cuda.Stream(non_blocking=True)
    found = [(hd.arange(100_000.0) * i).get(stream, blocking=False) for i in range(8)]
    others = [hd.full(100_000, -1.0).eval() for _ in range(8)]
    stream.synchronize()
    for i, each in enumerate(found):
        np.testing.assert_array_equal(each, np.arange(100_000.0) * i)
    assert len(others) == 8


def test_get_of_small_arrays():
    assert hd.asarray(2.5).get().shape == () and hd.asarray(2.5).get(order="F") == 2.5
    assert hd.zeros((0, 3)).get(blocking=False).shape == (0, 3)
    assert hd.asnumpy([1, 2]).tolist() == [1, 2] and hd.asnumpy(a=3) == 3
    with pytest.raises(ValueError, match="order"):
        hd.zeros(3).get(order="Z")


def test_set():
    values = np.arange(12.0).reshape(3, 4)
    stream = cuda.Stream(non_blocking=True)
    array = hd.zeros((3, 4))
    array.set(values, stream)
    stream.synchronize()
    np.testing.assert_array_equal(hd.asnumpy(array), values)
    array[1:].set(values[:2], stream=stream)
    np.testing.assert_array_equal(hd.asnumpy(array), np.concatenate([values[:1], values[:2]]))
    array.set(np.asfortranarray(values))
    np.testing.assert_array_equal(hd.asnumpy(array), values)
    with pytest.raises(ValueError):
        array.set(values[:2], stream)


def test_pinned_memory():
    pool = hd.get_default_pinned_memory_pool()
    pool.free_all_blocks()
    assert pool.n_free_blocks() == 0
    memory = cuda.alloc_pinned_memory(800)
    assert memory.size() == 800 and memory.ptr != 0
    buffer = np.frombuffer(memory, np.float64, 100)
    buffer[:] = np.arange(100)
    array = hd.zeros(100)
    array.set(buffer)
    buffer[:] = -1
    assert (array * 2).get(out=buffer, blocking=False) is buffer
    cuda.get_current_stream().synchronize()
    np.testing.assert_array_equal(buffer, np.arange(100.0) * 2)
    del buffer, memory
    gc.collect()
    assert pool.n_free_blocks() == 1
    pool.free_all_blocks()
    assert pool.n_free_blocks() == 0
    memory = cuda.PinnedMemoryPool().malloc(16)
    assert int(memory) == memory.ptr and int(4 + memory) == int(memory + 4) == memory.ptr + 4
    second = memory + 8
    np.frombuffer(memory, np.int64)[:] = 5, 6
    assert np.frombuffer(second, np.int64).tolist() == [6] and second.size() == 8
    assert (second - 8).ptr == memory.ptr
    for outside in (lambda: memory + 17, lambda: memory - 1):
        with pytest.raises(ValueError):
            outside()
    with pytest.raises(ValueError):
        cuda.alloc_pinned_memory(-1)
    with pytest.raises(MemoryError):
        cuda.alloc_pinned_memory(1 << 62)


def test_memory_pool():
    pool = hd.get_default_memory_pool()
    assert pool is hd.cuda.get_default_memory_pool()
    gc.collect()
    before = pool.used_bytes()
    x = hd.arange(1_000_000.0).eval()
    assert pool.used_bytes() >= before + 8_000_000
    assert pool.total_bytes() == pool.used_bytes() + pool.free_bytes()
    del x
    cuda.Device().synchronize()
    assert pool.n_free_blocks() > 0
    pool.free_all_blocks()
    pool.free_all_blocks(cuda.Stream.null)
    assert pool.free_bytes() >= 0
    limit = pool.get_limit()
    try:
        pool.set_limit(size=1 << 30)
        assert pool.get_limit() == 1 << 30
        pool.set_limit(fraction=0.5)
        assert pool.get_limit() == cuda.Device().mem_info[1] // 2
        pool.set_limit()
        assert pool.get_limit() == 0
        for wrong in ({"size": 1, "fraction": 0.5}, {"fraction": 2}, {"size": -1}):
            with pytest.raises(ValueError):
                pool.set_limit(**wrong)
    finally:
        pool.set_limit(limit)
