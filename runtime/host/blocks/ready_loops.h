#pragma once

#include "heddle/dtype.h"

#include "codegen/blocks/loop_types.h"
#include "ir/types/op.h"
#include "ir/types/target.h"

namespace heddle::runtime::host {

/// The ready-made loops for one instruction set, which the library embeds. Thread-safe; never
/// destroyed.
class ReadyLoops {
 public:
  /// The loops for a target; null if the library has none for its instruction set.
  static const ReadyLoops* of(const ir::Target& target);

  ReadyLoops(const ReadyLoops&) = delete;
  ReadyLoops& operator=(const ReadyLoops&) = delete;
  virtual heddle_blocks::MapLoop map(ir::Op op, DType dtype) const = 0;
  virtual heddle_blocks::MapLoop cast(DType from, DType to) const = 0;
  virtual heddle_blocks::SearchLoop search(ir::Op op, DType dtype) const = 0;
  virtual const heddle_blocks::ReductionLoops& reduction(ir::Op op, DType dtype) const = 0;
  virtual const heddle_blocks::ScanLoops& scan(ir::Op op, DType dtype, bool segmented) const = 0;

 protected:
  ReadyLoops() = default;
  ~ReadyLoops() = default;
};

}  // namespace heddle::runtime::host
