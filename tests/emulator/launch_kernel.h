#pragma once

#include <span>
#include <vector>

#include "tests/emulator/emulator.h"

namespace heddle::emulator {

/// The whole of a vector as a parameter that the kernel reads, writes whole, or both.
template <class T>
Argument read(const std::vector<T>& memory) {
  return Argument::read(memory.data(), memory.size() * sizeof(T));
}
template <class T>
Argument write(std::vector<T>& memory) {
  return Argument::write(memory.data(), memory.size() * sizeof(T));
}
template <class T>
Argument read_write(std::vector<T>& memory) {
  return Argument::read_write(memory.data(), memory.size() * sizeof(T));
}

inline std::uint32_t blocks_for(std::int64_t elements, std::int64_t per_block) {
  return static_cast<std::uint32_t>((elements + per_block - 1) / per_block);
}

template <class... A>
LaunchTraffic launch(EmulatedModule& module, std::string_view kernel, const LaunchShape& shape,
                     A... arguments) {
  const Argument all[] = {arguments...};
  return module.launch(kernel, shape, all);
}

}  // namespace heddle::emulator
