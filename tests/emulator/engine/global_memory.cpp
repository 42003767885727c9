#include "tests/emulator/engine/global_memory.h"

#include <algorithm>
#include <bit>
#include <new>
#include <numeric>

#include <fmt/format.h>

namespace heddle::emulator {

using heddle_emulator::GlobalBuffer;
using heddle_emulator::GlobalStamp;
using heddle_emulator::ParameterInfo;

namespace {

constexpr int poison = 0xCD;
constexpr int largest_vector = 16;

/// Keeps the real address's alignment, and room on both sides for indices out of range.
std::uint64_t visible_address(std::size_t number, const void* memory) {
  return (std::uint64_t{number + 1} << heddle_emulator::address_bits) +
         (std::uint64_t{1} << (heddle_emulator::address_bits - 1)) +
         reinterpret_cast<std::uintptr_t>(memory) % 4096;
}

bool overlap(const GlobalBuffer& a, const GlobalBuffer& b) {
  return a.bytes > 0 && b.bytes > 0 && a.memory < b.memory + b.bytes &&
         b.memory < a.memory + a.bytes;
}

}  // namespace

GlobalMemory::GlobalMemory(const heddle_emulator::KernelEntry& kernel,
                           std::span<const Argument> arguments)
    : kernel_(kernel), storage_(arguments.size()) {
  if (arguments.size() != static_cast<std::size_t>(kernel.parameter_count)) {
    throw EmulationError(fmt::format("kernel '{}' has {} parameters, {} arguments are given",
                                     kernel.name, kernel.parameter_count, arguments.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    const ParameterInfo& parameter = kernel.parameters[i];
    const bool pointer = parameter.element_bytes != 0;
    if (pointer != (argument.access_ != Argument::Access::value)) {
      throw EmulationError(fmt::format("kernel '{}', parameter {}: {} is given for {}", kernel.name,
                                       i, pointer ? "a value" : "a buffer",
                                       pointer ? "a pointer" : "a value"));
    }
    if (!pointer && argument.bytes_ != static_cast<std::size_t>(parameter.bytes)) {
      throw EmulationError(
          fmt::format("kernel '{}', parameter {}: a value of {} bytes is given for "
                      "one of {}",
                      kernel.name, i, argument.bytes_, parameter.bytes));
    }
    for (const Argument& each : argument.table_) storage_[i].push_back(value_of(each, 1));
    if (argument.table_.empty()) storage_[i].push_back(value_of(argument, parameter.element_bytes));
    values_.push_back(storage_[i].data());
  }
  add_stamps();
}

GlobalMemory::Value GlobalMemory::value_of(const Argument& argument, int element_bytes) {
  if (argument.access_ == Argument::Access::value) return argument.value_;
  add_buffer(argument, element_bytes);
  Value value{};
  std::memcpy(value.data(), &buffers_.back().base, sizeof(std::uint64_t));
  return value;
}

void GlobalMemory::add_buffer(const Argument& argument, int element_bytes) {
  GlobalBuffer buffer{};
  buffer.base = visible_address(buffers_.size(), argument.memory_);
  buffer.memory = static_cast<unsigned char*>(argument.memory_);
  buffer.bytes = static_cast<long long>(argument.bytes_);
  buffer.writable = argument.access_ != Argument::Access::read;
  if (argument.access_ == Argument::Access::write) {
    buffer.undefined = true;
    if (buffer.bytes > 0) std::memset(buffer.memory, poison, argument.bytes_);
  } else if (argument.defined_ != nullptr) {
    buffer.undefined = std::memchr(argument.defined_, 0, argument.bytes_) != nullptr;
  }
  buffers_.push_back(buffer);
  element_bytes_.push_back(element_bytes);
  defined_.push_back(argument.defined_);
}

/// Buffers that share memory share stamps, so that a race between two parameters is seen.
void GlobalMemory::add_stamps() {
  std::vector<bool> placed(buffers_.size(), false);
  for (std::size_t first = 0; first < buffers_.size(); ++first) {
    if (placed[first] || buffers_[first].bytes == 0) continue;
    std::vector<std::size_t> group = {first};
    placed[first] = true;
    for (std::size_t at = 0; at < group.size(); ++at) {
      for (std::size_t other = 0; other < buffers_.size(); ++other) {
        if (placed[other] || !overlap(buffers_[group[at]], buffers_[other])) continue;
        placed[other] = true;
        group.push_back(other);
      }
    }
    const bool needed = std::ranges::any_of(
        group, [&](std::size_t i) { return buffers_[i].writable || buffers_[i].undefined; });
    if (needed) stamp_group(group);
  }
}

void GlobalMemory::stamp_group(std::span<const std::size_t> group) {
  unsigned char* begin = buffers_[group[0]].memory;
  unsigned char* end = begin;
  for (std::size_t i : group) {
    begin = std::min(begin, buffers_[i].memory);
    end = std::max(end, buffers_[i].memory + buffers_[i].bytes);
  }
  std::uint64_t granularity = largest_vector;
  for (std::size_t i : group) {
    granularity |= static_cast<std::uint64_t>(element_bytes_[i]) |
                   static_cast<std::uint64_t>(buffers_[i].memory - begin);
  }
  const int shift = std::countr_zero(granularity);
  const std::size_t count = (static_cast<std::size_t>(end - begin) >> shift) + 1;
  Stamps stamps(static_cast<GlobalStamp*>(std::calloc(count, sizeof(GlobalStamp))));
  if (stamps == nullptr) throw std::bad_alloc();
  for (std::size_t i : group) {
    GlobalBuffer& buffer = buffers_[i];
    buffer.stamps = stamps.get() + ((buffer.memory - begin) >> shift);
    buffer.stamp_shift = shift;
    if (!buffer.undefined || defined_[i] == nullptr) continue;
    for (long long offset = 0; offset < buffer.bytes; offset += 1LL << shift) {
      if (defined_[i][offset] == 0) continue;
      buffer.stamps[offset >> shift].writer = heddle_emulator::written_before_launch;
    }
  }
  stamps_.push_back(std::move(stamps));
}

void GlobalMemory::finish() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const GlobalBuffer& buffer = buffers_[i];
    if (!buffer.undefined || buffer.bytes == 0) continue;
    if (defined_[i] == nullptr) {
      check_written(i);
      continue;
    }
    const long long step = 1LL << buffer.stamp_shift;
    for (long long offset = 0; offset < buffer.bytes; offset += step) {
      if (buffer.stamps[offset >> buffer.stamp_shift].writer == 0) continue;
      std::memset(defined_[i] + offset, 1,
                  static_cast<std::size_t>(std::min(step, buffer.bytes - offset)));
    }
  }
}

void GlobalMemory::check_written(std::size_t i) const {
  const GlobalBuffer& buffer = buffers_[i];
  for (long long offset = 0; offset < buffer.bytes; offset += 1LL << buffer.stamp_shift) {
    if (buffer.stamps[offset >> buffer.stamp_shift].writer != 0) continue;
    throw EmulationError(fmt::format(
        "kernel '{}' never wrote element {} of pointer parameter {}, which has {} elements of {} "
        "bytes",
        kernel_.name, offset / element_bytes_[i], i, buffer.bytes / element_bytes_[i],
        element_bytes_[i]));
  }
}

LaunchTraffic GlobalMemory::traffic() const {
  LaunchTraffic result;
  for (const GlobalBuffer& buffer : buffers_) {
    result.loaded.push_back(buffer.loaded_bytes);
    result.stored.push_back(buffer.stored_bytes);
  }
  return result;
}

}  // namespace heddle::emulator
