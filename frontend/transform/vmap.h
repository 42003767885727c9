#pragma once

#include <vector>

#include "frontend/control/bodies.h"
#include "frontend/transform/slices.h"

namespace heddle::frontend {

/// Records what was traced of one slice for `count` slices at once. `inputs` are those of the body.
/// Throws TraceError as SliceRecorder::run().
std::vector<Slices> vmap_body(const TracedBody& body, const std::vector<Slices>& inputs,
                              const ir::Dim& count, const SourceLocation& where);

}  // namespace heddle::frontend
