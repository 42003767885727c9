#pragma once

#include <cstdint>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// What evaluating the pending work of a thread would do to memory, in bytes.
struct PendingMemory {
  std::int64_t frees = 0;    ///< of arrays that nothing else holds
  std::int64_t makes = 0;    ///< of values that somebody refers to
  std::int64_t between = 0;  ///< of values that are not kept, and that no kernel has on chip
};

/// Of what the recorder's thread has recorded; nothing while another thread computes part of it.
/// What else was recorded on the line of `value` is taken for a part of its expression, which is
/// about to be let go, and not for something that is made.
PendingMemory memory_of_pending(Recorder& recorder, const Node* value = nullptr);

}  // namespace heddle::frontend
