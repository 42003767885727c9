#pragma once

#include <optional>

#include "heddle/precision.h"

namespace heddle::frontend {

/// The two steps of MatmulPrecision, for languages whose scopes differ from C++'s: sets this
/// thread's own precision (nullopt for none) and returns the previous one.
std::optional<Precision> exchange_thread_precision(std::optional<Precision> precision);

}  // namespace heddle::frontend
