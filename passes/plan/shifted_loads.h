#pragma once

#include "passes/plan/kernel_plan.h"

namespace heddle::passes {

/// In an elements mapping with vectors: a load that is not aligned to vectors, but reads the same
/// elements as a vector of another load, shifted by less than a vector, takes these from that
/// vector (Instruction::shifted_from). So a stencil reads each vector of a row once, and a few
/// elements next to it.
void share_shifted_vectors(KernelPlan& plan);

}  // namespace heddle::passes
