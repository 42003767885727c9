"""Memory shared with other libraries: DLPack both ways, NumPy here, others where they are."""

import ctypes
import gc
import sys
import types

import numpy as np
import pytest
from conftest import check, numpy_dtype, sample

import heddle as hd

HAS_DLPACK_DTYPE = [hd.bool, hd.int8, hd.int16, hd.int32, hd.int64, hd.uint8, hd.uint16, hd.uint32,
                    hd.uint64, hd.float16, hd.float32, hd.float64]


def on_cpu(x):
    return hd.asarray(x, device="cpu")


@pytest.mark.parametrize("dtype", HAS_DLPACK_DTYPE, ids=str)
@pytest.mark.parametrize("shape", [(3, 4), (), (0, 3), (1, 5)], ids=str)
def test_numpy_round_trip(dtype, shape):
    a = sample(dtype, shape)
    check(hd.from_dlpack(a), a)
    b = np.from_dlpack(on_cpu(a))
    assert b.dtype == numpy_dtype(dtype)
    np.testing.assert_array_equal(b, a)


def test_writes_are_seen_on_both_sides():
    a = np.arange(6.0)
    x = hd.from_dlpack(a)
    before = x + 1
    a[0] = 10
    check(before, np.arange(6.0) + 1)  # computed when it was written down
    check(x, a)
    x[1] = 20
    x += 1
    np.testing.assert_array_equal(a, [11, 21, 3, 4, 5, 6])

    y = on_cpu(np.zeros(4))
    pending = y + 1
    b = np.from_dlpack(y)
    b[2] = 5
    check(y, np.array([0, 0, 5.0, 0]))
    check(pending, np.ones(4))
    y[0] = 3
    np.testing.assert_array_equal(b, [3, 0, 5, 0])


def test_shared_memory_is_never_another_arrays():
    y = on_cpu(np.zeros(4))
    early = y.copy()
    b = np.from_dlpack(y)
    late, same, inside = y.copy(), hd.asarray(y, copy=True), hd.jit(lambda x: x)(y)
    b[...] = 1
    for copy in (early, late, same, inside):
        check(copy, np.zeros(4))
    check(y, np.ones(4))


VIEWS = [lambda x: x.T, lambda x: x[1:, ::2], lambda x: x[::-1], lambda x: x[:, 1],
         lambda x: x.reshape(-1)[2:9:3], lambda x: x[None, :, None]]


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_shared(view):
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    x = on_cpu(a)
    v, w = np.from_dlpack(view(x)), view(a)
    np.testing.assert_array_equal(v, w)
    assert [s for s, n in zip(v.strides, v.shape) if n > 1] == [
        s for s, n in zip(w.strides, w.shape) if n > 1]
    v[...] = 7
    w[...] = 7
    check(x, a)
    got = hd.from_dlpack(view(np.arange(12).reshape(3, 4)))
    check(got, view(np.arange(12).reshape(3, 4)))


def test_layouts_that_need_a_copy():
    a = np.arange(12).reshape(3, 4)
    check(hd.from_dlpack(a.T, copy=False), a.T)
    check(hd.from_dlpack(a.T[:, None, :], copy=False), a.T[:, None, :])  # one element: anywhere
    fortran = np.asfortranarray(np.arange(12.0).reshape(3, 1, 4))
    check(hd.from_dlpack(fortran, copy=False), fortran)
    check(hd.from_dlpack(np.broadcast_to(a[0], (2, 4)).copy()[:, ::2]), a[[0, 0], ::2])
    windows = np.lib.stride_tricks.sliding_window_view(a, 2, 1)
    with pytest.raises(BufferError):
        hd.from_dlpack(windows, copy=False)
    check(hd.from_dlpack(windows), windows)
    x = hd.from_dlpack(a, copy=True)
    a[0, 0] = 99
    assert x[0, 0].item() == 0


GAPS = [lambda x: x[:, ::2], lambda x: x[::-2, 1:3], lambda x: x[:, ::2, 1], lambda x: x.T[1::2],
        lambda x: x[1, ::3], lambda x: x[..., -1], lambda x: x[:, 1:4, ::-1].transpose(1, 2, 0),
        lambda x: x[1:2, ::4, None], lambda x: np.diagonal(x), lambda x: x[:, ::2].reshape(4, -1, 1, 6)]
