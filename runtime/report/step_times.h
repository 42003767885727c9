#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/execute/executable.h"

namespace heddle::runtime {

/// Device time of one launch, fill or library call of a program.
struct StepTime {
  std::uint32_t step = 0;  ///< index in Program::steps; a sort on a GPU has several entries
  std::string kernel;      ///< as in Program::kernel_names; "matmul_f32", "sort_f32", "fill_bytes"
  double microseconds = 0;
};

/// Runs the program once to warm up and then `runs` times, launching its kernels one by one.
/// Returns the medians in the order of the launches; empty if the program is interpreted. On a GPU,
/// the time of a kernel that starts on an idle device includes its launch latency. Throws as
/// Executable::run does.
std::vector<StepTime> time_steps(const Executable& executable,
                                 std::span<const ArgumentView> arguments, Stream& stream,
                                 int runs = 1, const CallerLocations& lines = {});

}  // namespace heddle::runtime
