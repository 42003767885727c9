#include "runtime/cuda/device_details.h"

#include <array>

#include <fmt/format.h>

#include "runtime/cuda/devices.h"

namespace heddle::runtime::cuda {

namespace {

struct NamedAttribute {
  int number;
  const char* name;  ///< of cudaDeviceAttr, without the prefix
};
constexpr NamedAttribute attributes[] = {
    {1, "MaxThreadsPerBlock"},
    {2, "MaxBlockDimX"},
    {3, "MaxBlockDimY"},
    {4, "MaxBlockDimZ"},
    {5, "MaxGridDimX"},
    {6, "MaxGridDimY"},
    {7, "MaxGridDimZ"},
    {8, "MaxSharedMemoryPerBlock"},
    {9, "TotalConstantMemory"},
    {10, "WarpSize"},
    {11, "MaxPitch"},
    {12, "MaxRegistersPerBlock"},
    {13, "ClockRate"},
    {14, "TextureAlignment"},
    {15, "GpuOverlap"},
    {16, "MultiProcessorCount"},
    {17, "KernelExecTimeout"},
    {18, "Integrated"},
    {19, "CanMapHostMemory"},
    {20, "ComputeMode"},
    {21, "MaxTexture1DWidth"},
    {22, "MaxTexture2DWidth"},
    {23, "MaxTexture2DHeight"},
    {24, "MaxTexture3DWidth"},
    {25, "MaxTexture3DHeight"},
    {26, "MaxTexture3DDepth"},
    {27, "MaxTexture2DLayeredWidth"},
    {28, "MaxTexture2DLayeredHeight"},
    {29, "MaxTexture2DLayeredLayers"},
    {30, "SurfaceAlignment"},
    {31, "ConcurrentKernels"},
    {32, "EccEnabled"},
    {33, "PciBusId"},
    {34, "PciDeviceId"},
    {35, "TccDriver"},
    {36, "MemoryClockRate"},
    {37, "GlobalMemoryBusWidth"},
    {38, "L2CacheSize"},
    {39, "MaxThreadsPerMultiProcessor"},
    {40, "AsyncEngineCount"},
    {41, "UnifiedAddressing"},
    {50, "PciDomainId"},
    {51, "TexturePitchAlignment"},
    {75, "ComputeCapabilityMajor"},
    {76, "ComputeCapabilityMinor"},
    {78, "StreamPrioritiesSupported"},
    {79, "GlobalL1CacheSupported"},
    {80, "LocalL1CacheSupported"},
    {81, "MaxSharedMemoryPerMultiprocessor"},
    {82, "MaxRegistersPerMultiprocessor"},
    {83, "ManagedMemory"},
    {84, "IsMultiGpuBoard"},
    {85, "MultiGpuBoardGroupID"},
    {86, "HostNativeAtomicSupported"},
    {87, "SingleToDoublePrecisionPerfRatio"},
    {88, "PageableMemoryAccess"},
    {89, "ConcurrentManagedAccess"},
    {90, "ComputePreemptionSupported"},
    {91, "CanUseHostPointerForRegisteredMem"},
    {95, "CooperativeLaunch"},
    {97, "MaxSharedMemoryPerBlockOptin"},
    {98, "CanFlushRemoteWrites"},
    {99, "HostRegisterSupported"},
    {100, "PageableMemoryAccessUsesHostPageTables"},
    {101, "DirectManagedMemAccessFromHost"},
    {106, "MaxBlocksPerMultiprocessor"},
    {108, "MaxPersistingL2CacheSize"},
    {109, "MaxAccessPolicyWindowSize"},
    {111, "ReservedSharedMemoryPerBlock"},
    {115, "MemoryPoolsSupported"},
    {116, "GPUDirectRDMASupported"},
    {120, "ClusterLaunch"},
    {125, "IpcEventSupport"},
    {130, "NumaConfig"},
    {131, "NumaId"},
    {133, "MpsEnabled"},
    {134, "HostNumaId"},
};

DeviceHandle handle_of(int ordinal) {
  DeviceHandle handle = 0;
  driver().device_get(&handle, ordinal);
  return handle;
}

constexpr std::size_t text_length = 256;
using Text = std::array<char, text_length>;

}  // namespace

DeviceDetails details_of(int ordinal) {
  const DeviceHandle handle = handle_of(ordinal);
  DeviceDetails details;
  Text text{};
  constexpr int room = static_cast<int>(text_length) - 1;
  driver().device_get_name(text.data(), room, handle);
  details.name = text.data();
  text = {};
  driver().device_get_pci_bus_id(text.data(), room, handle);
  details.pci_bus_id = text.data();
  int major = 0, minor = 0;
  driver().device_get_attribute(&major, DeviceAttribute::compute_capability_major, handle);
  driver().device_get_attribute(&minor, DeviceAttribute::compute_capability_minor, handle);
  details.compute_capability = fmt::format("{}{}", major, minor);
  for (const NamedAttribute& each : attributes) {
    int value = 0;
    const auto attribute = static_cast<DeviceAttribute>(each.number);
    // An older driver does not know them all.
    if (driver().device_get_attribute.attempt(&value, attribute, handle) == Result::success)
      details.attributes.emplace_back(each.name, value);
  }
  return details;
}

DeviceMemory memory_of(int ordinal) {
  DeviceMemory memory;
  const ContextScope context(ordinal);
  driver().mem_get_info(&memory.free, &memory.total);
  return memory;
}

std::optional<int> at_bus_id(const std::string& id) {
  DeviceHandle wanted = 0;
  if (!available() ||
      driver().device_get_by_pci_bus_id.attempt(&wanted, id.c_str()) != Result::success)
    return std::nullopt;
  for (int ordinal = 0; ordinal < device_count(); ++ordinal) {
    if (handle_of(ordinal) == wanted) return ordinal;
  }
  return std::nullopt;
}

}  // namespace heddle::runtime::cuda
