#include "runtime/cuda/process_sharing.h"

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/cuda/devices.h"
#include "runtime/cuda/driver.h"

namespace heddle::runtime::cuda {

namespace {

DevicePointer address(const void* pointer) { return reinterpret_cast<DevicePointer>(pointer); }

/// What the driver says of memory without a handle, and of handles that name nothing here.
bool is_refusal(Result result) {
  return result == Result::invalid_value || result == Result::invalid_handle ||
         result == Result::map_failed || result == Result::not_supported;
}

[[noreturn]] void refuse_to_open(const char* what) {
  throw DeviceError(fmt::format(
      "the {} of the handle cannot be opened here: the process that made the handle has freed it "
      "or ended, or is this process, or the handle is damaged",
      what));
}

class CudaSharing final : public ProcessSharing {
 public:
  Allocation allocation_at(int ordinal, const void* pointer) const override {
    const ContextScope context(ordinal);
    DevicePointer base = 0;
    std::size_t bytes = 0;
    driver().mem_get_address_range(&base, &bytes, address(pointer));
    return {reinterpret_cast<void*>(base), bytes};
  }

  IpcHandle memory_handle(int ordinal, const void* pointer) const override {
    const ContextScope context(ordinal);
    IpcBytes handle;
    const Result result = driver().ipc_get_mem_handle.attempt(&handle, address(pointer));
    if (is_refusal(result)) {
      throw DeviceError(fmt::format(
          "the memory at {} has no handle for other processes. Memory of Heddle's own pool has "
          "one, and of MemoryPool(); managed memory, memory of the driver's pool (malloc_async) "
          "and memory of another process have none. Copy the array while an allocator with "
          "handles is set",
          pointer));
    }
    check(result, "cuIpcGetMemHandle", ordinal);
    return handle.bytes;
  }

  void* open_memory(int ordinal, const IpcHandle& handle) const override {
    const ContextScope context(ordinal);
    DevicePointer base = 0;
    const Result result =
        driver().ipc_open_mem_handle.attempt(&base, {handle}, ipc_lazy_enable_peer_access);
    if (is_refusal(result) || result == Result::invalid_context) refuse_to_open("memory");
    check(result, "cuIpcOpenMemHandle_v2", ordinal);
    return reinterpret_cast<void*>(base);
  }

  void close_memory(int ordinal, void* base) const override {
    const ContextScope context(ordinal);
    driver().ipc_close_mem_handle(address(base));
  }

  IpcHandle event_handle(EventHandle event) const override {
    IpcBytes handle;
    driver().ipc_get_event_handle(&handle, event);
    return handle.bytes;
  }

  EventHandle open_event(const IpcHandle& handle) const override {
    EventHandle event = nullptr;
    const Result result = driver().ipc_open_event_handle.attempt(&event, {handle});
    if (is_refusal(result) || result == Result::invalid_context) refuse_to_open("event");
    check(result, "cuIpcOpenEventHandle");
    return event;
  }
};

}  // namespace

const ProcessSharing& process_sharing() {
  static const CudaSharing& instance = *new CudaSharing;
  return instance;
}

}  // namespace heddle::runtime::cuda
