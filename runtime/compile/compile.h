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

/// What makes two programs one: the graph without its name and locations, the inputs' classes, the
/// modes, the target, and the Heddle that plans it. Names no compiler, device number, host or path.
cache::Key program_key(const ir::Graph& graph, const CompileOptions& options,
                       const ir::Target& target);

/// Options with HEDDLE_DISABLE's names added, and optimized no more than HEDDLE_CXX_LEVEL says.
CompileOptions with_environment(CompileOptions options);

struct PrintedProgram {
  passes::Program program;
  std::vector<codegen::KernelSource> kernels;  ///< each once, however many steps launch it
};
/// Plans the graph and prints its kernels.
PrintedProgram print_program(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target);

/// What of the options and the target plans depend on.
passes::PlanOptions plan_options(const CompileOptions& options, const ir::Target& target);
/// The plan as CUDA C++ or, for a host target, C++.
codegen::KernelSource print_kernel(const passes::KernelPlan& plan, const ir::Target& target);
/// HEDDLE_NO_COMPILE=1.
bool compiling_is_forbidden();

/// Which entries of the cache a program may come from.
enum class Entries : std::uint8_t {
  own,        ///< only the target's
  compatible  ///< where there is none, those of a target whose code runs there too: x86-64-v3 on v4
};

/// The program from the disk cache, or planned, printed, compiled (its modules from the cache where
/// they are there, else in parallel) and stored. Throws CompileError; DeviceError when there is no
/// compiler; Interrupted.
ProgramImage compile_program(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target, Entries entries = Entries::own);
/// The key of the entry that the cache has for the program; nullopt where it has none.
std::optional<cache::Key> cached_program_key(const ir::Graph& graph, const CompileOptions& options,
                                             const ir::Target& target, Entries entries);

/// What to tell the user of code that does not load though it has just been compiled: also its
/// source, the user's lines, and where a reproducer is.
std::string describe_refusal(const LoadFailure& failure, const ir::Graph& graph,
                             const CompileOptions& options, const ir::Target& target);

/// What the cache keeps of the program, as the bytes of an entry's file.
std::string program_entry(const ir::Graph& graph, const CompileOptions& options,
                          const ir::Target& target);

/// As compile_program, without asking the cache for anything.
ProgramImage recompile_program(const ir::Graph& graph, const CompileOptions& options,
                               const ir::Target& target);

}  // namespace heddle::runtime
