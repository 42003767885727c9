#pragma once

#include <cstdint>

/// What a test asks of the fake driver, which answers through its own entry heddle_fake_control().
struct FakeControl {
  /// Calls of a function of the interface since this was first asked for.
  std::uint64_t (*calls)(const char* function);
  /// The function fails once with this error, at its `after`-th call from now, counting from 0.
  void (*fail)(const char* function, int error, int after);
  /// True when the failure that was asked for last has happened.
  bool (*failed)();
  std::uint64_t (*live_graphs)();       ///< graphs not destroyed
  std::uint64_t (*live_executables)();  ///< executable graphs not destroyed
};

/// Kernels of a module whose bytes begin with this are those that modules.cpp knows by name. Of all
/// other modules every kernel is there, and does nothing.
inline constexpr const char fake_module[] = "kernels of the fake driver";
