#pragma once

#include <functional>
#include <utility>

#include "ir/graph/graph.h"

namespace heddle::ir {

/// Gives the extent, start or step that replaces one.
using DimChange = std::function<Dim(Dim)>;

/// The attributes with every extent and start, and every step, changed; those of a call's
/// attributes and regions included, of regions what their outputs need. Throws what Graph::add
/// throws.
Attributes with_dims(Attributes attributes, const DimChange& change, const DimChange& change_step);
inline Attributes with_dims(Attributes attributes, const DimChange& change) {
  return with_dims(std::move(attributes), change, change);
}

/// The call with its attributes and regions changed likewise.
CallRef with_dims(const CallRef& call, const DimChange& change, const DimChange& change_step);

}  // namespace heddle::ir
