#pragma once

namespace heddle::runtime {

/// Whether candidates that no cost model can rank, such as the algorithms of a matrix product, are
/// timed when they are first needed. Off by default; HEDDLE_AUTOTUNE=1 or set_autotuning() enables
/// it.
bool autotuning();
/// Returns the previous setting.
bool set_autotuning(bool enabled);

}  // namespace heddle::runtime
