#pragma once

#include <spdlog/logger.h>

#include "ir/base/formatting.h"  // what logger's functions call

namespace heddle::runtime {

/// The library's logger. It writes to standard error at the level in HEDDLE_LOG (trace, debug,
/// info, warn, error, off); by default warnings and errors. Never destroyed, so that destructors at
/// process exit can still log.
spdlog::logger& log();

}  // namespace heddle::runtime
