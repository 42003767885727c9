#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// One launch of a kernel, one fill or one call of a library, as Profile and kernel_history() keep
/// it.
struct KernelLaunch {
  /// As dumps, sources, cache entries and debuggers have it: "hd_subtract_exp_f32_9c1f2ab0"; of
  /// what is no kernel of Heddle's, "matmul_f32", "sort_f32" or "fill_bytes".
  std::string kernel;
  std::string program;                ///< the jitted function, or "main"
  std::uint32_t step = 0;             ///< of the program
  std::string operands;               ///< "f32[8,1024], f32[1024] -> f32[8,1024]"
  std::vector<std::string> lines;     ///< of the user's program, "model.cpp:12"
  std::string device;                 ///< "cpu", "cuda:0"
  std::uint32_t stream = 0;           ///< a number from 1 for each stream of a GPU; 0 on the CPU
  std::int64_t blocks = 0;            ///< on the CPU elements of its range; 0 of a library
  std::uint32_t threads[2] = {0, 0};  ///< of a block, along x and y; 0 on the CPU
  std::uint32_t cluster = 1;          ///< blocks
  std::uint32_t shared_bytes = 0;     ///< of a block, dynamic
  std::optional<std::int64_t> bytes;  ///< that it reads and writes, where that is known
  bool captured = false;  ///< into a CUDA graph of the user's: it runs there, and is not timed
  double start = 0;       ///< microseconds since the profile, or the history, began
  std::optional<double> microseconds;  ///< that the device took; nullopt where it was not timed
};

/// Something that the library did, on the host or on a device.
struct ProfileEvent {
  std::string phase;        ///< trace, pass, codegen, compile, load, allocate, launch or kernel
  std::string name;         ///< of the function, pass, kernels, block of memory, program or kernel
  std::string source;       ///< of compile: "memory", "disk" or "compiled"
  std::uint64_t bytes = 0;  ///< of allocate: of memory; of compile and load: of machine code
  double start = 0;         ///< microseconds since the profile began, on the host
  double microseconds = 0;  ///< on the host
  double own_microseconds = 0;         ///< of these, what no event within has taken
  std::uint32_t thread = 0;            ///< a number for each thread, in no order
  std::optional<KernelLaunch> launch;  ///< of kernel
};

/// Events of one phase, or of one name in a phase.
struct ProfileRow {
  std::string phase;
  std::string name;  ///< empty of a whole phase
  std::uint64_t count = 0;
  /// Microseconds: of a kernel the device's, of all else the host's without what other events
  /// within take.
  double total = 0, mean = 0, least = 0, most = 0;
  double share = 0;         ///< of all phases' time, or of its own phase's
  std::uint64_t bytes = 0;  ///< memory that kernels moved, as far as known; or as ProfileEvent
  double gigabytes_per_second = 0;  ///< of kernels whose bytes and times are known; else 0
};

}  // namespace heddle
