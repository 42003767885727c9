#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/execute/executable.h"

namespace heddle::runtime {

/// How long the device takes for one launch, fill or library call of a program.
struct StepTime {
  std::uint32_t step = 0;  ///< of Program::steps; a sort on a GPU has several entries
  std::string kernel;      ///< as in Program::kernel_names; "matmul_f32", "sort_f32", "fill_bytes"
  double microseconds = 0;
};

/// Runs the program once to warm up and then `runs` times, launching its kernels one by one, and
/// gives the medians in the order of the launches. Empty where the program is interpreted. On a GPU
/// a kernel that follows an idle device counts the microseconds in which it is launched. Throws as
/// Executable::run does.
std::vector<StepTime> time_steps(const Executable& executable,
                                 std::span<const ArgumentView> arguments, Stream& stream,
                                 int runs = 1, const CallerLines& lines = {});

}  // namespace heddle::runtime
