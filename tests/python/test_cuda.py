"""heddle.cuda's devices, streams and events, on whatever device HEDDLE_DEVICE names."""

import gc
import operator
import sys
import threading
import weakref

import numpy as np
import pytest
from conftest import ON_CPU

import heddle as hd

cuda = hd.cuda
ON_GPU = not ON_CPU
only_gpu = pytest.mark.skipif(ON_CPU, reason="the CPU has one stream")
only_cpu = pytest.mark.skipif(ON_GPU, reason="for the CPU")

def evaluations():
    return hd.statistics()["evaluations"]


# Devices.


def test_current_device():
    device = cuda.Device()
    assert device.id == cuda.get_device_id() == cuda.runtime.getDevice() == int(device)
    assert device == cuda.Device(device) and hash(device) == hash(cuda.Device(device.id))
    assert not device < device and device <= device and device != 0
    with device as entered:
        assert entered is device and hd.device() == ("cpu" if ON_CPU else f"cuda:{device.id}")
    assert device.use() is device
    device.synchronize()
    free, total = device.mem_info
    assert 0 < free <= total
    assert cuda.runtime.memGetInfo()[1] == total
    cuda.runtime.deviceSynchronize()
    assert repr(device) == ("<CPU Device>" if ON_CPU else f"<CUDA Device {device.id}>")


@only_cpu
def test_the_cpu_as_a_device():
    device = cuda.Device()
    assert device.id == -1 and device == cuda.Device(-1)
    if not cuda.is_available():
        assert cuda.Device.from_pointer(cuda.alloc(8).ptr) == device
    assert device.attributes == {} and device.compute_capability == "" and device.pci_bus_id == ""


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu():
    assert cuda.runtime.getDeviceCount() == 0 and not cuda.is_available()
    assert cuda.runtime.driverGetVersion() == cuda.runtime.runtimeGetVersion() == 0
    for call in (lambda: cuda.Device(0), lambda: cuda.runtime.setDevice(0),
                 lambda: cuda.runtime.getDeviceProperties(0)):
        with pytest.raises(hd.DeviceError, match=r"Device\(0\).*is_available\(\).*cuda:0"):
            call()
    with pytest.raises(cuda.runtime.CUDARuntimeError):
        cuda.Device.from_pci_bus_id("0000:00:00.0")


def test_devices_compare_by_number():
    first, second = object.__new__(cuda.Device), object.__new__(cuda.Device)  # also where there is no GPU
    first.id, second.id = 0, 1
    assert first == first and first != second and not first == second and first != 0 and first != "cpu"
    assert first < second and first <= second and second > first and second >= second and not second < first
    assert len({first, second, first}) == 2 and int(second) == 1
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        with pytest.raises(TypeError):
            compare(first, 1)


def test_wrong_devices():
    with pytest.raises(ValueError, match="-2"):
        cuda.Device(-2)
    with pytest.raises(TypeError):
        cuda.Device(1.5)
    with pytest.raises(hd.DeviceError):
        cuda.Device(1000)


@only_gpu
def test_facts_of_a_gpu():
    device = cuda.Device()
    assert device.attributes["WarpSize"] == 32
    major, minor = (device.attributes["ComputeCapability" + part] for part in ("Major", "Minor"))
    assert device.compute_capability == f"{major}{minor}"
    assert cuda.Device.from_pci_bus_id(device.pci_bus_id) == device
    properties = cuda.runtime.getDeviceProperties(device.id)
    assert isinstance(properties["name"], bytes) and properties["warpSize"] == 32
    assert properties["major"] == major and len(properties["maxGridSize"]) == 3
    assert properties["totalGlobalMem"] == device.mem_info[1]
    assert cuda.is_available() and cuda.runtime.getDeviceCount() > device.id
    assert cuda.runtime.driverGetVersion() >= 12000
    assert cuda.runtime.deviceCanAccessPeer(device.id, device.id) == 1


# Streams and events.


def test_what_cupy_programs_write():
    x = hd.arange(10.0)
    y = x * 2
    cuda.Stream.null.synchronize()
    cuda.Device().synchronize()
    cuda.get_current_stream().synchronize()
    assert float(y[3]) == 6
    assert cuda.get_current_stream() == cuda.Stream.null == cuda.Stream.ptds
    assert cuda.Stream(null=True) == cuda.Stream.null


