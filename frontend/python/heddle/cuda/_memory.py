"""Memory by its address: cupy.cuda.MemoryPointer, Memory, UnownedMemory, ManagedMemory, MemoryAsync."""

import ctypes
import operator

from heddle import _heddle
from heddle.cuda._device import CPU, Device, get_device_id, name_of, number_of
from heddle.cuda._stream import ExternalStream, get_current_stream

_cuda = _heddle._cuda
OutOfMemoryError = _heddle.OutOfMemory
# Allocators without a pool, by the kind of memory.
_direct = {kind: _cuda.Allocator.direct(kind) for kind in ("device", "managed", "ordered")}


def _native_stream(stream, device_id):
    """The stream on which something is enqueued: by default the current one of the device."""
    return get_current_stream(device_id)._native if stream is None else stream._native


class BaseMemory:
    """Memory of a device: `ptr`, its address, `size` in bytes, and `device_id`; -1 for the CPU."""

    ptr, size, device_id = 0, 0, CPU

    @property
    def device(self):
        """The device: a heddle.cuda.Device."""
        return Device(self.device_id)

    def __int__(self):
        return self.ptr


class _OwnedMemory(BaseMemory):
    """Memory that is freed with the object, when the work is done that is enqueued then."""

    def __init__(self, size, allocator, stream=None):
        self.size = operator.index(size)
        stream = get_current_stream() if stream is None else stream
        self._block = _cuda.allocate(allocator, self.size, stream._native)
        self.ptr, self.device_id = self._block.ptr, number_of(self._block.device)


class Memory(_OwnedMemory):
    """Memory of this thread's device, without a pool: cupy.cuda.Memory. Raises OutOfMemory."""

    def __init__(self, size):
        super().__init__(size, _direct["device"])


class PooledMemory(_OwnedMemory):
    """Memory of a pool, to which it returns: cupy.cuda.memory.PooledMemory."""

    def free(self):
        """Returns the memory to the pool now, as far as no array uses it. `ptr` and `size` are then 0.
        Calling it again has no effect."""
        self._block, self.ptr, self.size = None, 0, 0


class MemoryAsync(_OwnedMemory):
    """Memory of the driver's own pool: cupy.cuda.MemoryAsync. Work on `stream`, by default the
    current one, may use it at once. On the CPU it is ordinary memory. Raises OutOfMemory."""

    def __init__(self, size, stream=None):
        super().__init__(size, _direct["ordered"], stream)


class ManagedMemory(_OwnedMemory):
    """Memory that moves between the host and the GPU when one of them touches it:
    cupy.cuda.ManagedMemory. All managed memory together is at most what the GPU had free: more is
    OutOfMemory. On the CPU it is ordinary memory."""

    def __init__(self, size):
        super().__init__(size, _direct["managed"])

    def prefetch(self, stream, device_id=None):
        """Enqueues moving the memory to a device, by default its own one; -1 is the host. No effect
        on the CPU."""
        to = self.device_id if device_id is None else int(device_id)
        _cuda.prefetch(self.ptr, self.size, name_of(to), stream._native)

    def advise(self, advise, device):
        """Tells the driver how the memory is used, by a number such as
        runtime.cudaMemAdviseSetReadMostly. `device` is a Device or a number; -1 is the host. No
        effect on the CPU."""
        _cuda.advise(name_of(self.device_id), self.ptr, self.size, operator.index(advise),
                     name_of(int(device)))


class UnownedMemory(BaseMemory):
    """Memory of another library: cupy.cuda.UnownedMemory. `owner` is any object that keeps it, and is
    kept as long as arrays over the memory.

    `device_id` is found by the address if it is -1. `stream`, which CuPy does not have, is a stream or
    a handle on which the owner's work is enqueued: arrays over the memory wait for it.

    >>> memory = hd.cuda.UnownedMemory(buffer.ctypes.data, buffer.nbytes, buffer)
    >>> x = hd.ndarray((4,), memptr=hd.cuda.MemoryPointer(memory, 0))
    """

    def __init__(self, ptr, size, owner, device_id=-1, stream=None):
        self.ptr, self.size = operator.index(ptr), operator.index(size)
        self._owner, self._stream = owner, stream
        self.device_id = self._find_device() if device_id == -1 else int(device_id)

    def _find_device(self):
        if get_device_id() == CPU or self.ptr == 0:
            return get_device_id()
        found = _cuda.device_of_pointer(self.ptr)
        return get_device_id() if found is None else number_of(found)

    def _make_ready(self):
        """Makes the current stream wait for the owner's work."""
        if self._stream is None or self.device_id == CPU:
            return
        stream = self._stream
        if isinstance(stream, int):
            stream = ExternalStream(stream, self.device_id)
        get_current_stream(self.device_id).wait_event(stream.record())


def _address(memory):
    """The address in an int, a ctypes.c_void_p or another ctypes object."""
    if isinstance(memory, ctypes.c_void_p):
        return memory.value or 0
    if isinstance(memory, (ctypes.Array, ctypes.Structure)):
        return ctypes.addressof(memory)
    return operator.index(memory)


