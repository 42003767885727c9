"""A user's own CUDA kernels: CuPy's RawKernel and RawModule. They run on GPUs only."""

import os

from heddle import _heddle


def _check(what, options, backend, jitify=False):
    if isinstance(options, str):
        raise TypeError(f"{what}: options must be a tuple of str, not one str")
    if backend != "nvrtc":
        raise ValueError(f"{what}: backend={backend!r} is not supported; heddle compiles with NVRTC, "
                         "backend='nvrtc'")
    if jitify:
        raise ValueError(f"{what}: jitify is not supported; NVRTC finds the toolkit's headers without "
                         "it")
    return tuple(options)


class RawKernel:
    """A CUDA kernel, launched as it is: cupy.RawKernel, with the same parameters.

    `code` is CUDA C++, in which `name` is an extern "C" kernel, or `name` is a C++ name such as
    'scale<float>'. It is compiled by NVRTC when it is first launched on a device, with `options`, and
    kept in the cache. The toolkit's headers are found where there is a toolkit.

    Called with a grid and a block of 1 to 3 extents and a tuple of arguments. An Array is a pointer to
    its first element; strides are the kernel's business. The kernel may write to it, and later reads
    see that. Python's int is long long, float is double, complex is a complex double, and bool is bool;
    NumPy's scalars and structures of one element, and heddle.float32(2) and the like, are values of
    their own type. An integer may be wider than the parameter if the number fits. None is a null
    pointer, and an object with `ptr` is that pointer. `shared_mem` is in bytes. `stream`, a handle or an object
    with `ptr`, is the thread's own by default. The call returns before the kernel ends.

    Raises CompileError, with the code, when the kernel is first used; DeviceError on the CPU;
    TypeError for arguments of other types; ValueError for extents that the kernel does not allow and,
    with drivers since CUDA 12.4, for arguments of other counts and sizes; TraceError in a traced
    function.

    >>> add = hd.RawKernel(r'''extern "C" __global__ void add(const float* x, const float* y, float* z) {
    ...     int i = blockDim.x * blockIdx.x + threadIdx.x;
    ...     z[i] = x[i] + y[i];
    ... }''', "add")
    >>> add((4,), (256,), (x, y, z))
    """

    def __init__(self, code, name, options=(), backend="nvrtc", *, enable_cooperative_groups=False):
        options = _check("RawKernel", options, backend)
        self._set(None, _heddle._RawKernel(code, name, options, enable_cooperative_groups), name, code,
                  None, options, enable_cooperative_groups)

    def _set(self, module, kernel, name, code, file_path, options, cooperative):
        self._module, self._kernel = module, kernel
        self.name, self.code, self.file_path = name, code, file_path
        self.options, self.backend, self.enable_cooperative_groups = options, "nvrtc", cooperative
        self.__name__ = name

    def __call__(self, grid, block, args, *, shared_mem=0, stream=None):
        self._kernel.launch(grid, block, args, shared_mem, stream)

    def compile(self, log_stream=None):
        """Compiles and loads the kernel on the current device now. `log_stream` has no effect."""
        self._kernel.compile()

    @property
    def attributes(self):
        """What the driver knows of the kernel on the current device: a dict of int."""
        return self._kernel.attributes()

    @property
    def max_dynamic_shared_size_bytes(self):
        """The most dynamic shared memory that a launch may have, in bytes. Settable."""
        return self.attributes["max_dynamic_shared_size_bytes"]

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, bytes):
        self._kernel.set_max_dynamic_shared_size_bytes(bytes)

    @property
    def preferred_shared_memory_carveout(self):
        """The part of the fast memory that is shared memory, in percent; -1 if the driver chooses.
        Settable."""
        return self.attributes["preferred_shared_memory_carveout"]

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, percent):
        self._kernel.set_preferred_shared_memory_carveout(percent)

    def __reduce__(self):
        if self._module is not None:
            return RawModule.get_function, (self._module, self.name)
        return _remade_kernel, (self.code, self.name, self.options, self.enable_cooperative_groups)

    def __repr__(self):
        return f"<heddle.RawKernel {self.name}>"


def _remade_kernel(code, name, options, cooperative):
    return RawKernel(code, name, options, enable_cooperative_groups=cooperative)


def _attribute(name, doc):
    return property(lambda self: self.attributes[name], doc=doc)


