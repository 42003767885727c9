#pragma once

namespace heddle::runtime {

/// Whether candidates that no model tells apart are timed when they are first needed: the
/// algorithms of matrix products. Off unless HEDDLE_AUTOTUNE is 1 or somebody turned it on.
bool autotuning();
/// Returns what it was.
bool set_autotuning(bool enabled);

}  // namespace heddle::runtime
