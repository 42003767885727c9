#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "runtime/compile/compile.h"
#include "tests/emulator/emulator.h"

namespace heddle::emulator {

struct RunOptions {
  /// Blocks run in a random order of this seed instead of the first to the last.
  std::optional<std::uint64_t> shuffle_seed = std::nullopt;
  /// No library has epilogues: their fallbacks run.
  bool refuse_epilogues = false;
  /// Bytes behind a multiple of 16 that every input begins at, instead of as aligned as the program
  /// asks for.
  std::optional<std::size_t> input_offset = std::nullopt;
};

/// Programs planned for a GPU (runtime::print_program), run on the CPU: their kernels by the
/// emulator, compiled in one batch. Every buffer has its exact extent; memory that no step has
/// written is known as such from step to step, in the arena also where one temporary follows
/// another; inputs lie just as aligned as the program asks for. A product's epilogue is computed in
/// float64 and rounded once; its relu makes 0 of NaN, as a library's may. Other calls of libraries
/// are the interpreter's.
class EmulatedPrograms {
 public:
  /// Throws CompileError.
  explicit EmulatedPrograms(std::vector<runtime::PrintedProgram> programs);
  EmulatedPrograms(EmulatedPrograms&&) noexcept = default;
  EmulatedPrograms& operator=(EmulatedPrograms&&) noexcept = default;

  std::size_t size() const { return programs_.size(); }
  const passes::Program& program(std::size_t index) const { return programs_[index]; }

  /// Runs a program on inputs in parameter order, scalars as 0-d arrays. Throws EmulationError that
  /// names the step for whatever a kernel does wrong and for an output that is not written whole;
  /// ShapeError and DTypeError as Executable::run.
  std::vector<ir::HostArray> run(std::size_t index, std::span<const ir::HostArray> inputs,
                                 const RunOptions& options = {});

 private:
  std::vector<passes::Program> programs_;
  EmulatedModule module_;
};

}  // namespace heddle::emulator
