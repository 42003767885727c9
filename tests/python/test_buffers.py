"""The buffer protocol on the CPU, and arrays whose elements others share."""

import io
import threading

import numpy as np
import pytest
from conftest import DTYPES, ON_CPU, check
from test_ndarray import LAYOUTS, arrays

import heddle as hd

on_cpu = pytest.mark.skipif(not ON_CPU, reason="the elements are in host memory")


@on_cpu
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != hd.bfloat16], ids=str)
def test_memoryview(dtype, layout):
    n, x, whole, ours = arrays(dtype, layout)
    theirs, view = memoryview(n), memoryview(x)
    assert view.shape == theirs.shape and view.itemsize == theirs.itemsize
    assert view.readonly and view.nbytes == theirs.nbytes
    if n.size:
        assert view.strides == theirs.strides and view.c_contiguous == theirs.c_contiguous
    assert np.asarray(view).dtype == n.dtype
    np.testing.assert_array_equal(np.asarray(view), n)
    assert view.tobytes() == n.tobytes() and x.data.tobytes() == n.tobytes()


@on_cpu
def test_buffers_hold_what_an_array_was():
    x = hd.arange(4.0)
    view, shared = memoryview(x), np.asarray(x)
    assert np.shares_memory(np.asarray(view), shared) and not shared.flags.writeable
    x[1] = 9.0
    x += 1
    x[2:] = x[:2] * 2
    check(x, np.array([1, 10, 2, 20.0]))
    for held in (view.tolist(), shared.tolist()):
        assert held == [0, 1, 2, 3]
    for refused in (lambda: io.BytesIO(b"12345678").readinto(x), lambda: shared.__setitem__(0, 1.0)):
        with pytest.raises((BufferError, TypeError, ValueError)):
            refused()
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(hd.zeros(2, dtype=hd.bfloat16))
    with pytest.raises(hd.TraceError):
        hd.jit(lambda y: memoryview(y))(x)


# What reads an array whose elements somebody shares, and changes, before it is computed.
READERS = {
    "operator": lambda xp, x: x * 2, "in place": lambda xp, x: xp.zeros(6).__iadd__(x),
    "assignment": lambda xp, x: assigned(xp.zeros(6), slice(None), x),
    "slices": lambda xp, x: assigned(xp.zeros(6), slice(1, None), x[1:]),
    "masks": lambda xp, x: assigned(xp.zeros(6), xp.asarray([True] * 6), x),
    "divmod": lambda xp, x: xp.concatenate(xp.divmod(x, 4)), "flatten": lambda xp, x: x.flatten(),
    "frexp": lambda xp, x: xp.concatenate(xp.frexp(x)), "meshgrid": lambda xp, x: xp.concatenate(xp.meshgrid(x, x)),
    "reshape": lambda xp, x: x.reshape(2, 3).T.reshape(-1), "ravel": lambda xp, x: x.reshape(2, 3).ravel("F"),
    "diag": lambda xp, x: xp.diag(x).copy(), "copyto": lambda xp, x: copied(xp, x),
    "histogram": lambda xp, x: xp.histogram(x, bins=3)[0]}


def assigned(target, key, value):
    target[key] = value
    return target


def copied(xp, x):
    target = xp.zeros(6)
    xp.copyto(target, x)
    return target


@on_cpu
@pytest.mark.parametrize("share", [
    lambda xp, x: np.asarray(x), lambda xp, x: memoryview(x), lambda xp, x: x.view("int64"),
    lambda xp, x: np.from_dlpack(x)], ids=["asarray", "memoryview", "view", "dlpack"])
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_shared_elements_are_read_as_they_were(read, share):
    results = []
    for xp in (np, hd):
        x = xp.arange(6.0)
        shared = share(xp, x)
        result = read(xp, x)
        x += 1
        x[2:4] = 100
        results.append((result.tolist(), x.tolist()))
        del shared
    assert results[0] == results[1]


@on_cpu
def test_buffers_while_another_thread_writes():
    x, stop = hd.zeros(100000), []

    def export():
        while not stop:
            memoryview(x).release()

    worker = threading.Thread(target=export)
    worker.start()
    for _ in range(50):
        x += 1
        x[10:] = x[:-10] + 0
    stop.append(True)
    worker.join()
    assert set(x.tolist()) == {50.0}


@on_cpu
def test_strided_buffers_need_a_consumer_that_takes_them():
    x = hd.arange(6.0)[::2]
    assert bytes(memoryview(x)) == np.arange(6.0)[::2].tobytes()
    with pytest.raises((BufferError, ValueError)):
        np.frombuffer(x)
    assert bytes(bytearray(hd.arange(3, dtype="u1"))) == b"\0\1\2"


@on_cpu
def test_numpy_reads_the_elements_where_they_lie():
    x = hd.arange(6.0).reshape(2, 3)
    n = np.asarray(x)
    assert n.ctypes.data == np.asarray(x).ctypes.data
    copy = np.array(x)
    copy[...] = 0
    assert x[0, 1] == 1
    del n
    check(hd.jit(lambda y: y + 1)(x), np.arange(1, 7.0).reshape(2, 3))
