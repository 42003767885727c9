#pragma once

#include <array>
#include <cstddef>

#include "runtime/device/handles.h"

namespace heddle::runtime {

/// Bytes that name memory or an event in other processes of the machine.
using IpcHandle = std::array<char, 64>;

/// What a block of memory belongs to: the memory that the driver gave as one.
struct Allocation {
  void* base = nullptr;
  std::size_t bytes = 0;
};

/// Memory and events that several processes use. Calls throw DeviceError.
class ProcessSharing {
 public:
  virtual ~ProcessSharing() = default;

  /// The allocation that an address lies in.
  virtual Allocation allocation_at(int ordinal, const void* pointer) const = 0;
  /// A handle for the whole allocation that an address lies in.
  virtual IpcHandle memory_handle(int ordinal, const void* pointer) const = 0;
  /// The start of another process's allocation. Opening one again gives the same address; each
  /// needs a close_memory().
  virtual void* open_memory(int ordinal, const IpcHandle& handle) const = 0;
  virtual void close_memory(int ordinal, void* base) const = 0;
  /// For an event made with EventKind::interprocess.
  virtual IpcHandle event_handle(EventHandle event) const = 0;
  /// An event of another process. The device has been entered. Backend::destroy() closes it.
  virtual EventHandle open_event(const IpcHandle& handle) const = 0;
};

}  // namespace heddle::runtime
