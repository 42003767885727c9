"""The tests' own CUDA driver: programs on it, and what they ask of it."""

import ctypes
import os
import subprocess
import sys
import textwrap

FAKE = {"HEDDLE_CUDA_DRIVER": os.environ.get("HEDDLE_FAKE_DRIVER", ""),
        "HEDDLE_NVRTC": os.environ.get("HEDDLE_FAKE_NVRTC", "")}


def run_on_fake_gpus(code):
    """Runs a program, which prints "done", in a process that has two fake GPUs."""
    folder = os.path.dirname(os.path.abspath(__file__))
    path = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
    environment = os.environ | FAKE | {"PYTHONPATH": path}
    environment.pop("HEDDLE_DEVICE", None)
    process = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                             text=True, timeout=120, env=environment)
    assert process.returncode == 0 and process.stdout == "done\n", process.stdout + process.stderr


class Control(ctypes.Structure):
    _fields_ = [("calls", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_char_p)),
                ("fail", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_int))]


def driver():
    """The fake driver, in a program that runs on it."""
    return ctypes.CDLL(os.environ["HEDDLE_CUDA_DRIVER"])


def control():
    library = driver()
    library.heddle_fake_control.restype = ctypes.POINTER(Control)
    return library.heddle_fake_control().contents


class ForeignStream:
    """A stream of another library, of GPU 0."""

    def __init__(self, flags=1):
        self.library, context, handle = driver(), ctypes.c_void_p(), ctypes.c_void_p()
        self.library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        self.library.cuCtxPushCurrent_v2(context)
        assert self.library.cuStreamCreateWithPriority(ctypes.byref(handle), flags, 0) == 0
        self.library.cuCtxPopCurrent_v2(ctypes.byref(context))
        self.ptr = handle.value

    def destroy(self):
        assert self.library.cuStreamDestroy_v2(ctypes.c_void_p(self.ptr)) == 0
