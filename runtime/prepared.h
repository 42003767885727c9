#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/dim.h"
#include "passes/program.h"
#include "runtime/executable.h"

namespace heddle::runtime {

/// One kernel launch with every size known.
struct PreparedKernel {
  std::uint32_t kernel = 0;
  std::int64_t blocks = 0;          ///< on the host the length of the range
  std::vector<std::int64_t> sizes;  ///< values of the size parameters, in order
};

/// A program for one set of extents: everything that is the same for each of its launches.
struct Prepared {
  ir::SymbolBindings bindings;
  std::vector<ir::Shape> output_shapes;
  std::vector<std::int64_t> output_bytes;
  passes::Arena arena;
  std::vector<std::int64_t> temporary_bytes;
  std::vector<PreparedKernel> kernels;  ///< per step; unused for steps of other kinds
};

/// Binds the program's symbols to the arguments' extents. Throws ShapeError that names the
/// argument, its shape and the parameter's, for extents that do not fit or break a fact;
/// DTypeError.
ir::SymbolBindings bind_arguments(const passes::Program& program,
                                  std::span<const Argument> arguments);

/// Evaluates all sizes of a program. Throws IndexError, ShapeError or ValueError when they break
/// one of its requirements, or do not fit 64 bits.
Prepared prepare(const passes::Program& program, ir::SymbolBindings bindings);

}  // namespace heddle::runtime
