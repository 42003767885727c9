#include "runtime/device.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/fork_gate.h"
#include "runtime/host_cpu.h"
#include "runtime/thread_pool.h"

namespace heddle::runtime {

namespace {

struct CudaDevice {
  cuda::DeviceHandle handle = 0;
  cuda::ContextHandle context = nullptr;
  ir::Target target;
  DeviceFacts facts;
  std::once_flag retained, detected;
};

/// One for each GPU, made when first asked for and kept for ever.
std::vector<std::unique_ptr<CudaDevice>>& cuda_devices() {
  static constinit ir::Lasting<std::vector<std::unique_ptr<CudaDevice>>> instance;
  return instance.get([] {
    std::vector<std::unique_ptr<CudaDevice>> made;
    const int count = device_count(DeviceKind::cuda);
    for (int i = 0; i < count; ++i) {
      made.push_back(std::make_unique<CudaDevice>());
      cuda::driver().device_get(&made.back()->handle, i);
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

int attribute(cuda::DeviceHandle handle, cuda::DeviceAttribute which) {
  int value = 0;
  cuda::driver().device_get_attribute(&value, which, handle);
  return value;
}

ir::Target detect_target(cuda::DeviceHandle handle) {
  using enum cuda::DeviceAttribute;
  ir::Target out;
  out.kind = ir::TargetKind::cuda;
  out.architecture = fmt::format("sm_{}{}", attribute(handle, compute_capability_major),
                                 attribute(handle, compute_capability_minor));
  out.multiprocessors = attribute(handle, multiprocessor_count);
  out.shared_bytes_per_block = attribute(handle, max_shared_memory_per_block_optin);
  out.registers_per_block = attribute(handle, max_registers_per_block);
  out.max_threads_per_block = attribute(handle, max_threads_per_block);
  // A driver that knows no clusters refuses the attribute.
  int clusters = 0;
  cuda::driver().device_get_attribute.attempt(&clusters, cluster_launch, handle);
  const bool has_clusters = clusters != 0 && cuda::driver().launch_kernel_ex;
  // 8 is what every such GPU has; these two have 16 where a kernel asks for it.
  const bool has_large = out.architecture == "sm_90" || out.architecture == "sm_100";
  out.max_cluster = !has_clusters ? 1 : has_large ? 16 : 8;
  out.l2_bytes = attribute(handle, l2_cache_size);
  out.vector_bytes = 16;
  return out;
}

DeviceFacts detect_facts(cuda::DeviceHandle handle) {
  using enum cuda::DeviceAttribute;
  DeviceFacts out;
  std::array<char, 256> name{};
  cuda::driver().device_get_name(name.data(), static_cast<int>(name.size()) - 1, handle);
  out.name = name.data();
  cuda::driver().device_total_mem(&out.total_bytes, handle);
  out.multiprocessors = attribute(handle, multiprocessor_count);
  out.threads_per_multiprocessor = attribute(handle, max_threads_per_multiprocessor);
  out.shared_bytes_per_multiprocessor = attribute(handle, max_shared_memory_per_multiprocessor);
  int kilohertz = 0, bits = 0;
  cuda::driver().device_get_attribute.attempt(&kilohertz, memory_clock_rate, handle);
  cuda::driver().device_get_attribute.attempt(&bits, global_memory_bus_width, handle);
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

Device default_device() {
  static constinit ir::Lasting<Device> chosen;
  return chosen.get([] {
    const char* named = std::getenv("HEDDLE_DEVICE");
    if (named != nullptr && *named != '\0') {
      const Device device = parse_device(named);
      require_device(device);
      return device;
    }
    return device_count(DeviceKind::cuda) > 0 ? Device{DeviceKind::cuda, 0} : Device{};
  });
}

thread_local std::optional<Device> thread_device;

}  // namespace

std::string to_string(Device device) {
  return device.is_cuda() ? fmt::format("cuda:{}", device.ordinal) : "cpu";
}

Device parse_device(std::string_view text) {
  if (text == "cpu") return {};
  if (text == "cuda") return {DeviceKind::cuda, 0};
  constexpr std::string_view prefix = "cuda:";
  if (text.starts_with(prefix)) {
    const std::string_view digits = text.substr(prefix.size());
    int ordinal = -1;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
    if (error == std::errc() && end == digits.data() + digits.size() && ordinal >= 0) {
      return {DeviceKind::cuda, ordinal};
    }
  }
  throw ValueError(fmt::format(
      "'{}' names no device: write 'cpu', 'cuda' or 'cuda:N', for instance 'cuda:0'", text));
}

int device_count(DeviceKind kind) {
  if (kind == DeviceKind::cpu) return 1;
  static constinit ir::Lasting<int> count;
  return count.get([] {
    int found = 0;
    if (cuda::available()) cuda::driver().device_get_count(&found);
    return found;
  });
}

void require_device(Device device) {
  const int count = device_count(device.kind);
  if (device.ordinal >= 0 && device.ordinal < count) return;
  if (device.is_cuda() && count == 0) {
    throw DeviceError(
        fmt::format("there is no device {}: {}", to_string(device), cuda::unavailable_reason()));
  }
  throw DeviceError(
      fmt::format("there is no device {}: this process sees {} GPU{} (see "
                  "CUDA_VISIBLE_DEVICES) and the CPU",
                  to_string(device), count, count == 1 ? "" : "s"));
}

Device current_device() { return thread_device ? *thread_device : default_device(); }

void set_current_device(Device device) {
  require_device(device);
  thread_device = device;
}

DeviceScope::~DeviceScope() { thread_device = before_; }

const ir::Target& target_of(Device device) {
  return device.is_cuda() ? detected(device.ordinal).target : host_target();
}

const DeviceFacts& facts_of(Device device) {
  if (device.is_cuda()) return detected(device.ordinal).facts;
  static constinit ir::Lasting<DeviceFacts> host;
  return host.get([] {
    DeviceFacts made;
    made.name = host_cpu_name();
    made.total_bytes = host_memory_bytes();
    made.multiprocessors = thread_count();
    return made;
  });
}

const ir::Target& host_target() {
  static constinit ir::Lasting<ir::Target> target;
  return target.get([] { return ir::nearest_built_in(detect_host_target()); });
}

namespace cuda {

ContextHandle primary_context(int ordinal) {
  CudaDevice& device = cuda_device(ordinal);
  std::call_once(device.retained,
                 [&] { driver().device_primary_ctx_retain(&device.context, device.handle); });
  return device.context;
}

ContextScope::ContextScope(int ordinal) {
  const ContextHandle wanted = primary_context(ordinal);
  ContextHandle current = nullptr;
  driver().ctx_get_current(&current);
  if (current == wanted) return;
  driver().ctx_push_current(wanted);
  pushed_ = current != nullptr || ordinal != 0;
}

ContextScope::~ContextScope() {
  if (!pushed_ || unusable()) return;
  ContextHandle popped = nullptr;
  driver().ctx_pop_current.attempt(&popped);
}

}  // namespace cuda

}  // namespace heddle::runtime
