#pragma once

#include <cstdint>
#include <vector>

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// Elements of a buffer that a step reads or writes: at `begin` plus any iterations of the loops,
/// in bytes.
struct TouchedElements {
  struct Stride {
    std::int64_t bytes, count;
  };
  BufferRef buffer;  ///< not an output that shares the memory of another buffer
  bool written = false;
  bool all = false;  ///< any of them, as far as is known: the rest does not apply
  std::int64_t begin = 0;
  int element_bytes = 1;
  std::vector<Stride> loops;
};

/// What each access of a step touches. The step may touch less.
std::vector<TouchedElements> touched_by(const PlannedProgram& planned, const Step& step);

}  // namespace heddle::passes
