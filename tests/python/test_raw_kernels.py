"""RawKernel and RawModule: what they refuse, and what they launch on the tests' own driver, which has a few
kernels of its own. What real kernels compute: test_raw_kernels_on_gpu.py."""

import os
import pickle
import subprocess
import sys
import textwrap

import pytest

import heddle as hd
from conftest import ON_CPU

on_cpu = pytest.mark.skipif(not ON_CPU, reason="is about the CPU")

ADD = r"""
extern "C" __global__ void add(const float* x, const float* y, float* z, long long n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
"""


# Anywhere

def test_declarations_are_checked():
    for refused, error, text in (
            (lambda: hd.RawKernel(ADD, "add", backend="nvcc"), ValueError, "backend='nvcc'"),
            (lambda: hd.RawModule(code=ADD, jitify=True), ValueError, "jitify"),
            (lambda: hd.RawKernel(ADD, "add", "-DA=1"), TypeError, "tuple"),
            (lambda: hd.RawModule(), TypeError, "code or path"),
            (lambda: hd.RawModule(code=ADD, path="a.cubin"), TypeError, "code or path"),
            (lambda: hd.RawModule(path="a.cubin", name_expressions=("f<int>",)), ValueError,
             "name_expressions")):
        with pytest.raises(error, match=text.replace("(", r"\(")):
            refused()


def test_attributes_of_the_declaration():
    kernel = hd.RawKernel(ADD, "add", ("-DA=1",), enable_cooperative_groups=True)
    assert (kernel.name, kernel.code, kernel.file_path) == ("add", ADD, None)
    assert kernel.options == ("-DA=1",) and kernel.enable_cooperative_groups
    assert kernel.backend == "nvrtc" and "add" in repr(kernel)
    module = hd.RawModule(path="a.cubin")
    assert module.file_path == "a.cubin" and module.code is None
    assert module.get_function("f").file_path == "a.cubin"


def test_declarations_can_be_pickled():
    kernel = pickle.loads(pickle.dumps(hd.RawKernel(ADD, "add", ("-DA=1",))))
    assert (kernel.name, kernel.code, kernel.options) == ("add", ADD, ("-DA=1",))
    module = hd.RawModule(code=ADD, name_expressions=("f<int>",), enable_cooperative_groups=True)
    again, function = pickle.loads(pickle.dumps((module, module.get_function("add"))))
    assert again.name_expressions == ("f<int>",) and again.enable_cooperative_groups
    assert function.name == "add" and function.enable_cooperative_groups


@on_cpu
def test_the_cpu_says_what_runs_there():
    kernel = hd.RawKernel(ADD, "add")
    module = hd.RawModule(code=ADD)
    x = hd.ones(4, dtype=hd.float32)
    for refused in (kernel.compile, module.compile, lambda: kernel.num_regs,
                    lambda: kernel((1,), (4,), (x, x, x, 4)), lambda: module.get_global("table"),
                    lambda: module.get_function("add")((1,), (4,), (x, x, x, 4))):
        with pytest.raises(hd.DeviceError, match="GPUs only.*ElementwiseKernel"):
            refused()


# The tests' own driver

def run(code, **environment):
    environment = os.environ | {"HEDDLE_CUDA_DRIVER": os.environ["HEDDLE_FAKE_DRIVER"],
                                "HEDDLE_NVRTC": os.environ["HEDDLE_FAKE_NVRTC"],
                                "HEDDLE_DEVICE": "cuda:0", "HEDDLE_CACHE": "0"} | environment
    process = subprocess.run([sys.executable, "-c", PROLOGUE + textwrap.dedent(code)],
                             capture_output=True, text=True, timeout=120, env=environment)
    assert process.returncode == 0 and process.stdout == "done\n", process.stdout + process.stderr


PROLOGUE = """
import os, tempfile
import numpy as np, heddle as hd
folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "kernels.cubin")
open(path, "w").write("kernels of the fake driver")
module = hd.RawModule(path=path)
scale, shape = module.get_function("fake_scale"), module.get_function("fake_shape")

def ramp(count=4, first=1):
    return hd.asarray(np.arange(first, first + count, dtype="float32"))

def refusal(error, call):
    try:
        call()
    except error as caught:
        return str(caught)
    raise AssertionError("no error")
"""
needs_fake = pytest.mark.skipif("HEDDLE_FAKE_DRIVER" not in os.environ,
                                reason="the tests' own driver is named by CTest")


