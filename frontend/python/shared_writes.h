#pragma once

#include "heddle/array.h"

#include "frontend/graph/node.h"
#include "frontend/python/strides.h"

namespace heddle::python {

/// Writes a value to elements of pinned memory and to nothing else, in stream order. `layout` is
/// that of the elements in the memory, in units of elements, of which no two share memory. `value`
/// has their shape and dtype.
void write_elements(const frontend::NodeRef& pinned, const Layout& layout, frontend::NodeRef value,
                    const SourceLocation& where);

}  // namespace heddle::python
