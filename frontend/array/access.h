#pragma once

#include <span>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Internal access to an Array's cell.
struct Access {
  static Array make(NodeRef node);
  /// The node of the array's value, usable by this thread: inside a trace, captured arrays become
  /// hidden inputs. ValueError if the array holds no value, TraceError for a value of another
  /// trace.
  static NodeRef node(const Array& array, const SourceLocation& where);
  /// The stored node; null if the array holds no value.
  static const NodeRef& raw(const Array& array);
  static Cell* cell(const Array& array) { return array.cell_; }
  /// Moves the value out; the array then holds no value.
  static NodeRef take(Array& array);
  static void put(Array& array, NodeRef node);
  /// TraceError if the traced function captured the variable.
  static void check_assignable(const Array& array);
  /// Sets the variable's value, as assignment does, without evaluating. TraceError as above.
  static void assign(Array& array, NodeRef node);
  /// Moves the value out of the array and returns a cell with it. This is the array's own cell,
  /// unless a trace shares it. Inside a trace, a captured array is only read and keeps its value.
  static Cell* move_cell(Array& from);
};

}  // namespace heddle::frontend
