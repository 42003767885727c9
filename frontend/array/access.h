#pragma once

#include <span>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// The library's way into an Array.
struct Access {
  static Array make(NodeRef node);
  /// The node of the array's value as this thread may use it: inside a trace, arrays from outside
  /// become hidden inputs. ValueError for an array that holds nothing, TraceError for a value of
  /// another trace.
  static NodeRef node(const Array& array, const SourceLocation& where);
  /// The node as it stands; null for an array that holds nothing.
  static const NodeRef& raw(const Array& array);
  static Cell* cell(const Array& array) { return array.cell_; }
  /// Takes the value out; the array holds nothing afterwards.
  static NodeRef take(Array& array);
  static void put(Array& array, NodeRef node);
  /// TraceError for a variable that the traced function only captured.
  static void check_assignable(const Array& array);
  /// Makes a value that of the variable, as assignment does, without evaluating. TraceError as
  /// above.
  static void assign(Array& array, NodeRef node);
  /// A cell with the value, which leaves the array: its own unless a trace shares that. Inside a
  /// trace arrays from outside are only read, and keep their value.
  static Cell* move_cell(Array& from);
};

}  // namespace heddle::frontend
