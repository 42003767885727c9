"""Memory and events of several processes and several GPUs: on the tests' own driver, and on real GPUs
where there are any. The fake driver's kernels do nothing, so there elements are only copied."""

import os
import subprocess
import sys
import textwrap

import pytest
from fake_gpus import FAKE

import heddle as hd

IN_BOTH = [pytest.param(FAKE | {"HEDDLE_FAKE_IPC": "1", "HEDDLE_FAKE_PEERS": "1"}, id="fake"),
           pytest.param({}, id="real", marks=pytest.mark.skipif(
               not hd.cuda.is_available() or bool(os.environ.get("HEDDLE_CUDA_DRIVER")),
               reason="there is no GPU"))]
ON_TWO = [IN_BOTH[0], pytest.param({}, id="real", marks=pytest.mark.skipif(
    hd.cuda.runtime.getDeviceCount() < 2, reason="there are no two GPUs"))]


def run(code, environment, *arguments):
    """Runs a program, which prints "done", on GPUs."""
    folder = os.path.dirname(os.path.abspath(__file__))
    environment = os.environ | environment
    environment["PYTHONPATH"] = os.pathsep.join([folder, environment.get("PYTHONPATH", "")])
    environment.pop("HEDDLE_DEVICE", None)
    process = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *arguments],
                             capture_output=True, text=True, timeout=120, env=environment)
    assert process.returncode == 0 and process.stdout == "done\n", process.stdout + process.stderr


def refusals():
    """For programs: a function that checks what calls raise."""
    return """
def refused(error, text, call):
    try:
        call()
    except error as raised:
        assert text in str(raised), raised
    else:
        raise AssertionError(text)
"""


OTHER = """
import numpy as np, heddle as hd
event = hd.cuda.Event.from_ipc_handle(bytes.fromhex(input()))
hd.cuda.get_current_stream().wait_event(event)
handle = input()
x = hd.cuda.open_shared_memory(handle)
again = hd.cuda.open_shared_memory(handle)
part = hd.cuda.open_shared_memory(input())
assert x.device == "cuda:0" and x.dtype == hd.float64 and part.dtype == hd.int32
assert x.tolist() == np.arange(12.0).reshape(3, 4).tolist() == again.tolist()
assert part.tolist() == [5, 6, 7]
x[...] = hd.asarray(np.full((3, 4), 2.5))
assert again.tolist() == [[2.5] * 4] * 3
del again

runtime = hd.cuda.runtime
handle, offset = bytes.fromhex(input()), int(input())
base = runtime.ipcOpenMemHandle(handle)
assert runtime.ipcOpenMemHandle(handle) == base
memory = hd.cuda.UnownedMemory(base + offset, 96, None)
raw = hd.ndarray((12,), memptr=hd.cuda.MemoryPointer(memory, 0))
assert raw.tolist() == [2.5] * 12
raw_event = runtime.ipcOpenEventHandle(bytes.fromhex(input()))
runtime.streamWaitEvent(hd.cuda.get_current_stream().ptr, raw_event)
runtime.eventSynchronize(raw_event)
assert runtime.eventQuery(raw_event) == 0
runtime.eventDestroy(raw_event)
hd.synchronize()
del raw
for _ in range(2):
    runtime.ipcCloseMemHandle(base)
print("written", flush=True)
assert input() == "end"
"""


@pytest.mark.parametrize("environment", IN_BOTH)
def test_two_processes_share_memory_and_events(environment):
    run("""
        import subprocess, sys
        import numpy as np, heddle as hd

        x = hd.asarray(np.arange(12.0).reshape(3, 4))
        y = hd.asarray(np.arange(5, 8, dtype="int32"))
        event = hd.cuda.Event(disable_timing=True, interprocess=True)
        event.record()
        address = x.data.ptr
        base, size = hd.cuda.runtime.memGetAddressRange(address)
        assert base <= address and address + x.nbytes <= base + size
        other = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        lines = [event.ipc_handle().hex(), hd.cuda.share_memory(x), hd.cuda.share_memory(y),
                 hd.cuda.runtime.ipcGetMemHandle(address).hex(), str(address - base),
                 hd.cuda.runtime.ipcGetEventHandle(event.ptr).hex()]
        other.stdin.write("\\n".join(lines) + "\\n")
        other.stdin.flush()
        event.synchronize()
        assert other.stdout.readline() == "written\\n"
        assert x.tolist() == [[2.5] * 4] * 3
        other.communicate("end\\n")
        assert other.returncode == 0
        print("done")
    """, environment, OTHER)