class MemoryPointer:
    """An address within memory: cupy.cuda.MemoryPointer. It keeps `mem`. `ptr` is the address. Adding
    and subtracting a number of bytes gives other pointers. The functions that copy first evaluate what
    this thread has recorded; those named async only enqueue on `stream`, by default the current one."""

    def __init__(self, mem, offset):
        self.mem, self.ptr = mem, mem.ptr + offset
        self.device_id = mem.device_id

    @property
    def device(self):
        """The device of the memory."""
        return Device(self.device_id)

    def __int__(self):
        return self.ptr

    def __add__(self, offset):
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + operator.index(offset))

    __radd__ = __add__

    def __sub__(self, offset):
        return self + -operator.index(offset)

    def __repr__(self):
        return f"<MemoryPointer 0x{self.ptr:x} device={self.device_id} mem={self.mem!r}>"

    def _copy(self, to, to_id, source, source_id, size, stream):
        native = _native_stream(stream, self.device_id)
        _cuda.copy_bytes(to, name_of(to_id), source, name_of(source_id), size, native)
        return native

    def copy_from_device_async(self, src, size, stream=None):
        """Enqueues a copy of bytes from another MemoryPointer."""
        self._copy(self.ptr, self.device_id, src.ptr, src.device_id, size, stream)

    def copy_from_device(self, src, size):
        """Copies bytes from another MemoryPointer."""
        self._copy(self.ptr, self.device_id, src.ptr, src.device_id, size, None).synchronize()

    def copy_from_host_async(self, mem, size, stream=None):
        """Enqueues a copy of bytes from the host. `mem` is an address or a ctypes.c_void_p."""
        self._copy(self.ptr, self.device_id, _address(mem), CPU, size, stream)

    def copy_from_host(self, mem, size):
        """Copies bytes from the host. `mem` is an address or a ctypes.c_void_p."""
        self._copy(self.ptr, self.device_id, _address(mem), CPU, size, None).synchronize()

    def copy_from_async(self, mem, size, stream=None):
        """Enqueues a copy of bytes from a MemoryPointer, or from an address of the host."""
        device = isinstance(mem, MemoryPointer)
        (self.copy_from_device_async if device else self.copy_from_host_async)(mem, size, stream)

    def copy_from(self, mem, size):
        """Copies bytes from a MemoryPointer, or from an address of the host."""
        device = isinstance(mem, MemoryPointer)
        (self.copy_from_device if device else self.copy_from_host)(mem, size)

    def copy_to_host_async(self, mem, size, stream=None):
        """Enqueues a copy of bytes to the host. `mem` is an address or a ctypes.c_void_p."""
        self._copy(_address(mem), CPU, self.ptr, self.device_id, size, stream)

    def copy_to_host(self, mem, size):
        """Copies bytes to the host. `mem` is an address or a ctypes.c_void_p."""
        self._copy(_address(mem), CPU, self.ptr, self.device_id, size, None).synchronize()

    def memset_async(self, value, size, stream=None):
        """Enqueues setting bytes to a value from 0 to 255."""
        _cuda.fill_bytes(self.ptr, value, size, _native_stream(stream, self.device_id))

    def memset(self, value, size):
        """Sets bytes to a value from 0 to 255."""
        self.memset_async(value, size)
        get_current_stream(self.device_id).synchronize()


def malloc_managed(size):
    """A pointer to new managed memory: cupy.cuda.malloc_managed. See ManagedMemory."""
    return MemoryPointer(ManagedMemory(size), 0)


def malloc_async(size):
    """A pointer to new memory of the driver's pool: cupy.cuda.malloc_async. See MemoryAsync."""
    return MemoryPointer(MemoryAsync(size), 0)


def pointer_of(array):
    """The MemoryPointer of an Array on a GPU: its attribute `data`."""
    facts = array.__cuda_array_interface__
    size = array.nbytes if array.size else 0
    device = number_of(str(array.device))
    return MemoryPointer(UnownedMemory(facts["data"][0], size, array, device), 0)


def array_over(shape, dtype, memptr, offset=0, strides=None, order=None):
    """The Array of a MemoryPointer: hd.ndarray(shape, dtype, memptr=memptr). Raises ValueError if the
    memory is smaller, not aligned, or if elements share memory."""
    shape = (operator.index(shape),) if not hasattr(shape, "__iter__") else tuple(shape)
    if any(extent < 0 for extent in shape):
        raise ValueError(f"ndarray: extents must not be negative: {shape}")
    itemsize = _heddle.empty(0, dtype=dtype).itemsize
    if strides is None and order == "F":
        steps, step = [], itemsize
        for extent in shape:
            steps.append(step)
            step *= extent
        strides = tuple(steps)
    size = itemsize
    for axis, extent in enumerate(shape):
        size = size * extent if strides is None else size + abs(strides[axis]) * (extent - 1)
    if 0 in shape:
        size = 0
    left = memptr.mem.size - (memptr.ptr - memptr.mem.ptr) - offset
    if size > left:
        raise ValueError(f"ndarray: {size} bytes are needed, but the memory has {max(left, 0)} from there")
    if isinstance(memptr.mem, UnownedMemory):
        memptr.mem._make_ready()
    return _cuda.array_over(memptr.ptr + offset, name_of(memptr.device_id), shape, dtype, strides,
                            memptr)
