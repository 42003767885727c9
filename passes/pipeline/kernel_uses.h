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

/// How a kernel step uses its buffers.
class KernelUses {
 public:
  struct Uses {
    std::vector<std::size_t> places;  ///< indices of the parameters that are this buffer
    std::vector<const Instruction*> loads;
    const Store* stored = nullptr;
  };

  /// Keeps a reference to `plan`.
  KernelUses(const KernelStep& step, const KernelPlan& plan);
  /// The uses of a buffer; empty if the kernel does not use it.
  const Uses& of(const BufferRef& buffer) const;
  const std::unordered_map<BufferRef, Uses, BufferRefHasher>& all() const { return uses_; }

 private:
  std::unordered_map<BufferRef, Uses, BufferRefHasher> uses_;
};

/// Whether the kernel, of a pointwise family, reads each element of a buffer only in the thread
/// that overwrites it in `store`, and before that.
bool is_read_where(const Store& store, DType dtype, const KernelUses::Uses& buffer);

}  // namespace heddle::passes
