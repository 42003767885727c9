#pragma once

#include <cstdint>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Effect on memory of evaluating a thread's pending work, in bytes.
struct MemoryEffect {
  std::int64_t frees = 0;    ///< arrays that nothing else holds
  std::int64_t makes = 0;    ///< values with outside references
  std::int64_t between = 0;  ///< values that are not kept but must be stored between kernels
};

/// Covers what the recorder's thread has recorded; zero while another thread computes part of it.
/// Other values recorded on the source line of `value` are taken for temporaries of the same
/// expression, which are about to be released, so they do not count as made.
MemoryEffect memory_of_pending(Recorder& recorder, const Node* value = nullptr);

}  // namespace heddle::frontend