for _name, _doc in {
        "max_threads_per_block": "The most threads that a block may have.",
        "shared_size_bytes": "Static shared memory of a block, in bytes.",
        "const_size_bytes": "Constant memory of the kernel, in bytes.",
        "local_size_bytes": "Local memory of a thread, in bytes.",
        "num_regs": "Registers of a thread.",
        "ptx_version": "The architecture of the PTX, as 10 * major + minor.",
        "binary_version": "The architecture of the machine code, as 10 * major + minor.",
        "cache_mode_ca": "Whether global loads are cached in L1."}.items():
    setattr(RawKernel, _name, _attribute(_name, _doc))


class DeviceGlobal:
    """A variable of a module in a device's memory: `ptr`, its address, and `size` in bytes. It may be
    an argument of a kernel."""

    def __init__(self, variable):
        self._variable = variable
        self.ptr, self.size, self.device = variable.ptr, variable.size, variable.device

    def array(self, dtype, shape=None):
        """An Array that shares the memory: of one axis by default. Raises ValueError if the variable is
        smaller or not aligned, and for negative extents."""
        dtype = _heddle.empty(0, dtype=dtype).dtype
        if shape is None:
            shape = self.size // dtype.itemsize
        return _heddle._array_of_global(self._variable, dtype, shape)

    def __int__(self):
        return self.ptr

    def __repr__(self):
        return f"<heddle DeviceGlobal of {self.size} bytes on {self.device}>"


class RawModule:
    """Several CUDA kernels and variables of one text or file: cupy.RawModule, with the same parameters.

    Either `code`, CUDA C++, or `path`, a file with a cubin, a fatbin or PTX. `name_expressions` are C++
    kernels of the code that get_function shall find, 'scale<float>', and variables for get_global, after
    an &: '&table<float>'.
    `translate_cucomplex` has no effect: the toolkit's cuComplex.h is found.

    Raises TypeError unless there is one of code and path. The functions raise CompileError, FileError
    and DeviceError when the module is first used.

    >>> module = hd.RawModule(code=r'''template <class T> __global__ void fill(T* x, T value) {
    ...     x[blockDim.x * blockIdx.x + threadIdx.x] = value;
    ... }''', name_expressions=("fill<float>", "fill<int>"))
    >>> module.get_function("fill<int>")((4,), (256,), (x, numpy.int32(7)))
    """

    def __init__(self, *, code=None, path=None, options=(), backend="nvrtc", translate_cucomplex=False,
                 enable_cooperative_groups=False, name_expressions=None, jitify=False):
        if (code is None) == (path is None):
            raise TypeError("RawModule: takes either code or path")
        if path is not None and name_expressions:
            raise ValueError("RawModule: name_expressions need code; functions of a file have their "
                             "names in the file")
        self.options = _check("RawModule", options, backend, jitify)
        self.name_expressions = tuple(name_expressions or ())
        self.code, self.file_path, self.backend = code, path, backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self._path = None
        if code is None:
            self._path = os.path.abspath(path)
            self._module = _heddle._RawModule.load(self._path, enable_cooperative_groups)
        else:
            self._module = _heddle._RawModule(code, self.options, self.name_expressions,
                                              enable_cooperative_groups)

    def get_function(self, name):
        """The kernel of a name or a name expression, as a RawKernel. Launching it raises DeviceError if
        there is none."""
        kernel = RawKernel.__new__(RawKernel)
        kernel._set(self, self._module.get_function(name), name, self.code, self.file_path, self.options,
                    self.enable_cooperative_groups)
        return kernel

    def get_global(self, name):
        """The variable of a name or a name expression on the current device, as a DeviceGlobal. Raises
        DeviceError if there is none."""
        return DeviceGlobal(self._module.get_global(name))

    def compile(self, log_stream=None):
        """Compiles and loads the module on the current device now. `log_stream` has no effect."""
        self._module.compile()

    def __reduce__(self):
        return _remade_module, ({"code": self.code, "path": self._path, "options": self.options,
                                 "name_expressions": self.name_expressions,
                                 "enable_cooperative_groups": self.enable_cooperative_groups},)

    def __repr__(self):
        return f"<heddle.RawModule {self.file_path or 'of code'}>"


def _remade_module(arguments):
    return RawModule(**arguments)