@needs_fake
def test_writes_are_seen_by_everyone_who_shares_the_array():
    run("""
        x = ramp()
        view, other, copy = x[2:], x, x.copy()
        pending = x * 2  # holds the value
        scale((1,), (4,), (x, x, np.float32(3), 4))
        assert x.tolist() == [3, 6, 9, 12]
        assert other.tolist() == [3, 6, 9, 12] and copy.tolist() == [1, 2, 3, 4]
        del pending
        # A view is where its first element is, and its base sees the writes.
        scale((1,), (2,), (view, view, np.float32(10), 2))
        assert x.tolist() == [3, 6, 90, 120]
        scale((1,), (2,), (x[::-1][2:], x, np.float32(1), 1))  # the element 1, then what follows
        assert x.tolist() == [6, 6, 90, 120]
        # The same array twice is the same memory, and so it is the next time.
        for _ in range(3):
            scale((1,), (4,), (x, x, np.float32(2), 4))
        assert x.tolist() == [48, 48, 720, 960]
        # Memory that another library shares.
        shared = ramp()
        out = ramp()
        capsule = shared.__dlpack__()
        again = hd.from_dlpack(shared)
        scale((1,), (4,), (shared, again, np.float32(5), 4))
        assert shared.tolist() == [5, 10, 15, 20] == again.tolist()
        scale((1,), (4,), (again, out, np.float32(2), 4))
        assert out.tolist() == [10, 20, 30, 40]
        print("done")
    """)


@needs_fake
def test_memory_of_empty_is_what_it_was():
    run("""
        from fake_gpus import control
        x = ramp()
        used = 2**32 - 1  # the bits of memory with HEDDLE_POISON
        calls = control().calls

        def enqueued():
            return sum(calls(b"cu" + name) for name in (b"LaunchKernel", b"GraphLaunch"))

        for make in (lambda: hd.empty(4, dtype="float32"), lambda: hd.empty_like(x)):
            z = make()
            same, before = z[:], enqueued()
            scale(1, 2, (x, z, np.float32(3), 2))
            assert enqueued() == before + 1
            bits = hd.asnumpy(z).view("uint32")
            assert bits[2:].tolist() == [used] * 2 and hd.asnumpy(z)[:2].tolist() == [3, 6]
            scale(1, 1, (x, same, np.float32(5), 1))  # what was written stays
            assert enqueued() == before + 2 and hd.asnumpy(z)[:2].tolist() == [5, 6]
        z = hd.empty((2, 2), dtype="float32")
        scale(1, 2, (x, z.reshape(4), np.float32(3), 4))
        assert z.tolist() == [[3, 6], [9, 12]]
        # What is written down before does not see the writes, and a value that is there is kept.
        z, before = hd.empty(4, dtype="float32"), enqueued()
        copy = z.copy()
        scale(1, 4, (x, z, np.float32(3), 4))
        assert z.tolist() == [3, 6, 9, 12]
        scale(1, 4, (z, copy, np.float32(2), 4))
        assert copy.tolist() == [6, 12, 18, 24] and z.tolist() == [3, 6, 9, 12]
        assert enqueued() == before + 2
        for make in (lambda: hd.empty(4, dtype="float32").eval(), lambda: hd.zeros(4, dtype="float32"),
                     lambda: hd.zeros_like(x)):
            before = enqueued()
            z = make()
            scale(1, 4, (z, z, np.float32(3), 4))
            assert enqueued() == before + 2, "zeros are written"
        # On the device that the thread uses.
        with hd.cuda.Device(1):
            z, y = hd.empty(4, dtype="float32"), ramp()
            scale(1, 4, (y, z, np.float32(2), 4))
            assert str(z.device) == "cuda:1" and z.tolist() == [2, 4, 6, 8]
        nothing = hd.empty((0, 3), dtype="float32")
        scale(1, 1, (nothing, nothing, np.float32(2), 0))
        assert nothing.shape == (0, 3)
        print("done")
    """, HEDDLE_POISON="1", PYTHONPATH=os.pathsep.join([os.path.dirname(os.path.abspath(__file__)),
                                                        os.environ.get("PYTHONPATH", "")]))


