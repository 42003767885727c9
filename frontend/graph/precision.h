#pragma once

#include <optional>

#include "heddle/precision.h"

namespace heddle::frontend {

/// What MatmulPrecision does in two steps, for a language whose scopes are not C++'s: sets this
/// thread's own choice, nullopt for none, and returns what it was.
std::optional<Precision> exchange_thread_precision(std::optional<Precision> precision);

}  // namespace heddle::frontend
