#pragma once

#include <functional>
#include <utility>

#include "ir/graph/graph.h"

namespace heddle::ir {

/// Another extent, start or step in the place of one.
using DimChange = std::function<Dim(Dim)>;

/// The attributes with every extent and start, and every step, changed; those of a call's
/// attributes and regions included, of regions what their outputs need. Throws what Graph::add
/// throws.
Attributes with_dims(Attributes attributes, const DimChange& change, const DimChange& change_step);
inline Attributes with_dims(Attributes attributes, const DimChange& change) {
  return with_dims(std::move(attributes), change, change);
}

/// The same of what a call holds.
CallRef with_dims(const CallRef& call, const DimChange& change, const DimChange& change_step);

}  // namespace heddle::ir
