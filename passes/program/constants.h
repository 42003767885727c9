#pragma once

#include <cstdint>
#include <vector>

#include "passes/program/program.h"

namespace heddle::passes {

/// The steps whose results are the same in each call: kernels that read no input and no symbol, but
/// only each other's results. Other steps read some of these, from temporaries that only these
/// steps write.
struct ConstantPart {
  std::vector<bool> steps;        ///< of the program, whether they are such steps
  std::vector<bool> temporaries;  ///< whether only such steps write them
  std::vector<bool> results;      ///< those that other steps read
  bool empty() const { return steps.empty(); }
};

/// Results of more bytes than this, all together, are computed in each call.
inline constexpr std::int64_t most_constant_bytes = std::int64_t{16} << 20;

/// Empty if there are no such steps, or if their results are too large.
ConstantPart constant_part(const Program& program);

}  // namespace heddle::passes
