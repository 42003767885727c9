#pragma once

#include <span>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/node.h"
#include "frontend/graph/trace.h"

namespace heddle::frontend {

/// Internal access to an Array's cell.
struct Access {
  static Array make(NodeRef node);
  /// The node of the array's value, for use in this thread. Inside a trace, an array from outside
  /// becomes a hidden input. ValueError if the array holds no value; TraceError if its value
  /// belongs to another trace.
  static NodeRef node(const Array& array, const SourceLocation& where) {
    return borrow(array, where);
  }
  /// The same without a reference of its own: valid until the array is written or destroyed, also
  /// by another thread. For what only looks at the node.
  static const NodeRef& borrow(const Array& array, const SourceLocation& where) {
    const Cell* const cell = array.cell_;
    const bool plain =
        cell != nullptr && cell->node && cell->node->trace_id == 0 && Trace::current() == nullptr;
    return plain ? cell->node : borrow_in_trace(array, where);
  }
  /// The stored node; null if the array holds no value.
  static const NodeRef& raw(const Array& array) {
    return array.cell_ == nullptr ? nothing() : array.cell_->node;
  }
  static Cell* cell(const Array& array) { return array.cell_; }
  /// Moves the value out; the array then holds no value.
  static NodeRef take(Array& array);
  static void put(Array& array, NodeRef node);
  /// TraceError if the traced function captured the variable.
  static void check_assignable(const Array& array);
  /// Sets the variable's value, as assignment does, without evaluating. TraceError as above.
  static void assign(Array& array, NodeRef node);
  /// Moves the value out of the array, and returns the cell that holds it: the array's own cell, or
  /// a new one if a trace shares that. A captured array inside a trace keeps its value.
  static Cell* move_cell(Array& from);

 private:
  static const NodeRef& borrow_in_trace(const Array& array, const SourceLocation& where);
  static const NodeRef& nothing();
};

}  // namespace heddle::frontend
