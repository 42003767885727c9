"""Functions with the names of cupy.cuda.runtime. Heddle calls CUDA's driver, not its runtime library:
what asks the runtime for a version gets the driver's."""

from heddle import _heddle
from heddle.cuda._device import Device, get_device_id, name_of
from heddle.cuda._stream import ExternalStream, Stream

_cuda = _heddle._cuda

CUDARuntimeError = _heddle.DeviceError
is_hip = False
streamDefault, streamNonBlocking = 0, 1
streamCaptureModeGlobal, streamCaptureModeThreadLocal, streamCaptureModeRelaxed = 0, 1, 2
cudaErrorNotReady = 600
(cudaMemAdviseSetReadMostly, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation,
 cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseSetAccessedBy,
 cudaMemAdviseUnsetAccessedBy) = range(1, 7)
cudaCpuDeviceId = -1
cudaIpcMemLazyEnablePeerAccess = 1


def getDeviceCount():
    """The number of GPUs that this process can use; 0 without a driver."""
    return _cuda.device_count()


def getDevice():
    """The number of this thread's GPU; -1 if it is the CPU."""
    return get_device_id()


def setDevice(device):
    """Makes a GPU this thread's device. Raises DeviceError if there is no such GPU."""
    Device(device).use()


def deviceSynchronize():
    """Waits for all work on this thread's device."""
    Device().synchronize()


def memGetInfo():
    """Bytes of memory of this thread's device: (free, total)."""
    return Device().mem_info


def driverGetVersion():
    """The newest CUDA version that the driver supports: 12040 for 12.4; 0 without a driver."""
    return _cuda.driver_version()


runtimeGetVersion = driverGetVersion


def deviceCanAccessPeer(device, peerDevice):
    """1 if kernels of the one GPU can read the memory of the other, else 0."""
    return int(_cuda.can_access_peer(f"cuda:{Device(device).id}", f"cuda:{Device(peerDevice).id}"))


def deviceEnablePeerAccess(peerDevice):
    """Lets kernels of this thread's GPU use the memory of another one. Copies between GPUs do this
    themselves. Calling it again has no effect. Raises DeviceError if they cannot."""
    if not Device().enable_peer_access(peerDevice):
        raise CUDARuntimeError(
            f"deviceEnablePeerAccess: {Device()!r} cannot use the memory of {Device(peerDevice)!r}; "
            "copies between them go through the host")


def deviceDisablePeerAccess(peerDevice):
    """Undoes deviceEnablePeerAccess. No work that uses the access may be pending."""
    Device().disable_peer_access(peerDevice)


def deviceGetPCIBusId(device):
    """A GPU's PCI bus id."""
    return Device(device).pci_bus_id


def deviceGetByPCIBusId(pciBusId):
    """The number of the GPU at a PCI bus id. Raises DeviceError if there is none."""
    return Device.from_pci_bus_id(pciBusId).id


def _streams_of(handle):
    """0 stands for CUDA's legacy default stream, and for the one on which this thread's work runs
    by default."""
    return [ExternalStream(handle)] if handle else [Stream.null, ExternalStream(0)]


def streamSynchronize(stream):
    """Waits for the work of the stream with this handle. 0 is also this thread's Stream.null."""
    for each in _streams_of(stream):
        each.synchronize()


def streamQuery(stream):
    """0 if the stream with this handle has nothing to do, else cudaErrorNotReady. 0 is also this
    thread's Stream.null."""
    return 0 if all(each.done for each in _streams_of(stream)) else cudaErrorNotReady


def streamWaitEvent(stream, event, flags=0):
    """Work enqueued from now on on the stream with this handle waits for an event, by its handle. 0 is
    this thread's Stream.null."""
    native = (ExternalStream(stream) if stream else Stream.null)._native
    _cuda.wait_for_event(native, event)


def eventRecord(event, stream):
    """Records an event, by its handle, on the stream with this handle. 0 is this thread's
    Stream.null."""
    _cuda.record_event(event, (ExternalStream(stream) if stream else Stream.null)._native)


def eventSynchronize(event):
    """Waits for an event of this thread's GPU, by its handle."""
    _cuda.synchronize_event(_device(), event)


def eventQuery(event):
    """0 if an event of this thread's GPU, by its handle, is done, else cudaErrorNotReady."""
    return 0 if _cuda.event_done(_device(), event) else cudaErrorNotReady


def eventDestroy(event):
    """Destroys an event that ipcOpenEventHandle has opened."""
    _cuda.destroy_event(_device(), event)


def memGetAddressRange(devPtr):
    """What the driver gave as one, and an address lies in: (base, size). `devPtr - base` is the offset
    that another process adds to what ipcOpenMemHandle returns. (CUDA has it in its driver API.)"""
    return _cuda.allocation_at(_device(), devPtr)


def ipcGetMemHandle(devPtr):
    """64 bytes, with which another process opens the memory that an address lies in: all that the
    driver gave as one, see memGetAddressRange. heddle.cuda.share_memory does both for an Array.

    Raises DeviceError for memory without a handle: managed memory, memory of the driver's pool,
    memory of another process; and on the CPU.
    """
    return _cuda.memory_handle(_device(), devPtr)