@needs_fake
def test_arguments_are_values_of_their_types():
    run("""
        values = module.get_function("fake_bytes")
        pair = np.array([(5, 1.0)], dtype=[("a", "i4"), ("b", "f4")])
        for last in (pair, pair[0], pair.reshape(())):
            out = hd.asarray(np.zeros(16, "uint64"))
            values(1, 1, (out, 2**40, 1.5, True, 1 - 2j, np.float16(1), None, last))
            got = hd.asnumpy(out).reshape(8, 2)
            assert got[1, 0] == 2**40 and got[2, 0] == 0x3ff8000000000000 and got[3, 0] == 1
            assert got[4].tolist() == [0x3ff0000000000000, 0xc000000000000000]
            assert got[5, 0] == 0x3c00 and got[6, 0] == 0 and got[7, 0] == 0x3f80000000000005
        values(1, 1, (out, -1, np.float64(0.5), np.bool_(False), np.complex128(2), np.uint16(3), 2**63,
                      np.int64(-2)))
        got = hd.asnumpy(out).reshape(8, 2)
        assert got[:, 0][1:].tolist() == [2**64 - 1, 0x3fe0000000000000, 0, 0x4000000000000000, 3, 2**63,
                                          2**64 - 2]
        wide = np.arange(2)[:1].astype("longlong")
        values(1, 1, (out, 1, 2, True, 0j, np.int64(3), None, wide))  # an integer that fits
        assert hd.asnumpy(out).reshape(8, 2)[5, 0] == 3
        assert "argument 6" in refusal(ValueError, lambda: values(
            1, 1, (out, 1, 2, True, 0j, 1 << 16, None, wide)))
        assert "4 parameters" in refusal(ValueError, lambda: scale(1, 4, (out, out)))
        assert "8 bytes" in refusal(ValueError, lambda: scale(1, 4, (ramp(), ramp(), 2.0, 4)))
        for value in (np.datetime64("2020-01-01"), np.timedelta64(1, "s"), np.bytes_(b"a"),
                      np.array([None]), np.array([(1, None)], dtype=[("a", "i4"), ("b", "O")])):
            assert "argument 3 has NumPy's dtype" in refusal(
                TypeError, lambda: scale(1, 4, (ramp(), ramp(), value, 4)))
        for value, text in (("a", "not str"), ([1], "not list"), (np.ones(2), "heddle.asarray"),
                            (hd, "not module")):
            said = refusal(TypeError, lambda: scale((1,), (4,), (ramp(), value)))
            assert "argument 2" in said and "fake_scale" in said and text in said, said
        refusal(OverflowError, lambda: scale((1,), (4,), (2**64,)))
        refusal(TypeError, lambda: scale((1,), (4,), ramp()))
        print("done")
    """)


@needs_fake
def test_values_of_a_dtype_go_by_value():
    run("""
        x, out = ramp(), ramp()
        factor = hd.float32(2)
        scale(1, hd.int32(4), (x, out, factor, hd.int64(4)))
        assert out.tolist() == [2, 4, 6, 8]
        assert float(factor) == 2
        scale(1, 4, (x, out, factor, hd.int64(np.int8(3))))
        assert out.tolist() == [2, 4, 6, 8]
        values = module.get_function("fake_bytes")
        memory = hd.asarray(np.zeros(16, "uint64"))
        values(1, 1, (memory, hd.int64(-1), hd.float64(0.5), hd.bool(True), hd.complex128(2j),
                      hd.float16(1), None, hd.uint64(5)))
        got = hd.asnumpy(memory).reshape(8, 2)
        assert got[1, 0] == 2**64 - 1 and got[2, 0] == 0x3fe0000000000000 and got[3, 0] == 1
        assert got[4].tolist() == [0, 0x4000000000000000] and got[5, 0] == 0x3c00 and got[7, 0] == 5
        # Other 0-d arrays are memory.
        for single in (hd.zeros((), dtype=hd.float32), hd.asarray(0, dtype=hd.float32), ramp(1)[0:1][0:1]):
            scale(1, 1, (x, single, np.float32(7), 1))
            assert single.tolist() in (7, [7]), single
        print("done")
    """)


