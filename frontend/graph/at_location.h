#pragma once

#include "heddle/array.h"

namespace heddle::frontend {

/// Builds operands that carry the caller's source location, for functions composed of others:
/// `add(here(a), here(b))` reports errors, and is identified, as if the user had written it.
struct AtLocation {
  SourceLocation where;
  explicit AtLocation(const Operand& x) : where(x.where()) {}
  explicit AtLocation(const SourceLocation& place) : where(place) {}

  Operand operator()(const Array& x) const { return {x, where}; }
  Operand operator()(const Scalar& x) const { return {x, where}; }
};

}  // namespace heddle::frontend
