#pragma once

#include "frontend/python/function.h"

namespace heddle::python {

/// Communicators and exchanges among processes: the private submodule _distributed, under
/// heddle.distributed and heddle.cuda.nccl.
void bind_distributed(Functions& functions);

}  // namespace heddle::python
