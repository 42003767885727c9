#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "runtime/compile/compile.h"

namespace heddle::test {

/// A graph and what it is compiled with.
struct Job {
  ir::Graph graph;
  runtime::CompileOptions options = {};
  /// On the host: kernels that no job before it has are compiled without optimization.
  bool quick = false;
};

/// Programs of one target, compiled together and run on host arrays. Outputs and temporaries are
/// poisoned before; a parameter that is declared unaligned lies one element behind a boundary.
class Programs {
 public:
  virtual ~Programs() = default;
  virtual const passes::Program& program(std::size_t index) const = 0;
  /// Inputs in parameter order, scalars as 0-d arrays. Throws what Executable::run throws, and
  /// InternalError where an input that was not donated has changed.
  virtual std::vector<ir::HostArray> run(std::size_t index,
                                         std::span<const ir::HostArray> inputs) = 0;
};

/// Plans the jobs for this machine's processor and compiles their kernels in few runs of its
/// compiler, each different kernel once. Throws CompileError.
std::unique_ptr<Programs> compile_for_host(std::span<const Job> jobs);

/// One by one through runtime::Executable, on the device that HEDDLE_DEVICE names: the way of a
/// user's program.
std::unique_ptr<Programs> compile_executables(std::span<const Job> jobs, runtime::Device device);

/// Whether a machine with a GPU is asked to run the tests on it (HEDDLE_DEVICE).
bool tests_on_gpu();

/// Throws InternalError where a kernel names a library function or type whose section it does not
/// take: by itself it would not compile, which a text of many kernels hides.
void check_sections(const codegen::KernelSource& kernel);

/// Several kernels as one text for either compiler: every library section once, each kernel in a
/// namespace of its own.
std::string merged_text(std::span<const codegen::KernelSource> kernels);

/// Compiles the kernels by NVRTC with an empty include path, some at a time, on all processors. It
/// asks whether NVRTC accepts them, so NVRTC optimises little: a third of the time.
/// Throws CompileError, and DeviceError where there is no NVRTC.
void compile_with_nvrtc(std::span<const codegen::KernelSource> kernels,
                        const std::string& architecture);

/// Bytes of an array of constant shape.
std::size_t bytes_of(const ir::Type& type);

}  // namespace heddle::test