@pytest.mark.parametrize("environment", IN_BOTH)
def test_what_cannot_be_shared(environment):
    run(refusals() + textwrap.dedent("""
        import numpy as np, heddle as hd
        cuda, runtime = hd.cuda, hd.cuda.runtime

        x = hd.asarray(np.arange(4.0))
        handle = cuda.share_memory(x)
        refused(hd.DeviceError, "is this process", lambda: cuda.open_shared_memory(handle))
        refused(hd.DeviceError, "is this process",
                lambda: runtime.ipcOpenMemHandle(runtime.ipcGetMemHandle(x.data.ptr)))
        parts = handle.split()
        for wrong in ("", "text", handle[:-1], handle.replace("[4]", "[1000000000000]"),
                      handle.replace("[4]", "[4"), handle.replace(" f64 ", " f65 ")):
            assert wrong != handle
            refused(ValueError, "no handle", lambda: cuda.open_shared_memory(wrong))
        refused(hd.DeviceError, "PCI bus id",
                lambda: cuda.open_shared_memory(handle.replace(parts[1], "0000:FF:00.0")))
        refused(ValueError, "without elements", lambda: cuda.share_memory(hd.zeros((0, 3))))
        refused(TypeError, "Array", lambda: cuda.share_memory(np.zeros(3)))
        refused(hd.DeviceError, "use shared memory of the system",
                lambda: cuda.share_memory(x.to_device("cpu")))
        for kind in (cuda.malloc_managed, cuda.malloc_async):
            memory = kind(64)
            refused(hd.DeviceError, "no handle for other processes",
                    lambda: runtime.ipcGetMemHandle(memory.ptr))
        refused(hd.DeviceError, "interprocess", lambda: cuda.Event().ipc_handle())
        refused(ValueError, "64 bytes", lambda: cuda.Event.from_ipc_handle(b"short"))
        refused(ValueError, "timed", lambda: cuda.Event(interprocess=True))
        print("done")
    """), environment)


def test_without_a_gpu():
    x = hd.ones(3, device="cpu")
    with pytest.raises(hd.DeviceError, match="shared memory of the system"):
        hd.cuda.share_memory(x)
    if hd.device() == "cpu":
        with pytest.raises(hd.DeviceError, match="shared memory of the system"):
            hd.cuda.Event(disable_timing=True, interprocess=True).ipc_handle()
        assert hd.cuda.Device().can_access_peer(-1) and hd.cuda.Device().enable_peer_access(-1)


@pytest.mark.parametrize("environment", ON_TWO)
def test_copies_between_two_gpus(environment):
    """An array may be gone, and its memory used again, before it is copied."""
    run("""
        import numpy as np, heddle as hd

        values = np.arange(1000.0)
        x = hd.asarray(values)
        y = x.to_device("cuda:1")
        del x
        others = [hd.asarray(-values) for _ in range(4)]
        assert y.device == "cuda:1" and np.array_equal(hd.asnumpy(y), values)
        back = y.to_device("cuda:0")
        del y
        with hd.cuda.Device(1):
            others = [hd.asarray(-values) for _ in range(4)]
        assert np.array_equal(hd.asnumpy(back), values)
        print("done")
    """, environment)


def test_access_is_asked_for_once():
    program = """
        import os
        import numpy as np, heddle as hd
        from fake_gpus import control

        calls = control().calls
        x = hd.asarray(np.arange(1000.0))
        before = calls(b"cuStreamSynchronize")
        for _ in range(3):
            y = x.to_device("cuda:1")
        can = "HEDDLE_FAKE_PEERS" in os.environ
        assert calls(b"cuMemcpyPeerAsync") == 3 and calls(b"cuStreamSynchronize") == before
        assert calls(b"cuCtxEnablePeerAccess") == (2 if can else 0)
        first = hd.cuda.Device(0)
        assert first.can_access_peer(1) == can == first.enable_peer_access(1)
        assert hd.cuda.runtime.deviceCanAccessPeer(1, 0) == can
        try:
            hd.cuda.runtime.deviceEnablePeerAccess(1)
        except hd.DeviceError as error:
            assert not can and "through the host" in str(error)
        else:
            assert can
        assert calls(b"cuCtxEnablePeerAccess") == (2 if can else 0)
        hd.cuda.runtime.deviceDisablePeerAccess(1)
        first.disable_peer_access(1)
        assert calls(b"cuCtxDisablePeerAccess") == (1 if can else 0)
        assert y.to_device("cuda:0").tolist() == x.tolist()
        print("done")
    """
    run(program, FAKE)
    run(program, FAKE | {"HEDDLE_FAKE_PEERS": "1"})
