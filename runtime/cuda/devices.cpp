#include "runtime/cuda/devices.h"

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "ir/base/fork_gate.h"

namespace heddle::runtime::cuda {

namespace {

struct CudaDevice {
  DeviceHandle handle = 0;
  ContextHandle context = nullptr;
  ir::Target target;
  DeviceFacts facts;
  std::once_flag retained, detected;
};

/// One for each GPU, created on first use and never destroyed.
std::vector<std::unique_ptr<CudaDevice>>& cuda_devices() {
  static constinit ir::LazyStatic<std::vector<std::unique_ptr<CudaDevice>>> instance;
  return instance.get([] {
    std::vector<std::unique_ptr<CudaDevice>> made;
    const int count = device_count();
    for (int i = 0; i < count; ++i) {
      made.push_back(std::make_unique<CudaDevice>());
      driver().device_get(&made.back()->handle, i);
    }
    return made;
  });
}

CudaDevice& cuda_device(int ordinal) {
  const std::vector<std::unique_ptr<CudaDevice>>& devices = cuda_devices();
  const auto index = static_cast<std::size_t>(ordinal);
  if (index >= devices.size()) require_device({DeviceKind::cuda, ordinal});
  return *devices[index];
}

int attribute(DeviceHandle handle, DeviceAttribute which) {
  int value = 0;
  driver().device_get_attribute(&value, which, handle);
  return value;
}

ir::Target detect_target(DeviceHandle handle) {
  using enum DeviceAttribute;
  ir::Target out;
  out.kind = ir::TargetKind::cuda;
  out.architecture = fmt::format("sm_{}{}", attribute(handle, compute_capability_major),
                                 attribute(handle, compute_capability_minor));
  out.multiprocessors = attribute(handle, multiprocessor_count);
  out.shared_bytes_per_block = attribute(handle, max_shared_memory_per_block_optin);
  out.registers_per_block = attribute(handle, max_registers_per_block);
  out.max_threads_per_block = attribute(handle, max_threads_per_block);
  // A driver without cluster support rejects the attribute.
  int clusters = 0;
  driver().device_get_attribute.attempt(&clusters, cluster_launch, handle);
  const bool has_clusters = clusters != 0 && driver().launch_kernel_ex;
  // All GPUs with clusters support 8 blocks; these two support 16 if a kernel opts in.
  const bool has_large = out.architecture == "sm_90" || out.architecture == "sm_100";
  out.max_cluster = !has_clusters ? 1 : has_large ? 16 : 8;
  out.l2_bytes = attribute(handle, l2_cache_size);
  out.vector_bytes = 16;
  return out;
}

DeviceFacts detect_facts(DeviceHandle handle) {
  using enum DeviceAttribute;
  DeviceFacts out;
  std::array<char, 256> name{};
  driver().device_get_name(name.data(), static_cast<int>(name.size()) - 1, handle);
  out.name = name.data();
  driver().device_total_mem(&out.total_bytes, handle);
  out.multiprocessors = attribute(handle, multiprocessor_count);
  out.threads_per_multiprocessor = attribute(handle, max_threads_per_multiprocessor);
  out.shared_bytes_per_multiprocessor = attribute(handle, max_shared_memory_per_multiprocessor);
  int kilohertz = 0, bits = 0;
  driver().device_get_attribute.attempt(&kilohertz, memory_clock_rate, handle);
  driver().device_get_attribute.attempt(&bits, global_memory_bus_width, handle);
  out.peak_bytes_per_second = 2.0 * kilohertz * 1e3 * bits / 8;
  return out;
}

CudaDevice& detected(int ordinal) {
  CudaDevice& device = cuda_device(ordinal);
  std::call_once(device.detected, [&] {
    device.target = ir::nearest_built_in(detect_target(device.handle));
    device.facts = detect_facts(device.handle);
  });
  return device;
}

}  // namespace

int device_count() {
  static constinit ir::LazyStatic<int> count;
  return count.get([] {
    int found = 0;
    if (available()) driver().device_get_count(&found);
    return found;
  });
}

const ir::Target& target_of(int ordinal) { return detected(ordinal).target; }

const DeviceFacts& facts_of(int ordinal) { return detected(ordinal).facts; }

ContextHandle primary_context(int ordinal) {
  CudaDevice& device = cuda_device(ordinal);
  std::call_once(device.retained,
                 [&] { driver().device_primary_ctx_retain(&device.context, device.handle); });
  return device.context;
}

bool enter_context(int ordinal) {
  const ContextHandle wanted = primary_context(ordinal);
  ContextHandle current = nullptr;
  driver().ctx_get_current(&current);
  if (current == wanted) return false;
  driver().ctx_push_current(wanted);
  return current != nullptr || ordinal != 0;
}

void leave_context() noexcept {
  if (unusable()) return;
  ContextHandle popped = nullptr;
  driver().ctx_pop_current.attempt(&popped);
}

}  // namespace heddle::runtime::cuda
