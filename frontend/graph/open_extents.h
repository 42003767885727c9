#pragma once

#include <optional>
#include <string>

#include "ir/types/dim.h"

namespace heddle::frontend {

/// What an op must know of symbols: the value of an extent, or which of two extents is smaller. A
/// call of a jitted function knows it: the function is traced again, for such extents only.
struct OpenExtents {
  ir::Dim first, second = 0;
  bool only_order = false;  ///< which one is smaller
};

/// Throws a ShapeError, after which take_open_extents() returns what was asked for. The error
/// passes through Python on its way to the trace.
[[noreturn]] void fail_open(const OpenExtents& open, const std::string& message);
/// What this thread's last fail_open() asked for, once.
std::optional<OpenExtents> take_open_extents();

}  // namespace heddle::frontend
