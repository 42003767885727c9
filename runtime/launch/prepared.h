#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/types/dim.h"
#include "passes/program/program.h"
#include "runtime/launch/arguments.h"

namespace heddle::runtime {

/// One kernel launch with all sizes evaluated.
struct PreparedKernel {
  std::int64_t blocks = 0;          ///< on the host the length of the range
  std::vector<std::int64_t> sizes;  ///< values of the size parameters, in order
};

/// The memory layout of a program for one set of extents.
struct Prepared {
  ir::SymbolBindings bindings;
  std::vector<ir::Shape> output_shapes;
  std::vector<std::int64_t> output_bytes;
  std::vector<Label> output_labels;
  passes::Arena arena;
  Label arena_label;
  std::vector<std::int64_t> temporary_bytes;
};

/// Binds the program's symbols to the arguments' extents. Throws ShapeError, with the argument, its
/// shape and the parameter's shape, if extents do not match or violate an assumption of the
/// program; DTypeError.
ir::SymbolBindings bind_arguments(const passes::Program& program,
                                  std::span<const ArgumentView> arguments);
/// The same, into `bindings`, whose memory is used again.
void bind_arguments(const passes::Program& program, std::span<const ArgumentView> arguments,
                    ir::SymbolBindings& bindings);

/// Throws IndexError, ShapeError or ValueError if the bindings violate one of the program's
/// requirements. The source location in the message comes from `graph`, which has the program's
/// hash.
void check_requirements(const passes::Program& program, const ir::SymbolBindings& bindings,
                        const ir::Graph* graph);

PreparedKernel prepare_kernel(const passes::KernelStep& step, const ir::SymbolBindings& bindings);
/// PreparedKernel::blocks.
std::int64_t count_blocks(const passes::KernelStep& step, const ir::SymbolBindings& bindings);

/// Evaluates the sizes of a program's memory. Throws as check_requirements does, and if sizes
/// overflow 64 bits.
Prepared prepare(const passes::Program& program, ir::SymbolBindings bindings,
                 const ir::Graph* graph = nullptr);
/// Evaluates them again for other bindings, which are set already. What the sizes do not change is
/// kept.
void prepare_again(Prepared& prepared, const passes::Program& program, const ir::Graph* graph);

}  // namespace heddle::runtime
