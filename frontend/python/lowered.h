#pragma once

#include "heddle/jit.h"

namespace heddle::python {

/// Implementation of heddle.Lowered.
struct LoweredObject {
  Lowered lowered;
};

}  // namespace heddle::python
