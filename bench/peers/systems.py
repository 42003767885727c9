"""The systems that run the programs: how data gets to the device and back, how a function is
compiled and called, and how one waits for it.

A system that is not there, or that has no way to run a program, raises; the message is what the
report says in the place of a figure.
"""

import importlib
import os

import numpy as np


class System:
    """One that runs eagerly over a namespace with NumPy's names."""

    name = title = ""
    devices = ("cpu", "cuda")
    packages = ()  # whose versions are reported

    def __init__(self, device):
        """`device` is "cpu" or "cuda"; raises what a library does where it cannot work."""

    def versions(self):
        modules = {name: importlib.import_module(name) for name in self.packages}
        return {name: getattr(module, "__version__", "?") for name, module in modules.items()}

    def put(self, array):
        """A NumPy array, on the device."""
        raise NotImplementedError

    def get(self, result):
        """A NumPy array of a result."""
        return np.asarray(result)

    def compile(self, program):
        """A function of arrays on the device that returns a result, perhaps not yet computed."""
        return program.bind(self.namespace)

    def drawing(self, count):
        """A function without arguments that returns `count` normal numbers in float32."""
        raise NotImplementedError

    def choose_precision(self, tf32):
        """For the matrix products in float32 from here on: IEEE's, or tf32."""

    def wait(self):
        """Until all that was called is computed."""

    def copying(self, count):
        """A function that copies `count` float32 numbers within the device; None: has no such."""
        return None

    def release(self):
        """Gives memory that no array uses back to the device."""


class NumPy(System):
    name, title, devices, packages = "numpy", "NumPy", ("cpu",), ("numpy",)
    namespace = np

    def put(self, array):
        return array

    def drawing(self, count):
        generator = np.random.default_rng(0)
        return lambda: generator.standard_normal(count, dtype=np.float32)

    def copying(self, count):
        source, target = np.ones(count, np.float32), np.zeros(count, np.float32)
        return lambda: np.copyto(target, source)


class Heddle(System):
    name, title, packages = "heddle", "Heddle", ("heddle",)

    def __init__(self, device):
        import heddle

        self.namespace = heddle
        heddle.set_device("cpu" if device == "cpu" else "cuda:0")
        self.wait = heddle.synchronize

    def put(self, array):
        return self.namespace.asarray(array)

    def get(self, result):
        return self.namespace.asnumpy(result)

    def choose_precision(self, tf32):
        self.namespace.set_matmul_precision("tf32" if tf32 else "ieee")

    def compile(self, program):
        return self.namespace.jit(program.bind(self.namespace), approximate=program.approximate)

    def drawing(self, count):
        heddle = self.namespace
        generator = heddle.random.default_rng(0)
        return heddle.jit(lambda: generator.standard_normal((count,), dtype=heddle.float32))


class CuPy(System):
    name, title, devices, packages = "cupy", "CuPy", ("cuda",), ("cupy",)

    def __init__(self, device):
        import cupy

        self.namespace = cupy
        self.wait = cupy.cuda.runtime.deviceSynchronize
        self.wait()

    def put(self, array):
        return self.namespace.asarray(array)

    def get(self, result):
        return self.namespace.asnumpy(result)

    def drawing(self, count):
        cupy = self.namespace
        generator = cupy.random.default_rng(0)
        return lambda: generator.standard_normal((count,), dtype=cupy.float32)

    def choose_precision(self, tf32):
        from cupy._core import _routines_linalg as products

        kind = products.COMPUTE_TYPE_TF32 if tf32 else products.COMPUTE_TYPE_DEFAULT
        products.set_compute_type(np.float32, kind)

    def copying(self, count):
        cupy = self.namespace
        source = cupy.ones(count, dtype=cupy.float32)
        target = cupy.empty_like(source)
        copy = cupy.cuda.runtime.memcpy
        inside_the_device = cupy.cuda.runtime.memcpyDeviceToDevice
        return lambda: copy(target.data.ptr, source.data.ptr, source.nbytes, inside_the_device)

    def release(self):
        self.namespace.get_default_memory_pool().free_all_blocks()


class Jax(System):
    name, title, packages = "jax", "JAX", ("jax", "jaxlib")

    def __init__(self, device):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        jax.config.update("jax_platforms", device)
        jax.config.update("jax_enable_x64", True)
        if device == "cpu":  # where the last call in flight need not be the last to end
            jax.config.update("jax_cpu_enable_async_dispatch", False)
        jax.devices()
        self.jax, self.namespace, self.last = jax, jax.numpy, None

    def put(self, array):
        return self.namespace.asarray(array)

    def keeping_last(self, function):
        def call(*arrays):
            self.last = function(*arrays)
            return self.last

        return call

    def compile(self, program):
        return self.keeping_last(self.jax.jit(program.bind(self.namespace)))

    def drawing(self, count):
        """From one key at each call."""
        jax, key = self.jax, self.jax.random.key(0)
        draw = jax.jit(lambda key: jax.random.normal(key, (count,), jax.numpy.float32))
        return self.keeping_last(lambda: draw(key))

    def choose_precision(self, tf32):
        wanted = "tensorfloat32" if tf32 else "highest"
        self.jax.config.update("jax_default_matmul_precision", wanted)

    def wait(self):
        """A device's calls end in their order."""
        self.jax.block_until_ready(self.last)

    def release(self):
        self.last = None


class Torch(System):
    name, title, packages = "torch", "torch", ("torch",)

    def __init__(self, device):
        import torch
        from peers import torch_names

        torch.set_grad_enabled(False)
        self.torch, self.device, self.namespace = torch, device, torch_names
        torch.zeros(1, device=device)

    def put(self, array):
        return self.torch.from_numpy(array).to(self.device)

    def get(self, result):
        return result.cpu().numpy()

    def drawing(self, count):
        torch, device = self.torch, self.device
        return lambda: torch.randn(count, dtype=torch.float32, device=device)

    def choose_precision(self, tf32):
        self.torch.set_float32_matmul_precision("high" if tf32 else "highest")

    def wait(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def copying(self, count):
        source = self.torch.ones(count, dtype=self.torch.float32, device=self.device)
        target = self.torch.empty_like(source)
        return lambda: target.copy_(source)

    def release(self):
        if self.device == "cuda":
            self.torch.cuda.empty_cache()


class Inductor(Torch):
    """torch.compile with its default backend; its steps and dynamic shapes are left as they are
    but for one signature a program."""

    name, title, packages = "inductor", "Inductor", ("torch", "triton")

    def compiled(self, function):
        # Programs share the code of one closure, whose compiled versions dynamo limits.
        self.torch._dynamo.reset()
        return self.torch.compile(function, dynamic=False)

    def compile(self, program):
        return self.compiled(program.bind(self.namespace))

    def drawing(self, count):
        return self.compiled(super().drawing(count))

    def copying(self, count):
        return None

    def versions(self):
        return {} if self.device == "cpu" else super().versions()


ALL = {system.name: system for system in (Heddle, NumPy, CuPy, Torch, Inductor, Jax)}


def reason(error):
    """One line of an exception."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:160]


def start(names, device):
    """Those of `names` that work on the device, in the order in which they are to take turns, and
    why the others do not."""
    running, absent = [], {}
    for name in names:
        if device not in ALL[name].devices:
            absent[name] = f"does not run on {device}"
            continue
        try:
            running.append(ALL[name](device))
        except Exception as error:  # whatever a library raises where it cannot work
            absent[name] = reason(error)
    return running, absent
