#pragma once

#include "passes/report/report.h"
#include "runtime/device/stream.h"
#include "runtime/execute/executable.h"

namespace heddle::runtime {

/// The level of detail of a report.
enum class Detail : std::uint8_t {
  plan,     ///< only the output of passes and printers; nothing is compiled
  compiled  ///< also registers, memory and modules: machine code from the cache or the compiler
};

/// Everything known about a program without running it. If there is no machine code, the report
/// contains the reason; that is not an error.
passes::Report report_program(const ir::Graph& graph, const CompileOptions& options,
                              const ir::Target& target, Detail detail);

/// Runs the program on the stream's device, whose target must be the report's. Adds the duration of
/// the whole program and of each step, medians of `runs`. Also adds, as the ceiling, the rate at
/// which a copy kernel moved an array larger than the caches in the same process. The report's
/// symbols are then bound to the arguments' extents. Throws as Executable::run does.
void add_run(passes::Report& report, const ir::Graph& graph, const CompileOptions& options,
             std::span<const Argument> arguments, Stream& stream, int runs);

}  // namespace heddle::runtime
