#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// One kernel launch, fill or library call, as Profile and kernel_history() record it.
struct KernelLaunch {
  /// The kernel's name in dumps, sources, cache entries and debuggers,
  /// "hd_subtract_exp_f32_9c1f2ab0"; for fills and library calls "fill_bytes", "matmul_f32",
  /// "sort_f32".
  std::string kernel;
  std::string program;                ///< the jitted function, or "main"
  std::uint32_t step = 0;             ///< index of the step in the program
  std::string operands;               ///< "f32[8,1024], f32[1024] -> f32[8,1024]"
  std::vector<std::string> lines;     ///< source lines in the user's program, "model.cpp:12"
  std::string device;                 ///< "cpu", "cuda:0"
  std::uint32_t stream = 0;           ///< a number from 1 for each stream of a GPU; 0 on the CPU
  std::int64_t blocks = 0;            ///< in the grid; on the CPU elements of the range; 0 for a
                                      ///< library
  std::uint32_t threads[2] = {0, 0};  ///< of one block, along x and y; 0 on the CPU
  std::uint32_t cluster = 1;          ///< blocks in a cluster
  std::uint32_t shared_bytes = 0;     ///< dynamic shared memory of one block, in bytes
  std::optional<std::int64_t> bytes;  ///< bytes read and written, if known
  /// Recorded into a CUDA graph that the user captures: it runs in that graph and is not timed.
  bool captured = false;
  double start = 0;                    ///< microseconds since the profile or the history began
  std::optional<double> microseconds;  ///< device time in microseconds; nullopt if not timed
};

/// One piece of the library's work, on the host or on a device.
struct ProfileEvent {
  std::string phase;            ///< trace, pass, codegen, compile, load, allocate, launch or kernel
  std::string name;             ///< of the function, pass, kernels, memory block, program or kernel
  std::string source;           ///< of a compile event: "memory", "disk" or "compiled"
  std::uint64_t bytes = 0;      ///< allocate: of memory; compile, load: of machine code
  double start = 0;             ///< host time in microseconds since the profile began
  double microseconds = 0;      ///< duration on the host
  double own_microseconds = 0;  ///< the same without the time in nested events
  std::uint32_t thread = 0;     ///< a number that identifies the thread, in no order
  std::optional<KernelLaunch> launch;  ///< of a kernel event
};

/// Statistics of the events of one phase, or of one name in a phase.
struct ProfileRow {
  std::string phase;
  std::string name;  ///< empty for the row of a whole phase
  std::uint64_t count = 0;
  /// Microseconds: device time for kernels; host time without nested events for everything else.
  double total = 0, mean = 0, least = 0, most = 0;
  double share = 0;         ///< part of the time of all phases, or of its phase
  std::uint64_t bytes = 0;  ///< of kernels: memory moved, as far as known; else as in ProfileEvent
  double gigabytes_per_second = 0;  ///< of kernels with known bytes and times; else 0
};

}  // namespace heddle
