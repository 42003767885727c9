"""The CUDA array interface and DLPack of GPUs: what they say, on the tests' own driver, and what functions
compute from another library's memory, on a real GPU where there is one."""

import numpy as np
import pytest
from conftest import ON_CPU, check
from fake_gpus import run_on_fake_gpus

import heddle as hd

needs_gpu = pytest.mark.skipif(ON_CPU, reason="is about memory of a GPU")
SLICES = [(slice(0, None),), (slice(2, None),), (slice(0, None), slice(2, None)),
          (slice(2, None), slice(0, None)), (slice(2, None), slice(4, None))]


class Foreign:
    """An array of another library."""

    def __init__(self, array, version=3):
        self.array, self.version = array, version

    @property
    def __cuda_array_interface__(self):
        facts = self.array.__cuda_array_interface__
        facts["version"] = self.version
        if self.version < 3:
            hd.synchronize()
            del facts["stream"]
        return facts


def test_slices_say_where_they_begin_and_values_have_their_types():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd
        from test_cuda_interface import SLICES

        for dtype in ("bool", "int8", "float32", "complex128"):
            for part in SLICES:
                shape = (10,) * len(part)
                x = hd.asarray(np.zeros(shape, dtype))
                for y, z in ((x, x[part]), (x.T, x.T[part])):
                    facts, own = z.__cuda_array_interface__, y.__cuda_array_interface__
                    offset = sum((each.start or 0) * stride for each, stride in zip(part, own["strides"]))
                    assert facts["data"][0] == own["data"][0] + offset == z.data.ptr
                    assert own["data"][0] == x.data.ptr
                    assert facts["shape"] == z.shape and facts["strides"] == z.strides
                    assert np.dtype(facts["typestr"]) == np.dtype(dtype)
                    assert isinstance(facts, dict) and type(facts["shape"]) is tuple
                    assert type(facts["data"][0]) is int and facts["data"][1] is False
                    assert facts["version"] == 3 and type(facts["stream"]) is int
        own = hd.cuda.Stream(non_blocking=True)
        with own:
            assert x.__cuda_array_interface__["stream"] == own.ptr
        assert x.__cuda_array_interface__["stream"] == hd.cuda.get_current_stream().ptr != own.ptr
        print("done")
    """)


def test_capsules_for_other_devices():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd

        class Capsule:
            def __init__(self, capsule, device):
                self.capsule, self.device = capsule, device
            def __dlpack__(self, **more):
                return self.capsule
            def __dlpack_device__(self):
                return self.device

        values = np.arange(6.0, dtype="float32").reshape(2, 3)
        pools = [hd.get_default_memory_pool().malloc, hd.cuda.MemoryPool(hd.cuda.malloc_managed).malloc]
        for pool in pools:
            hd.cuda.set_allocator(pool)
            x = hd.asarray(values)
            own = x.__dlpack_device__()
            assert own == (2, 0)
            y = hd.from_dlpack(Capsule(x.__dlpack__(dl_device=own), own))
            assert y.data.ptr == x.data.ptr and y.tolist() == x.tolist()
            for versioned in (None, (1, 0)):
                capsule = x.__dlpack__(dl_device=(1, 0), max_version=versioned)
                host = np.from_dlpack(Capsule(capsule, (1, 0)))
                assert host.dtype == values.dtype and np.array_equal(host, values)
            for wrong in ((2, 2**30), (9, 0)):
                try:
                    x.__dlpack__(dl_device=wrong)
                except (BufferError, hd.DeviceError):
                    continue
                raise AssertionError(wrong)
            try:
                x.__dlpack__(dl_device=(1, 0), copy=False)
            except BufferError as error:
                assert "copy=False" in str(error)
            else:
                raise AssertionError("a copy to the host")
            assert hd.from_dlpack(x, copy=True).data.ptr != x.data.ptr
        print("done")
    """)


@needs_gpu
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("own_stream", [False, True])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64",
                                   "complex64"])
