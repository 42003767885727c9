#pragma once

#include <spdlog/logger.h>

namespace heddle::runtime {

/// The library's logger: to standard error, at the level that HEDDLE_LOG names (trace, debug,
/// info, warn, error, off), warnings and errors by default. Never destroyed, so that objects that
/// die at exit may still log.
spdlog::logger& log();

}  // namespace heddle::runtime
