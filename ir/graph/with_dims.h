#pragma once

#include <functional>
#include <utility>

#include "ir/graph/graph.h"

namespace heddle::ir {

/// Maps an extent, start or step to its replacement.
using DimChange = std::function<Dim(Dim)>;

/// The attributes with `change` applied to every extent and start, and `change_step` to every step.
/// Includes a call's attributes and regions (only nodes that the regions' outputs need). Throws
/// what Graph::add throws.
Attributes with_dims(Attributes attributes, const DimChange& change, const DimChange& change_step);
inline Attributes with_dims(Attributes attributes, const DimChange& change) {
  return with_dims(std::move(attributes), change, change);
}

/// The call with its attributes and regions changed in the same way.
CallRef with_dims(const CallRef& call, const DimChange& change, const DimChange& change_step);

}  // namespace heddle::ir
