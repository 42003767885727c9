"""The systems that run the programs. A system moves data to and from the device, compiles and calls
functions, and waits for their results.

A system that is not installed, or that cannot run a program, raises an exception. The report shows
its message in place of a measurement.
"""

import importlib
import os

import numpy as np


class System:
    """A system that runs eagerly, through a namespace with NumPy's names."""

    name = title = ""
    devices = ("cpu", "cuda")
    packages = ()  # packages whose versions are reported

    def __init__(self, device):
        """`device` is "cpu" or "cuda". Raises what the library raises if it does not work."""

    def versions(self):
        modules = {name: importlib.import_module(name) for name in self.packages}
        return {name: getattr(module, "__version__", "?") for name, module in modules.items()}

    def put(self, array):
        """Copies a NumPy array to the device."""
        raise NotImplementedError

    def get(self, result):
        """Copies a result to a NumPy array."""
        return np.asarray(result)

    def compile(self, program):
        """A function of device arrays that returns a result, which may not have been computed
        yet."""
        return program.bind(self.namespace, self.name)

    def drawing(self, count):
        """A function without arguments that returns `count` normal numbers in float32."""
        raise NotImplementedError

    def choose_precision(self, tf32):
        """Sets the precision of later float32 matrix products: IEEE, or tf32."""

    def wait(self):
        """Waits until all calls have been computed."""

    def wait_for(self, arrays):
        """Waits until the arrays that `put` has made are on the device."""
        self.wait()

    def copying(self, count):
        """A function that copies `count` float32 numbers within the device; None if there is
        none."""
        return None

    def release(self):
        """Returns unused memory to the device."""


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
        return self.namespace.jit(program.bind(self.namespace, self.name), approximate=program.approximate)

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
        if device == "cpu":  # on the CPU, calls may end in another order than they began
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
        return self.keeping_last(self.jax.jit(program.bind(self.namespace, self.name)))

    def drawing(self, count):
        """Uses the same key in each call."""
        jax, key = self.jax, self.jax.random.key(0)
        draw = jax.jit(lambda key: jax.random.normal(key, (count,), jax.numpy.float32))
        return self.keeping_last(lambda: draw(key))

    def choose_precision(self, tf32):
        wanted = "tensorfloat32" if tf32 else "highest"
        self.jax.config.update("jax_default_matmul_precision", wanted)

    def wait(self):
        """Waits for the last call; the calls on a device end in order."""
        self.jax.block_until_ready(self.last)

    def wait_for(self, arrays):
        self.jax.block_until_ready(arrays)

    def release(self):
        self.last = None


class Torch(System):
    name, title, packages = "torch", "torch", ("torch",)

    def __init__(self, device):
        import torch
        from peers import torch_names

        torch.set_grad_enabled(False)
        self.torch, self.device, self.namespace = torch, device, torch_names
        torch_names.DEVICE = device
        torch.zeros(1, device=device)

    def put(self, array):
        if array.dtype.name == "bfloat16":  # which torch does not take from NumPy
            bits = self.torch.from_numpy(array.view(np.int16))
            return bits.view(self.torch.bfloat16).to(self.device)
        return self.torch.from_numpy(array).to(self.device)

    def get(self, result):
        result = result.cpu().resolve_conj()
        return (result.float() if result.dtype == self.torch.bfloat16 else result).numpy()

    def reference_of(self, program, inputs):
        """The result in float64, computed eagerly on the device."""
        torch, names = self.torch, self.namespace

        class Exact:
            @staticmethod
            def astype(x, dtype):
                wanted = getattr(torch, dtype)
                return x.to(torch.float64 if wanted.is_floating_point else wanted)

            def __getattr__(self, name):
                return getattr(names, name)

        arrays = [self.put(x) for x in inputs]
        exact = [x.double() if x.is_floating_point() else x for x in arrays]
        return self.get(program.function(Exact(), *exact))

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
    """torch.compile with its default backend. Settings are the defaults, except that each program
    is compiled for one static signature."""

    name, title, packages = "inductor", "Inductor", ("torch", "triton")

    def compiled(self, function):
        # Programs share the code object of one closure, and dynamo limits its number of compiled
        # versions.
        self.torch._dynamo.reset()
        return self.torch.compile(function, dynamic=False)

    def compile(self, program):
        return self.compiled(program.bind(self.namespace, self.name))

    def drawing(self, count):
        return self.compiled(super().drawing(count))

    def copying(self, count):
        return None

    def versions(self):
        return {} if self.device == "cpu" else super().versions()


ALL = {system.name: system for system in (Heddle, NumPy, CuPy, Torch, Inductor, Jax)}


def reason(error):
    """An exception in one line."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:160]


def start(names, device):
    """The systems of `names` that work on the device, in the order of their turns, and the reasons
    why the others do not."""
    running, absent = [], {}
    for name in names:
        if device not in ALL[name].devices:
            absent[name] = f"does not run on {device}"
            continue
        try:
            running.append(ALL[name](device))
        except Exception as error:  # libraries raise various exceptions if they do not work
            absent[name] = reason(error)
    return running, absent