def ipcOpenMemHandle(handle, flags=cudaIpcMemLazyEnablePeerAccess):
    """The address of another process's memory, on this thread's GPU. Opening it again gives the same
    address; each needs an ipcCloseMemHandle.

    Raises DeviceError if the memory is gone, or this process made the handle.
    """
    if flags != cudaIpcMemLazyEnablePeerAccess:
        raise ValueError("ipcOpenMemHandle: flags must be cudaIpcMemLazyEnablePeerAccess")
    return _cuda.open_memory(_device(), bytes(handle))


def ipcCloseMemHandle(devPtr):
    """Closes memory that ipcOpenMemHandle has opened. No work that uses it may be pending."""
    _cuda.close_memory(_device(), devPtr)


def ipcGetEventHandle(event):
    """64 bytes, with which another process opens an event, given by its handle: `Event.ptr` of one
    made with interprocess=True and disable_timing=True."""
    return _cuda.event_handle(_device(), event)


def ipcOpenEventHandle(handle):
    """The handle of another process's event, on this thread's GPU, for streamWaitEvent and others.
    eventDestroy closes it. heddle.cuda.Event.from_ipc_handle gives an Event.

    Raises DeviceError if that process has ended, or is this one.
    """
    return _cuda.open_event(_device(), bytes(handle))


def _device():
    """The name of this thread's device."""
    return name_of(get_device_id())


def profilerStart():
    """Starts the recording of a profiler that waits for it."""
    _cuda.set_profiling(True)


def profilerStop():
    """Stops the recording of a profiler that was started here."""
    _cuda.set_profiling(False)


# cudaDeviceProp's fields, and the attributes that have them.
_PROPERTIES = {
    "ECCEnabled": "EccEnabled", "asyncEngineCount": "AsyncEngineCount",
    "canMapHostMemory": "CanMapHostMemory", "clockRate": "ClockRate", "computeMode": "ComputeMode",
    "concurrentKernels": "ConcurrentKernels", "concurrentManagedAccess": "ConcurrentManagedAccess",
    "cooperativeLaunch": "CooperativeLaunch", "deviceOverlap": "GpuOverlap",
    "globalL1CacheSupported": "GlobalL1CacheSupported",
    "hostNativeAtomicSupported": "HostNativeAtomicSupported", "integrated": "Integrated",
    "isMultiGpuBoard": "IsMultiGpuBoard", "kernelExecTimeoutEnabled": "KernelExecTimeout",
    "l2CacheSize": "L2CacheSize", "localL1CacheSupported": "LocalL1CacheSupported",
    "major": "ComputeCapabilityMajor", "managedMemory": "ManagedMemory",
    "maxBlocksPerMultiProcessor": "MaxBlocksPerMultiprocessor",
    "maxThreadsPerBlock": "MaxThreadsPerBlock",
    "maxThreadsPerMultiProcessor": "MaxThreadsPerMultiProcessor", "memPitch": "MaxPitch",
    "memoryBusWidth": "GlobalMemoryBusWidth", "memoryClockRate": "MemoryClockRate",
    "minor": "ComputeCapabilityMinor", "multiGpuBoardGroupID": "MultiGpuBoardGroupID",
    "multiProcessorCount": "MultiProcessorCount", "pageableMemoryAccess": "PageableMemoryAccess",
    "pciBusID": "PciBusId", "pciDeviceID": "PciDeviceId", "pciDomainID": "PciDomainId",
    "persistingL2CacheMaxSize": "MaxPersistingL2CacheSize", "regsPerBlock": "MaxRegistersPerBlock",
    "regsPerMultiprocessor": "MaxRegistersPerMultiprocessor",
    "reservedSharedMemPerBlock": "ReservedSharedMemoryPerBlock",
    "sharedMemPerBlock": "MaxSharedMemoryPerBlock",
    "sharedMemPerBlockOptin": "MaxSharedMemoryPerBlockOptin",
    "sharedMemPerMultiprocessor": "MaxSharedMemoryPerMultiprocessor",
    "singleToDoublePrecisionPerfRatio": "SingleToDoublePrecisionPerfRatio",
    "streamPrioritiesSupported": "StreamPrioritiesSupported", "surfaceAlignment": "SurfaceAlignment",
    "tccDriver": "TccDriver", "textureAlignment": "TextureAlignment",
    "texturePitchAlignment": "TexturePitchAlignment", "totalConstMem": "TotalConstantMemory",
    "unifiedAddressing": "UnifiedAddressing", "warpSize": "WarpSize"}


def getDeviceProperties(device):
    """What the driver says of a GPU: a dict by the names of cudaDeviceProp's fields. `name` is
    bytes, as in CuPy. Raises DeviceError if there is no such GPU."""
    gpu = Device(device)
    attributes = gpu.attributes
    found = {name: attributes[attribute] for name, attribute in _PROPERTIES.items()
             if attribute in attributes}
    found["name"] = _cuda.properties(f"cuda:{gpu.id}")["name"].encode()
    found["totalGlobalMem"] = gpu.mem_info[1]
    for name, attribute in {"maxThreadsDim": "MaxBlockDim", "maxGridSize": "MaxGridDim"}.items():
        found[name] = tuple(attributes.get(attribute + axis, 0) for axis in "XYZ")
    return found
