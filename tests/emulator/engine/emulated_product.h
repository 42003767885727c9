#pragma once

#include <functional>

#include "ir/interpreter/host_array.h"
#include "ir/types/dim.h"
#include "passes/calls/gemm.h"
#include "tests/emulator/engine/emulated_memory.h"

namespace heddle::emulator {

/// The matrix product of a step, with what a library adds to it, as the interpreter computes it.
class EmulatedProduct {
 public:
  using MemoryOf = std::function<Memory(const passes::BufferRef&)>;

  /// Keeps references to all arguments.
  EmulatedProduct(const passes::GemmCall& step, const ir::SymbolBindings& bindings,
                  const MemoryOf& memory_of)
      : step_(step), bindings_(bindings), memory_of_(memory_of) {}

  /// Both throw EmulationError for an element that does not exist or is not written.
  void multiply() const;
  /// out = activation(alpha * product + beta * residual + bias), in float64.
  void multiply_and_finish(double alpha, double beta) const;

 private:
  struct Extents {
    std::size_t rows, depth, columns;
  };
  Extents extents() const;
  std::int64_t value(ir::Dim dim) const { return dim.evaluate(bindings_); }
  /// Calls function(i, left, right) with the matrices of each product of the batch, in `dtype`.
  template <class Function>
  void for_each_product(DType dtype, const Function& function) const;

  const passes::GemmCall& step_;
  const ir::SymbolBindings& bindings_;
  const MemoryOf& memory_of_;
};

/// The number that an array's element is. Throws EmulationError for complex numbers.
double number(const std::byte* element, DType dtype);

}  // namespace heddle::emulator
