#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "passes/plan/kernel_plan.h"
#include "passes/program/program.h"

namespace heddle::passes {

struct BufferRefHasher {
  std::size_t operator()(const BufferRef& buffer) const {
    return static_cast<std::size_t>(buffer.kind) << 32 | buffer.index;
  }
};

struct DimHasher {
  std::size_t operator()(Dim dim) const { return dim.hash(); }
};

/// What a kernel of a step does with its buffers.
class KernelUses {
 public:
  struct Uses {
    std::vector<std::size_t> places;  ///< parameters that are it
    std::vector<const Instruction*> loads;
    const Store* stored = nullptr;
  };

  /// Refers to the plan.
  KernelUses(const KernelStep& step, const KernelPlan& plan);
  /// Of a buffer that the kernel may not have.
  const Uses& of(const BufferRef& buffer) const;
  const std::unordered_map<BufferRef, Uses, BufferRefHasher>& all() const { return uses_; }

 private:
  std::unordered_map<BufferRef, Uses, BufferRefHasher> uses_;
};

/// Whether the kernel, of pointwise mapping, reads each element of a buffer at most where the store
/// overwrites it, by the same thread, and before.
bool is_read_where(const Store& store, DType dtype, const KernelUses::Uses& buffer);

}  // namespace heddle::passes
