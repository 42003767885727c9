#pragma once

#include "passes/report/report.h"
#include "runtime/device/stream.h"
#include "runtime/execute/executable.h"

namespace heddle::runtime {

/// How far a report goes.
enum class Detail : std::uint8_t {
  plan,     ///< what passes and printers say: nothing is compiled
  compiled  ///< and registers, memory and modules: machine code from the cache or the compiler
};

/// All that is known of a program without running it. Why there is no machine code is said in the
/// report and is no error.
passes::Report report_program(const ir::Graph& graph, const CompileOptions& options,
                              const ir::Target& target, Detail detail);

/// Runs the program on the stream's device, for whose target the report is, and adds how long it
/// took as a whole and for each step, medians of `runs`, and the rate at which a kernel copied an
/// array beyond the caches in the same process, which is the ceiling. What symbols are in the
/// arguments is known to the report from then on. Throws as Executable::run does.
void add_run(passes::Report& report, const ir::Graph& graph, const CompileOptions& options,
             std::span<const Argument> arguments, Stream& stream, int runs);

}  // namespace heddle::runtime