@pytest.mark.parametrize("options", [{}, {"non_blocking": True}, {"priority": -1},
                                     {"non_blocking": True, "priority": 0}])
def test_work_on_a_stream(options):
    stream = cuda.Stream(**options)
    x = hd.arange(1000.0) + 1
    with stream as entered:
        assert stream.is_non_blocking == options.get("non_blocking", False)
        assert stream.priority == options.get("priority", 0)
        assert entered is stream and cuda.get_current_stream() == stream
        y = x * 2
        with cuda.Stream(non_blocking=True):
            z = y + 1
        assert cuda.get_current_stream() == stream
    assert cuda.get_current_stream() == cuda.Stream.null
    stream.synchronize()
    assert stream.done
    np.testing.assert_array_equal(hd.asnumpy(z), (np.arange(1000.0) + 1) * 2 + 1)
    assert stream.use() is stream
    np.testing.assert_array_equal(hd.asnumpy(z - y), np.ones(1000))
    cuda.Stream.null.use()
    assert stream.device_id == cuda.get_device_id()
    assert (stream.ptr != 0) == ON_GPU and stream.__cuda_stream__() == (0, stream.ptr)
    assert len({stream, stream}) == 1 and stream != 1


@only_gpu
def test_a_change_of_the_stream_evaluates():
    x = hd.arange(10.0)
    before = evaluations()
    y = x + 1
    with cuda.Stream():
        assert evaluations() == before + 1
        z = y + 1
    assert evaluations() == before + 2
    assert float(z[0]) == 2


def test_work_that_fails_on_a_stream():
    wrong = hd.ElementwiseKernel("float64 x", "float64 y", "y = undeclared + x", "wrong")
    results = []
    with pytest.raises(hd.CompileError, match="undeclared"):
        with cuda.Stream(non_blocking=True) as stream:
            results.append(wrong(hd.arange(4.0)))
            stream.synchronize()
    assert cuda.get_current_stream() == cuda.Stream.null
    with pytest.raises(hd.CompileError, match="undeclared"):
        cuda.Stream.null.synchronize()
    results.clear()
    cuda.Stream.null.synchronize()


@only_gpu
def test_streams_are_distinct_and_reused():
    first, second = cuda.Stream(), cuda.Stream()
    assert first != second and first != cuda.Stream.null and first.ptr != second.ptr
    pointer = second.ptr
    del second
    gc.collect()
    assert cuda.Stream().ptr == pointer


def test_arrays_outlive_their_streams():
    results = []
    for i in range(20):
        stream = cuda.Stream(non_blocking=True)
        with stream:
            results.append(hd.arange(100_000.0) * i)
        del stream
    for i, result in enumerate(results):
        np.testing.assert_array_equal(hd.asnumpy(result), np.arange(100_000.0) * i)


def test_threads_have_streams_of_their_own():
    stream = cuda.Stream()
    seen, failures = [], []

    def work():
        try:
            assert cuda.get_current_stream() == cuda.Stream.null
            seen.append(cuda.Stream.null.ptr)
            with stream:
                assert float((hd.arange(100.0) * 2).sum()) == 9900
        except BaseException as error:  # noqa: BLE001: reported below
            failures.append(error)

    with stream:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures
    assert not ON_GPU or cuda.Stream.null.ptr not in seen


def test_external_streams():
    stream = cuda.Stream(non_blocking=True)
    external = cuda.ExternalStream(stream.ptr)
    with external:
        x = hd.arange(10.0) + 1
    external.synchronize()
    assert external.ptr == stream.ptr and external.done and float(x[9]) == 10
    assert cuda.Stream.from_external(stream).ptr == stream.ptr
    cuda.runtime.streamSynchronize(stream.ptr)
    assert cuda.runtime.streamQuery(stream.ptr) == 0
    with cuda.ExternalStream(0) as default:
        y = x + 1
    default.synchronize()
    assert float(y[0]) == 2
    with pytest.raises(ValueError, match="per-thread"):
        cuda.ExternalStream(2)


class Foreign:
    """A stream of another library."""

    def __init__(self, told):
        self.told = told

    def __cuda_stream__(self):
        return self.told