@needs_fake
def test_memory_of_other_libraries():
    run("""
        class Foreign:
            def __init__(self, array, **more):
                self.kept = array
                self.__cuda_array_interface__ = array.__cuda_array_interface__ | more

        x, out = ramp(), ramp()
        scale(1, 4, (Foreign(x), out, np.float32(3), 4))
        assert out.tolist() == [3, 6, 9, 12]
        # The producer's stream is waited for.
        own = hd.cuda.Stream(non_blocking=True)
        y = ramp()
        where = Foreign(y, stream=own.ptr)
        scale(1, 4, (x, where, np.float32(5), 4), stream=own)
        scale(1, 4, (where, out, np.float32(2), 4))
        assert out.tolist() == [10, 20, 30, 40]
        # Its memory says on which device it is.
        other = ramp().to_device("cuda:1")
        foreign = Foreign(other)
        scale(1, 4, (foreign, foreign, np.float32(2), 4))
        assert other.tolist() == [2, 4, 6, 8]
        said = refusal(hd.DeviceError, lambda: scale(1, 4, (x, foreign, np.float32(2), 4)))
        assert "cuda:0" in said and "cuda:1" in said

        class Broken:
            @property
            def __cuda_array_interface__(self):
                raise RuntimeError("it requires grad")

        assert "grad" in refusal(RuntimeError, lambda: scale(1, 4, (Broken(), out, np.float32(2), 4)))
        wrong = Foreign(x, data=(id(x), False))
        assert "GPU memory" in refusal(ValueError, lambda: scale(1, 4, (wrong, out, np.float32(2), 4)))
        print("done")
    """)


@needs_fake
def test_unloading_lets_functions_of_streams_run():
    run("""
        seen = []
        stream = hd.cuda.Stream()
        table = module.get_global("fake_table")
        shared = table.array("float32")
        for last in ("module, scale, shape", "table", "shared"):
            stream.launch_host_func(seen.append, last)
            exec("del " + last)
        stream.synchronize()
        assert len(seen) == 3
        module = hd.RawModule(path=path)  # of a file: what it loads is its own
        module.compile()
        stream.launch_host_func(seen.append, 4)
        del module  # waits for the device
        assert seen[-1] == 4
        print("done")
    """)


@needs_fake
def test_files_are_named_when_they_are_given():
    run("""
        import pickle

        os.chdir(folder.name)
        relative = hd.RawModule(path="kernels.cubin")
        pickled = pickle.dumps(relative)
        os.chdir("/")
        relative.compile()
        pickle.loads(pickled).compile()
        print("done")
    """)


@needs_fake
def test_extents_attributes_and_variables():
    run("""
        out = hd.asarray(np.zeros(8, "uint32"))
        shape((3, 4, 5), (6, 7), (out,), shared_mem=100)
        assert out.tolist() == [3, 4, 5, 6, 7, 1, 100, 0]
        shape(2, 3, [out])
        assert out.tolist() == [2, 1, 1, 3, 1, 1, 0, 0]
        hd.RawModule(path=path, enable_cooperative_groups=True).get_function("fake_shape")(1, 2, (out,))
        assert out.tolist() == [1, 1, 1, 2, 1, 1, 0, 1]
        for grid, block in (((), 1), ((1, 1, 1, 1), 1), ((0,), 1), (1, (-1,)), (1, (2048,)),
                            (1, (64, 64)), ((1, 1 << 16), 1), (1, (1, 1, 65))):
            assert "fake_shape" in refusal(ValueError, lambda: shape(grid, block, (out,)))
        refusal(TypeError, lambda: shape(1.5, 1, (out,)))

        assert shape.max_threads_per_block == 1024 and shape.num_regs == 32
        assert set(shape.attributes) == {
            "max_threads_per_block", "shared_size_bytes", "const_size_bytes", "local_size_bytes",
            "num_regs", "ptx_version", "binary_version", "cache_mode_ca",
            "max_dynamic_shared_size_bytes", "preferred_shared_memory_carveout"}
        assert "max_dynamic_shared_size_bytes" in refusal(
            ValueError, lambda: shape(1, 1, (out,), shared_mem=60000))
        shape.max_dynamic_shared_size_bytes = 60000
        shape.preferred_shared_memory_carveout = 50
        shape(1, 1, (out,), shared_mem=60000)
        assert shape.max_dynamic_shared_size_bytes == 60000
        assert shape.preferred_shared_memory_carveout == 50

        table = module.get_global("fake_table")
        assert table.size == 64 and table.ptr == int(table) and table.device == "cuda:0"
        scale(1, 4, (ramp(), table, np.float32(2), 4))
        values = table.array("float32")
        assert values.shape == (16,) and values[:4].shape == (4,)
        assert hd.asnumpy(values)[:4].tolist() == [2, 4, 6, 8]
        values[...] = hd.asarray(np.arange(16, dtype="float32"))
        got = ramp()
        scale(1, 4, (table, got, np.float32(1), 4))
        assert got.tolist() == [0, 1, 2, 3]
        assert table.array(hd.int64, (2, 3)).shape == (2, 3)
        assert "64 bytes" in refusal(ValueError, lambda: table.array(hd.int64, (3, 3)))
        assert "2^64" in refusal(ValueError, lambda: table.array(hd.int64, (2**62,)))
        assert "2^64" in refusal(ValueError, lambda: table.array(hd.int64, (2**32, 2**32, 0)))
        assert "-1" in refusal(ValueError, lambda: table.array(hd.int64, (-1, -1)))
        assert "nothing" in refusal(hd.DeviceError, lambda: module.get_global("nothing"))
        assert "no kernel none" in refusal(hd.DeviceError,
                                           lambda: module.get_function("none")(1, 1, ()))
        missing = hd.RawModule(path=path + "s").get_function("f")
        assert "kernels.cubins" in refusal(hd.FileError, missing.compile)
        print("done")
    """)


