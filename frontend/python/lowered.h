#pragma once

#include "heddle/jit.h"

namespace heddle::python {

/// What stands behind heddle.Lowered.
struct LoweredObject {
  Lowered lowered;
};

}  // namespace heddle::python
