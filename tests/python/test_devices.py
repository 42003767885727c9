"""Several GPUs: mixed arrays, pointers of other libraries and streams. On the tests' own driver, whose
two GPUs run work as late as they may, and on two real ones where there are any."""

import os
import subprocess
import sys
import textwrap

import pytest

import heddle as hd


def has_two_gpus():
    try:
        hd.zeros(1, device="cuda:1")
    except hd.DeviceError:
        return False
    return True


FAKE = {"HEDDLE_CUDA_DRIVER": os.environ.get("HEDDLE_FAKE_DRIVER", ""),
        "HEDDLE_NVRTC": os.environ.get("HEDDLE_FAKE_NVRTC", "")}


def run(code, environment):
    environment = os.environ | environment
    environment.pop("HEDDLE_DEVICE", None)
    process = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                             text=True, timeout=120, env=environment)
    assert process.returncode == 0 and process.stdout == "done\n", process.stdout + process.stderr


@pytest.mark.parametrize("environment", [FAKE, pytest.param({}, marks=pytest.mark.skipif(
    not has_two_gpus(), reason="there are no two GPUs"))], ids=["fake", "real"])
def test_arrays_of_two_devices_are_refused(environment):
    run("""
        import numpy as np, heddle as hd

        def on(device):
            return hd.asarray(np.arange(4, dtype="float32")).to_device(device)

        x, y = on("cuda:0"), on("cuda:1")
        places = hd.asarray(np.arange(4)).to_device("cuda:1")
        mask = hd.asarray(np.ones(4, bool)).to_device("cuda:1")
        pinned = hd.from_dlpack(on("cuda:0"))

        def write(target, index, value):
            target[index] = value

        def add_in_place(target, value):
            target += value

        add = hd.jit(lambda a, b: a + b)
        reads = hd.jit(lambda a: a * y)
        for refused in (lambda: x + y, lambda: x * y[0], lambda: hd.where(mask, x, x),
                        lambda: hd.concat([x, y]), lambda: hd.take(x, places), lambda: x[places],
                        lambda: hd.reshape(x, (1, 4)) @ hd.reshape(y, (4, 1)),
                        lambda: add_in_place(x, y), lambda: write(x, slice(0, 2), y[:2]),
                        lambda: write(x, slice(None), y), lambda: write(x, ..., y),
                        lambda: write(x[1:], 0, y[0]), lambda: write(pinned, ..., y),
                        lambda: write(x, x < 2, y[0]), lambda: add(x, y), lambda: add(y, x),
                        lambda: reads(x)):
            try:
                result = refused()
            except hd.DeviceError as error:
                text = str(error)
                for part in ("cuda:0", "cuda:1", "float32[", "<string>:"):
                    assert part in text, text
            else:
                raise AssertionError(refused)
        assert reads(y).device == "cuda:1" and add(y, y).device == "cuda:1"
        assert (x + x).eval().device == "cuda:0" and (y + 1).eval().device == "cuda:1"
        print("done")
    """, environment)


@pytest.mark.skipif(not has_two_gpus(), reason="there are no two GPUs")
def test_a_fused_function_runs_on_each_of_two_gpus():
    fused = hd.fuse(lambda x, y: x + y * 2)
    for number in (0, 1, 0):
        with hd.cuda.Device(number):
            x = hd.arange(9).reshape(3, 3) * (number + 1)
            result = fused(x, x + 1)
            assert result.device == f"cuda:{number}"
            assert result.tolist() == (x * 3 + 2).tolist()


def test_pointers_tell_their_device():
    run("""
        import numpy as np, heddle as hd

        class Foreign:
            def __init__(self, array):
                self.array = array
                self.__cuda_array_interface__ = array.__cuda_array_interface__

        for ordinal in (0, 1):
            array = hd.asarray(np.arange(4.0)).to_device(f"cuda:{ordinal}")
            assert hd.asarray(Foreign(array)).device == f"cuda:{ordinal}"
            assert hd.from_dlpack(array).device == f"cuda:{ordinal}"
            facts = array[::2].__cuda_array_interface__
            assert (facts["shape"], facts["strides"], facts["typestr"]) == ((2,), (16,), "<f8")
            assert facts["version"] == 3 and facts["stream"] != 0 and facts["data"][1] is False
            address = facts["data"][0]
            assert hd.cuda.Device.from_pointer(address) == hd.cuda.Device(ordinal)
        host = np.arange(4.0)
        try:
            hd.cuda.Device.from_pointer(host.ctypes.data)
        except ValueError as error:
            assert "no address" in str(error)
        else:
            raise AssertionError("a pointer to host memory")
        wrong = Foreign(array)
        wrong.__cuda_array_interface__ = dict(host.__array_interface__, version=3, strides=None)
        try:
            hd.asarray(wrong)
        except ValueError as error:
            assert "pointer" in str(error)
        else:
            raise AssertionError("a pointer to host memory")
        print("done")
    """, FAKE)


def test_dlpack_streams():
    run("""
        import ctypes, os
        import numpy as np, heddle as hd

        driver = ctypes.CDLL(os.environ["HEDDLE_CUDA_DRIVER"])
        driver.cuMemcpyDtoHAsync_v2.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t,
                                                ctypes.c_void_p]
        driver.cuStreamCreate.argtypes = [ctypes.c_void_p, ctypes.c_uint]
        driver.cuCtxPushCurrent_v2.argtypes = [ctypes.c_void_p]

        def read(pointer, stream):
            '''The array as work of the consumer's stream finds it.'''
            out = np.zeros(4)
            assert driver.cuMemcpyDtoHAsync_v2(out.ctypes.data, pointer, 32, stream) == 0
            return out

        expected = np.arange(4.0)
        for ordinal in (0, 1):
            device = f"cuda:{ordinal}"
            hd.set_device(device)
            hd.asarray(expected)
            context, own = ctypes.c_void_p(), ctypes.c_void_p()
            assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), ordinal) == 0
            assert driver.cuCtxPushCurrent_v2(context) == 0
            assert driver.cuStreamCreate(ctypes.byref(own), 1) == 0
            # What the consumer passes, the stream that it reads on, whether that waits for us.
            for passed, stream, ordered in ((None, 1, True), (1, 1, True), (2, 2, True),
                                            (own.value, own.value, True), (-1, own.value, False),
                                            (1, own.value, False)):
                expected = expected + 1.0  # not what the memory may still hold
                array = hd.asarray(expected)
                capsule = array.__dlpack__(stream=passed)
                pointer = array.__cuda_array_interface__["data"][0]
                assert np.array_equal(read(pointer, stream), expected) == ordered, (passed, stream)
                hd.synchronize()
            for refused in (0, -2):
                try:
                    hd.asarray(expected).__dlpack__(stream=refused)
                except ValueError:
                    continue
                raise AssertionError(refused)

        class Producer:
            '''Passes on an array of the second GPU, and keeps the stream that it is asked with.'''
            def __init__(self, array):
                self.array = array
            def __dlpack_device__(self):
                return self.array.__dlpack_device__()
            def __dlpack__(self, *, stream=None, **more):
                self.stream = stream
                return self.array.__dlpack__(stream=stream, **more)

        array = hd.asarray(expected).to_device("cuda:1")
        hd.set_device("cuda:0")
        producer = Producer(array)
        assert hd.from_dlpack(producer).device == "cuda:1"
        hd.set_device("cuda:1")
        assert producer.stream == array.__cuda_array_interface__["stream"] != 0
        print("done")
    """, FAKE)