@needs_fake
def test_devices_streams_and_traces():
    run("""
        import threading

        x, out = ramp(), ramp()
        other = ramp().to_device("cuda:1")
        said = refusal(hd.DeviceError, lambda: scale(1, 4, (x, other, np.float32(2), 4)))
        assert "cuda:0" in said and "cuda:1" in said
        scale(1, 4, (other, other, np.float32(2), 4))
        assert other.tolist() == [2, 4, 6, 8]
        host = x.to_device("cpu")
        assert "GPUs only" in refusal(hd.DeviceError, lambda: scale(1, 4, (host, host, 2.0, 4)))

        class Null:
            ptr = 0

        scale(1, 4, (x, x, np.float32(2), 4), stream=Null)
        scale(1, 4, (x, out, np.float32(2), 4))
        scale(1, 4, (out, out, np.float32(2), 4), stream=1)
        def read():
            assert out.tolist() == [8, 16, 24, 32]
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        refusal(TypeError, lambda: scale(1, 4, (x, x, np.float32(2), 4), stream="a"))

        traced = hd.jit(lambda a: scale(1, 4, (a, a, np.float32(2), 4)))
        said = refusal(hd.TraceError, lambda: traced(x))
        assert "RawKernel" in said and "<string>:" in said, said
        print("done")
    """)


@needs_fake
def test_errors_of_the_compiler_have_the_lines():
    run("""
        wrong = hd.RawKernel("line one\\nrefused here\\n", "wrong", ("-DCOUNT=3",))
        said = refusal(hd.CompileError, wrong.compile)
        for part in ("kernel 'wrong'", "line 2: error", "    2 | refused here", "-DCOUNT=3", "<string>:"):
            assert part in said, said
        said = refusal(hd.CompileError, lambda: wrong(1, 1, ()))
        assert "refused here" in said
        bad = hd.RawModule(code="fine", name_expressions=["f<refused>"])
        said = refusal(hd.CompileError, bad.compile)
        assert "f<refused>" in said and "fine" in said and "<string>:" in said, said
        hd.RawModule(code="fine", name_expressions=["f<int>"]).get_function("f<int>")(1, 1, (1,))
        hd.RawKernel("fine", "f<int>")(1, 1, (1,))
        print("done")
    """, HEDDLE_FAKE_NVRTC_REFUSE="refused")


@needs_fake
def test_compiled_kernels_stay_in_the_cache(tmp_path):
    code = """
        hd.RawKernel("text", "f")(1, 1, ())
        hd.RawModule(code="templates", name_expressions=("f<int>",)).get_function("f<int>")(1, 1, ())
        print("done")
    """
    cache = {"HEDDLE_CACHE": "1", "HEDDLE_CACHE_DIR": str(tmp_path)}
    run(code, **cache)
    run(code, **cache | {"HEDDLE_NO_COMPILE": "1", "HEDDLE_NVRTC": "/nowhere"})  # NVRTC is not needed
    run("""
        said = refusal(hd.CompileError, hd.RawKernel("other text", "f").compile)
        assert "HEDDLE_NO_COMPILE" in said and "other text" in said, said
        print("done")
    """, HEDDLE_NO_COMPILE="1", **cache)