def test_functions_take_memory_of_other_libraries(dtype, own_stream, version):
    add = hd.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add_scalar")
    total = hd.ReductionKernel("T x", "T out", "x", "a + b", "out = a", "0", "my_sum")
    three = np.dtype(dtype).type(3)
    stream = hd.cuda.Stream() if own_stream else hd.cuda.Stream.null
    for turned in (False, True):
        a = np.array([[1, 2, 3], [4, 5, 6]]).astype(dtype)
        x = hd.asarray(a)
        a, x = (a.T, x.T) if turned else (a, x)
        with stream:
            for foreign in (hd.asarray(Foreign(x, version)), Foreign(x, version)):
                check(hd.add(foreign, three), a + three)
                if dtype != "bool":
                    check(add(foreign, three), a + three)
                    check(total(foreign, axis=0), a.sum(0, dtype=dtype))
                check(hd.sum(foreign), a.sum(dtype=hd.sum(x).dtype))
                check(hd.concatenate([foreign, x], axis=1), np.concatenate([a, a], axis=1))


@needs_gpu
def test_gaps_of_gpu_memory_are_views():
    """What is written through a view with gaps is seen by the owner, and nothing between is written."""
    a = np.arange(4 * 5 * 6.0).reshape(4, 5, 6)
    whole = hd.asarray(a)
    for part in (np.s_[:, ::2], np.s_[::-2, 1:3], np.s_[:, ::2, 1], np.s_[1, ::3], np.s_[..., -1],
                 np.s_[:, 1:4, ::-1]):
        for x in (hd.from_dlpack(whole[part], copy=False), hd.from_dlpack(whole[part].T, copy=False).T):
            assert x.data.ptr == whole[part].data.ptr and x.strides == whole[part].strides
            check(x, a[part])
            check(hd.sum(x * 2, axis=0), (a[part] * 2).sum(0))
            x += 1000
            a[part] += 1000
            check(whole, a)
            x[:1] = -1
            a[part][:1] = -1
            check(whole, a)
            whole[part] = 5
            a[part] = 5
            check(x, a[part])
            x[...] = hd.asarray(np.arange(a[part].size, dtype=float).reshape(a[part].shape))
            a[part] = np.arange(a[part].size).reshape(a[part].shape)
            check(whole, a)


def test_arrays_of_the_interface_with_a_mask_are_refused():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd

        class Masked:
            def __init__(self, array, mask):
                self.kept = array
                self.__cuda_array_interface__ = array.__cuda_array_interface__ | {"mask": mask}

        x = hd.asarray(np.ones(3))
        for call in (hd.asarray, hd.sum, hd.negative):
            try:
                call(Masked(x, Masked(x, None)))
            except ValueError as error:
                assert "mask" in str(error)
            else:
                raise AssertionError(call)
        assert hd.asarray(Masked(x, None)).tolist() == [1, 1, 1]
        print("done")
    """)


def test_host_memory_is_written_beside_a_gpu():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd

        memory = np.arange(10.0)
        x = hd.from_dlpack(memory)
        assert str(x.device) == "cpu" and str(hd.ones(1).device) != "cpu"
        pool = hd.get_default_memory_pool()
        used = pool.total_bytes()
        x[3:5] = 7
        x[2] = np.float64(4)
        x[::-3] += 1
        assert memory.tolist() == [1, 1, 4, 8, 7, 5, 7, 7, 8, 10]
        x[...] = 6
        x.fill(3)
        assert memory.tolist() == [3] * 10
        assert pool.total_bytes() == used, "computed on the GPU"
        try:
            x[:2] = hd.asarray(np.ones(2))
        except hd.DeviceError:
            print("done")
    """)


def test_contiguous_parts_of_shared_gpu_memory_are_written():
    run_on_fake_gpus("""
        import numpy as np, heddle as hd

        x = hd.from_dlpack(hd.asarray(np.zeros((4, 5, 6))), copy=False)
        own = x.data.ptr
        for part in (np.s_[:1], np.s_[1], np.s_[1, 2], np.s_[:, ::2], np.s_[...], np.s_[1, 2, 3]):
            x[part] = -1
            x.T[part] += 1
        hd.synchronize()
        assert x.data.ptr == own
        print("done")
    """)
