#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codegen/common/kernel_source.h"
#include "ir/graph/graph.h"
#include "passes/pipeline/program_builder.h"
#include "runtime/cache/image.h"
#include "runtime/cache/key.h"
#include "runtime/compile/options.h"

namespace heddle::runtime {

/// The cache key of a program: the graph without its name and locations, the classes of the inputs,
/// the modes, the target, and the version of Heddle that plans it. It contains no compiler, device
/// number, host or path.
cache::Key program_key(const ir::Graph& graph, const CompileOptions& options,
                       const ir::Target& target);

/// The options, with the names in HEDDLE_DISABLE added, and the optimization level limited by
/// HEDDLE_CXX_LEVEL.
CompileOptions with_environment(CompileOptions options);

struct PrintedProgram {
  passes::Program program;
  std::vector<codegen::KernelSource> kernels;  ///< without duplicates, although several steps may
                                               ///< launch the same kernel
};
/// Plans the graph and prints its kernels.
PrintedProgram print_program(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target);

/// The parts of the options and the target on which plans depend.
passes::PlanOptions plan_options(const CompileOptions& options, const ir::Target& target);
/// plan_program(), and shares kernels that differ only in numbers.
passes::PlannedProgram plan_kernels(const ir::Graph& graph, const passes::PlanOptions& options,
                                    const passes::PassObserver& observer = {});
/// Prints the kernels and sets their names. Kernels that are one have equal sources.
std::vector<codegen::KernelSource> print_kernels(passes::PlannedProgram& planned,
                                                 const ir::Target& target);
/// Prints a plan as CUDA C++ or, for a host target, C++.
codegen::KernelSource print_kernel(const passes::KernelPlan& plan, const ir::Target& target);
/// Whether HEDDLE_NO_COMPILE=1.
bool compiling_is_forbidden();

/// Which cache entries may serve a program.
enum class Entries : std::uint8_t {
  own,        ///< only entries for the target
  compatible  ///< if there is none, also entries for a target whose code runs there: x86-64-v3 on
              ///< v4
};

/// Whether the program's kernels may run uncompiled there: on the CPU, if the options let them.
bool may_run_uncompiled(const CompileOptions& options, const ir::Target& target);

/// As compile_program, for a program that is about to run. If the options let kernels run
/// uncompiled, and some can, the image has ProgramImage::deferred.
ProgramImage prepare_program(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target, Entries entries);

/// Loads the program from the disk cache. Otherwise plans, prints and compiles it, and stores it.
/// Modules are loaded from the cache where possible, and compiled in parallel otherwise. Throws
/// CompileError; DeviceError if there is no compiler; Interrupted.
ProgramImage compile_program(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target, Entries entries = Entries::own);
/// The key of the cache entry that serves the program; nullopt if there is none.
std::optional<cache::Key> cached_program_key(const ir::Graph& graph, const CompileOptions& options,
                                             const ir::Target& target, Entries entries);

/// The message for freshly compiled code that does not load: includes its source, the user's lines,
/// and the path of a reproducer.
std::string describe_refusal(const LoadFailure& failure, const ir::Graph& graph,
                             const CompileOptions& options, const ir::Target& target);

/// The program's cache entry, as the bytes of its file.
std::string program_entry(const ir::Graph& graph, const CompileOptions& options,
                          const ir::Target& target);

/// Like compile_program, but does not read the cache.
ProgramImage recompile_program(const ir::Graph& graph, const CompileOptions& options,
                               const ir::Target& target);

}  // namespace heddle::runtime