def test_the_protocol_of_streams():
    stream = cuda.Stream(non_blocking=True)
    assert stream.__cuda_stream__() == (0, stream.ptr)
    assert cuda.Stream.null.__cuda_stream__() == (0, cuda.Stream.null.ptr)
    foreign = Foreign((0, stream.ptr))
    reference = weakref.ref(foreign)
    external = cuda.Stream.from_external(foreign)
    del foreign
    gc.collect()
    assert external.ptr == stream.ptr and reference() is not None
    with external:
        x = hd.arange(3.0) + 1
    external.synchronize()
    assert x.tolist() == [1, 2, 3]
    del external
    gc.collect()
    assert reference() is None
    with pytest.raises(TypeError, match="does not implement"):
        cuda.Stream.from_external(object())
    for told, text in ((5, "2-tuple"), ((0,), "2-tuple"), (("a", 0), "int, int"), ((0, "a"), "int, int"),
                       ((1, 7), "unsupported version"), ((-1, 7), "unsupported version")):
        with pytest.raises(TypeError, match=text):
            cuda.Stream.from_external(Foreign(told))


def test_events():
    start, end = cuda.Event(), cuda.Event(block=True)
    assert start.done
    with pytest.raises(hd.DeviceError, match="recorded"):
        cuda.get_elapsed_time(start, end)
    start.record()
    x = hd.sqrt(hd.arange(100_000.0))
    before = evaluations()
    end.record()
    assert evaluations() == before + 1
    end.synchronize()
    assert end.done
    elapsed = cuda.get_elapsed_time(start, end)
    assert isinstance(elapsed, float) and 0 < elapsed < 60_000
    stream = cuda.Stream(non_blocking=True)
    event = stream.record()
    cuda.Stream.null.wait_event(event)
    assert stream.record(event) is event
    event.synchronize()
    assert float(x[4]) == 2
    untimed = cuda.Event(disable_timing=True)
    untimed.record(stream)
    untimed.synchronize()
    with pytest.raises(ValueError, match="timed"):
        cuda.Event(interprocess=True)
    with pytest.raises(hd.DeviceError, match="timed"):
        cuda.get_elapsed_time(untimed, end)
    if ON_GPU:
        assert event.ptr != 0


def test_work_waits_for_an_event():
    first, second = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    with first:
        x = hd.arange(1_000_000.0)
        for _ in range(10):
            x = hd.sin(x) + 1
    event = first.record()
    second.wait_event(event)
    second.synchronize()
    assert event.done


def test_host_functions():
    stream = cuda.Stream(non_blocking=True)
    seen = []
    stream.launch_host_func(seen.append, 1)
    stream.add_callback(lambda *args: seen.append(args), "argument")
    with stream:
        x = hd.arange(10.0) * 2
    stream.launch_host_func(lambda _: seen.append(3), None)
    stream.synchronize()
    assert seen == [1, (stream, 0, "argument"), 3]
    assert float(x[1]) == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_host_function_that_raises(monkeypatch):
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reports.append(report.exc_type))
    stream = cuda.Stream()
    stream.launch_host_func(lambda _: 1 / 0, None)
    stream.synchronize()
    assert reports == [ZeroDivisionError]
    with pytest.raises(TypeError):
        stream.wait_event(None)


def test_streams_in_a_trace():
    @hd.jit
    def f(x):
        cuda.Stream.null.synchronize()
        return x + 1

    with pytest.raises(hd.TraceError, match="traced"):
        f(hd.ones(3))

    @hd.jit
    def g(x):
        event = cuda.Event()
        event.record()
        return x + 1

    with pytest.raises(hd.TraceError, match="traced"):
        g(hd.ones(3))


@only_cpu
def test_no_graphs_on_the_cpu():
    with pytest.raises(hd.DeviceError, match="jit"):
        cuda.Stream().begin_capture()


@only_gpu
def test_graphs():
    stream = cuda.Stream(non_blocking=True)
    x = hd.arange(1000.0).eval()
    (x * 2 + 1).eval()  # compiled before
    with stream:
        stream.begin_capture()
        assert stream.is_capturing()
        y = x * 2 + 1
        graph = stream.end_capture()
        assert not stream.is_capturing()
        graph.upload()
        for _ in range(3):
            graph.launch()
    stream.synchronize()
    np.testing.assert_array_equal(hd.asnumpy(y), np.arange(1000.0) * 2 + 1)
    graph.launch(cuda.Stream.null)
    np.testing.assert_array_equal(hd.asnumpy(y + 1), np.arange(1000.0) * 2 + 2)
    with pytest.raises(hd.DeviceError, match="capture"):
        stream.end_capture()
    assert float((x + 1)[0]) == 1
