#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "heddle/error.h"

#include "codegen/common/kernel_source.h"

namespace heddle::emulator {

/// A kernel did what it must not: what() names the kernel, the place in its text, the thread and
/// block, and the access or barrier.
class EmulationError : public Error {
 public:
  using Error::Error;
};

/// One kernel parameter: a buffer with its extent, or a value.
class Argument {
 public:
  /// Memory that the kernel only reads.
  static Argument read(const void* memory, std::size_t bytes) {
    return Argument(const_cast<void*>(memory), bytes, Access::read);
  }
  /// Memory that the kernel writes whole: filled with 0xCD before; a read of an element before its
  /// write, and an element not written at the end, are faults.
  static Argument write(void* memory, std::size_t bytes) {
    return Argument(memory, bytes, Access::write);
  }
  /// Memory that the kernel may read and write as it likes.
  static Argument read_write(void* memory, std::size_t bytes) {
    return Argument(memory, bytes, Access::read_write);
  }
  /// Memory of which `defined`, one flag a byte, says what has been written so far; the launch adds
  /// what it writes, and a read of anything else is a fault. The kernel may store where `writable`.
  static Argument tracked(void* memory, std::span<std::uint8_t> defined, bool writable) {
    Argument result(memory, defined.size(), writable ? Access::read_write : Access::read);
    result.defined_ = defined.data();
    return result;
  }
  /// A parameter passed by value, of exactly the kernel's type.
  template <class T>
  static Argument scalar(T value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    return scalar(&value, sizeof(T));
  }
  static Argument scalar(const void* value, std::size_t bytes);
  /// A table of launches (codegen/device/launch_table.h), by rows.
  static Argument table(std::vector<Argument> values) {
    Argument result(nullptr, values.size() * sizeof(value_), Access::value);
    result.table_ = std::move(values);
    return result;
  }

 private:
  friend class EmulatedModule;
  friend class GlobalMemory;
  enum class Access : std::uint8_t { value, read, write, read_write };
  Argument(void* memory, std::size_t bytes, Access access)
      : access_(access), memory_(memory), bytes_(bytes) {}

  Access access_;
  void* memory_;
  std::size_t bytes_;
  std::uint8_t* defined_ = nullptr;
  std::array<std::byte, 16> value_{};
  std::vector<Argument> table_;
};

struct LaunchShape {
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  std::uint32_t cluster = 1;  ///< blocks a cluster, along x
  /// Blocks run in a random order of this seed instead of the first to the last.
  std::optional<std::uint64_t> shuffle_seed = std::nullopt;
};

/// Bytes that a launch moved, for each pointer parameter in order.
struct LaunchTraffic {
  std::vector<std::int64_t> loaded, stored;
};

/// A batch of kernels, compiled by the host's compiler from the very text that NVRTC gets, with the
/// sections that hold intrinsics replaced by their twins in tests/emulator/device/.
class EmulatedModule {
 public:
  /// Names must differ. Throws CompileError with the compiler's log.
  static EmulatedModule compile(std::span<const codegen::KernelSource> kernels);

  EmulatedModule(EmulatedModule&&) noexcept;
  EmulatedModule& operator=(EmulatedModule&&) noexcept;
  ~EmulatedModule();

  /// Runs a kernel to its end. Throws EmulationError for whatever the kernel or the launch does
  /// wrong; the module can be used again after. Launches from several threads queue.
  LaunchTraffic launch(std::string_view kernel, const LaunchShape& shape,
                       std::span<const Argument> arguments);

 private:
  struct Implementation;
  explicit EmulatedModule(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace heddle::emulator
