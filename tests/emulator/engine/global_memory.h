#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/emulator/device/machine.h"
#include "tests/emulator/emulator.h"

namespace heddle::emulator {

/// The buffers of one launch: at which addresses the kernel sees them, and who touched what.
class GlobalMemory {
 public:
  /// Fills buffers that are to be written whole. Throws EmulationError where an argument does not
  /// fit the kernel's parameter.
  GlobalMemory(const heddle_emulator::KernelEntry& kernel, std::span<const Argument> arguments);

  std::span<heddle_emulator::GlobalBuffer> buffers() { return buffers_; }
  /// Where each argument's value lies.
  std::span<void* const> values() const { return values_; }
  /// Notes what was written in buffers that track it. Throws EmulationError for an element of a
  /// buffer to be written whole that was not.
  void finish();
  LaunchTraffic traffic() const;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Stamps = std::unique_ptr<heddle_emulator::GlobalStamp[], Free>;

  using Value = std::array<std::byte, 16>;

  /// The bytes that the kernel gets for an argument. `element_bytes`: the size of an element of a
  /// buffer.
  Value value_of(const Argument& argument, int element_bytes);
  void add_buffer(const Argument& argument, int element_bytes);
  void add_stamps();
  void stamp_group(std::span<const std::size_t> group);
  void check_written(std::size_t buffer) const;

  const heddle_emulator::KernelEntry& kernel_;
  std::vector<heddle_emulator::GlobalBuffer> buffers_;
  std::vector<int> element_bytes_;
  std::vector<std::uint8_t*> defined_;  ///< a flag a byte, or null
  std::vector<Stamps> stamps_;
  std::vector<std::vector<Value>> storage_;
  std::vector<void*> values_;
};

}  // namespace heddle::emulator