PARTS = [lambda x: x, lambda x: x[1:], lambda x: x[..., ::-1], lambda x: x[::2], lambda x: x.T,
         lambda x: x[:1], lambda x: x[..., -1:]]


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("dtype", ["f4", "c16", "i1"])
def test_memory_with_gaps_is_a_view(gaps, dtype):
    """Both sides see each other's writes, and what lies between the elements stays."""
    a = np.arange(4 * 5 * 6).astype(dtype).reshape(4, 5, 6)
    view = gaps(a)
    view = view if view.flags.writeable else np.lib.stride_tricks.as_strided(
        a, view.shape, view.strides, writeable=True)
    x = hd.from_dlpack(view, copy=False)
    check(x, view)
    check(x + x, view + view)
    check(hd.sum(x, axis=0, dtype=x.dtype), view.sum(0, dtype=dtype))
    assert x.base is None and not x.flags.owndata and np.shares_memory(np.from_dlpack(x), a)
    assert [s for s, n in zip(x.strides, x.shape) if n > 1] == [
        s for s, n in zip(view.strides, view.shape) if n > 1]
    offset = view.__array_interface__["data"][0] - a.__array_interface__["data"][0]
    for number, part in enumerate(PARTS):
        before = a.copy()
        touched = np.zeros(a.shape, bool)
        mark = np.lib.stride_tricks.as_strided(
            touched.reshape(-1)[offset // a.itemsize:], view.shape,
            [stride // a.itemsize for stride in view.strides], writeable=True)
        part(mark)[...] = True
        target = part(x)
        target[...] = number + 1
        np.testing.assert_array_equal(a, np.where(touched, number + 1, before).astype(dtype))
        target += target
        np.testing.assert_array_equal(a, np.where(touched, 2 * number + 2, before).astype(dtype))
        check(x, view)
    view[...] = 3
    check(x, view)
    if dtype == "c16":
        x.imag[...] = 7
        np.testing.assert_array_equal(view, np.full(view.shape, 3 + 7j))
    inside = hd.jit(lambda v: v * 2)(x)
    view[...] = 5
    check(inside, np.full(view.shape, 6 + (14j if dtype == "c16" else 0)).astype(dtype))


def test_memory_with_gaps_is_kept_and_may_be_read_only():
    a = np.arange(100000).reshape(100, 1000)
    x = hd.from_dlpack(a[:, ::3])
    total = a[:, ::3].sum()
    a.flags.writeable = False
    y = hd.from_dlpack(a[::2, ::3])
    with pytest.raises(ValueError, match="read-only"):
        y[0, 0] = 1
    del a
    gc.collect()
    assert hd.sum(x).item() == total
    np.testing.assert_array_equal(hd.asnumpy(hd.from_dlpack(x.view(hd.uint64))), hd.asnumpy(x))


def test_broadcast_views_are_read_only():
    x = on_cpu(np.arange(3))
    shared = np.from_dlpack(hd.broadcast_to(x, (2, 3)))
    np.testing.assert_array_equal(shared, [[0, 1, 2]] * 2)
    assert not shared.flags.writeable and shared.strides[0] == 0
    with pytest.raises(BufferError):
        hd.broadcast_to(x, (2, 3)).__dlpack__()
    a = np.arange(3)
    a.flags.writeable = False
    y = hd.from_dlpack(a)
    with pytest.raises(ValueError, match="read-only"):
        y[0] = 1


class Struct(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p),
                ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


def opened(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = Struct.from_address(get(capsule, b"dltensor_versioned"))
    tensor.capsule = capsule  # which owns it
    return tensor


def test_capsules(dtype):
    x = on_cpu(sample(dtype, (2, 3)))
    tensor = opened(x.T.__dlpack__(max_version=(1, 0)))
    codes = {"bool": 6, "bfloat16": 4}
    code = codes.get(dtype.name, {"i": 0, "u": 1, "f": 2, "c": 5}.get(dtype.kind))
    assert (tensor.major, tensor.code, tensor.bits, tensor.lanes) == (1, code, 8 * dtype.itemsize, 1)
    assert tensor.shape[:2] == [3, 2] and tensor.strides[:2] == [1, 3] and tensor.flags == 0
    assert opened(x.__dlpack__(max_version=(1, 1), copy=True)).flags == 2
    for capsule in (x.__dlpack__(), x.toDlpack()):
        assert 'capsule object "dltensor" at' in repr(capsule)
    assert x.__dlpack_device__() == (1, 0)
    check(hd.from_dlpack(x), hd.asnumpy(x))


def test_capsules_are_taken_once():
    x = on_cpu([1.0, 2.0])
    for capsule in (x.toDlpack(), x.__dlpack__(max_version=(1, 0))):
        y = hd.fromDlpack(capsule)
        y[0] = 5
        assert x.tolist() == [5, 2]
        with pytest.raises(ValueError, match="consumed"):
            hd.fromDlpack(capsule)
    with pytest.raises(TypeError, match="capsule"):
        hd.fromDlpack(x)
    check(hd.from_dlpack(on_cpu(1.5)), np.array(1.5))
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=0)


def test_capsule_arguments():
    x = on_cpu([1.0, 2.0])
    x.__dlpack__(stream=None, dl_device=(1, 0), copy=False)
    with pytest.raises(ValueError):
        x.__dlpack__(stream=2)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(8, 0))
    with pytest.raises(TypeError):
        hd.from_dlpack([1, 2])
    with pytest.raises(hd.TraceError):
        hd.jit(lambda x: np.from_dlpack(x))(x)
    with pytest.raises(AttributeError):
        x.__cuda_array_interface__


def test_memory_lives_as_long_as_it_is_shared():
    b = np.from_dlpack(on_cpu(np.arange(100000)))
    gc.collect()
    assert b[-1] == 99999
    x = hd.from_dlpack(np.arange(100000))
    gc.collect()
    assert hd.sum(x).item() == 4999950000
    capsule = hd.ones(3).__dlpack__()
    del capsule  # never taken


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_capsules_keep_memory_of_a_pool(version):
    pool = hd.cuda.MemoryPool()
    with hd.cuda.using_allocator(pool.malloc):
        x = (hd.arange(1000.0) + 1).eval()
        y = (x * 2).eval()
    free = pool.n_free_blocks()
    capsule, other = x.__dlpack__(max_version=version), y.__dlpack__(max_version=version)
    z = hd.from_dlpack(OfCapsule(other, y.__dlpack_device__()))
    assert '"used_dltensor' in repr(other) and '"dltensor' in repr(capsule)
    del x, y
    hd.synchronize()
    assert pool.n_free_blocks() == free and pool.used_bytes() >= 16000
    del capsule  # nobody has taken it
    assert pool.used_bytes() < 16000
    del z
    hd.synchronize()
    assert pool.used_bytes() == 0
    del other


class OfCapsule:
    """What exports a capsule that is there already."""

    def __init__(self, capsule, device):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


def test_torch():
    torch = pytest.importorskip("torch")
    tensors = [torch.arange(6.0).reshape(2, 3).t(), torch.ones(3, dtype=torch.bfloat16)]
    if torch.cuda.is_available():
        tensors += [tensor.cuda() for tensor in tensors]
    for tensor in tensors:
        x = hd.from_dlpack(tensor)
        assert x.shape == tuple(tensor.shape)
        back = torch.from_dlpack(x)
        assert torch.equal(back, tensor) and back.data_ptr() == tensor.data_ptr()
        x += 1
        assert torch.equal(back, tensor)
        check(hd.asarray(tensor.float()), tensor.float().cpu().numpy())


def test_cupy():
    cupy = pytest.importorskip("cupy")
    a = cupy.arange(6.0).reshape(2, 3)
    x = hd.from_dlpack(a)
    x[0, 0] = 5
    assert float(a[0, 0]) == 5
    np.testing.assert_array_equal(cupy.asarray(x).get(), a.get())
    check(hd.asarray(a.T), a.T.get())


def test_jax():
    jax = pytest.importorskip("jax")
    a = jax.numpy.arange(6.0)
    check(hd.from_dlpack(a), np.asarray(a))
    np.testing.assert_array_equal(jax.numpy.from_dlpack(hd.arange(5.0, dtype=hd.float32)),
                                  np.arange(5.0))


class OfJax:
    """An array that exports its memory as JAX does: not marked as read-only."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_arrays_of_jax_are_read_only(monkeypatch):
    values = np.arange(8.0)
    hd.from_dlpack(OfJax(values))[0] = 5
    assert values[0] == 5
    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace(Array=OfJax))
    x = hd.from_dlpack(OfJax(values))
    assert not x.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    copy = hd.from_dlpack(OfJax(values), copy=True)
    copy += 1
    check(copy, values + 1)
    check(x, values)


class Tensor:
    """An array of another library, which says no more than DLPack does."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.usefixtures("on_host")
@pytest.mark.parametrize("layout", [np.s_[:], np.s_[:, ::2], np.s_[::-1, 1:]], ids=str)
def test_functions_take_tensors(layout):
    a = np.arange(12.0).reshape(3, 4)
    expected = a[layout].copy()
    tensor, x = Tensor(a[layout]), on_cpu(expected)
    scaled = hd.ElementwiseKernel("T x, T y", "T z", "z = x * y", "scaled")
    total = hd.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    made = [hd.add(tensor, x), hd.add(x, tensor), hd.subtract(1, tensor), hd.sum(tensor, axis=0),
            hd.concatenate([tensor, x]), hd.matmul(tensor, x.T), hd.where(x > 3, tensor, 0.0),
            hd.isfinite(tensor), scaled(tensor, 2.0), scaled(x, tensor), total(tensor, axis=1)]
    b = expected
    wanted = [b + b, b + b, 1 - b, b.sum(0), np.concatenate([b, b]), b @ b.T, np.where(b > 3, b, 0.0),
              np.isfinite(b), b * 2, b * b, b.sum(1)]
    a[...] = -1  # what was made before does not follow
    for got, want in zip(made, wanted, strict=True):
        check(got, want)
    check(hd.negative(tensor), np.ones_like(b))  # and what is made now sees it


def test_operators_and_outputs_refuse_tensors():
    x, tensor = on_cpu(np.ones(3)), Tensor(np.ones(3))
    for refused in (lambda: x + tensor, lambda: tensor * x, lambda: hd.add(x, x, out=tensor)):
        with pytest.raises(TypeError, match="Tensor"):
            refused()


@pytest.mark.usefixtures("on_host")
def test_functions_read_tensors_in_programs():
    a = np.arange(3.0)
    tensor = Tensor(a)
    function = hd.jit(lambda x: hd.add(x, tensor))
    check(function(on_cpu(np.ones(3))), np.ones(3) + np.arange(3.0))


def test_jitted_functions_refuse_tensors_that_hash_by_identity():
    tensor = OfJax(np.ones(3))
    assert isinstance(hash(tensor), int)
    with pytest.raises(TypeError, match="heddle.asarray"):
        hd.jit(lambda v: hd.from_dlpack(v) * 2)(tensor)


class Ids(OfJax):
    """As PyTorch's tensors: only one with one element is an index."""

    def __index__(self):
        if self.values.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.values.item())


def test_tensors_as_indices():
    x = hd.arange(4)
    assert int(x[Ids(np.array(2))]) == 2
    with pytest.raises(IndexError, match="heddle.asarray"):
        x[Ids(np.array([0, 2]))]
    check(x[hd.from_dlpack(Ids(np.array([0, 2])))], np.array([0, 2]))


OFFSET_DTYPES = ["uint8", "float16", "float32", "float64", "complex128"]


@pytest.mark.parametrize("name", OFFSET_DTYPES)
def test_memory_at_every_offset(name):
    """Memory that begins 0 to 15 bytes behind a multiple of 16: shared where elements are aligned,
    copied where not, and right in both."""
    dtype = np.dtype(name)
    count = 1000
    values = (np.arange(count) % 50).astype(dtype)
    together = hd.jit(lambda x: (x + x, hd.sum(x), hd.flip(x), x[1:] * x[:-1]))
    for offset in range(16):
        raw = np.zeros(count * dtype.itemsize + 32, "uint8")
        start = (offset - raw.ctypes.data) % 16
        memory = raw[start:start + count * dtype.itemsize].view(dtype)
        memory[...] = values
        assert memory.ctypes.data % 16 == offset
        aligned = offset % min(dtype.itemsize, 8) == 0
        for make in (hd.from_dlpack, hd.asarray):
            x = make(memory)
            check(x + x, values + values)
            check(hd.flip(x), values[::-1])
            for got, expected in zip(together(x), (values + values, values.sum(), values[::-1],
                                                   values[1:] * values[:-1])):
                np.testing.assert_allclose(hd.asnumpy(got), expected, rtol=1e-2)
        x = hd.from_dlpack(memory)
        x += x
        assert np.array_equal(memory, values + values) == (aligned and x.device == "cpu")


@pytest.mark.parametrize("value", [
    ["a"], [None], b"ab", np.array(["a"]), np.array([b"a"]), np.array([None]),
    np.array(["2020-01-01"], "M8[D]"), np.array([1], "timedelta64[s]"), np.array([1], "longdouble"),
    np.array([(1, 2)], "i4,f4"), np.longdouble(1), [np.longdouble(1)], np.datetime64("2020-01-01"),
    ["a", 1], [object()]], ids=str)
def test_dtypes_that_heddle_lacks_are_a_type_error(value):
    with pytest.raises(TypeError, match="heddle has no equivalent of NumPy's dtype "):
        hd.asarray(value)
