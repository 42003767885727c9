#include "frontend/array/access.h"

#include "heddle/error.h"

#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"

namespace heddle::frontend {

Array Access::make(NodeRef node) {
  auto* cell = new Cell;
  if (Trace* trace = Trace::current(); trace != nullptr) {
    if (trace->is_outside(*node)) {
      const CellRef captured = CellRef::create();
      captured->node = std::move(node);
      node = trace->capture(captured.get());
    }
    cell->trace_id = trace->id();
  }
  cell->node = std::move(node);
  Array array(cell);
  if (cell->trace_id == 0 && cell->node->kind == Node::Kind::operation) recording_point(cell->node);
  return array;
}

const NodeRef& Access::borrow_in_trace(const Array& array, const SourceLocation& where) {
  Cell* cell = array.cell_;
  if (cell == nullptr || !cell->node) {
    throw ValueError(
        at("the array holds no value: it was default-constructed, moved from, or donated", where));
  }
  Trace* trace = Trace::current();
  const std::uint64_t id = trace == nullptr ? 0 : trace->id();
  const bool is_outside =
      trace == nullptr ? cell->node->trace_id == 0 : trace->is_outside(*cell->node);
  if (!is_outside && cell->node->trace_id != id) {
    throw TraceError(
        at("a value inside a traced function is used after the trace ended; return it from the "
           "function",
           where));
  }
  return trace != nullptr && is_outside ? trace->capture(cell) : cell->node;
}

const NodeRef& Access::nothing() {
  static const NodeRef& nothing = *new NodeRef;
  return nothing;
}

NodeRef Access::take(Array& array) {
  return array.cell_ == nullptr ? NodeRef() : std::exchange(array.cell_->node, NodeRef());
}

void Access::put(Array& array, NodeRef node) {
  if (array.cell_ == nullptr) array.cell_ = new Cell;
  array.cell_->node = std::move(node);
}

void Access::check_assignable(const Array& array) {
  const Trace* trace = Trace::current();
  const Cell* cell = array.cell_;
  if (trace != nullptr && cell != nullptr && cell->trace_id != trace->id() && cell->node) {
    throw TraceError(
        "a jitted function assigns to an array that it captured; return the new value instead");
  }
}

void Access::assign(Array& array, NodeRef node) {
  check_assignable(array);
  if (array.cell_ == nullptr) array.cell_ = new Cell;
  std::swap(array.cell_->node, node);
}

Cell* Access::move_cell(Array& from) {
  Cell* const cell = from.cell_;
  Trace* const trace = Trace::current();
  const bool captured =
      trace != nullptr && cell != nullptr && cell->node && trace->is_outside(*cell->node);
  if (cell == nullptr || (!captured && !cell->shared())) return std::exchange(from.cell_, nullptr);
  auto* moved = new Cell;
  moved->trace_id = captured ? trace->id() : cell->trace_id;
  moved->node = captured ? trace->capture(cell) : std::exchange(cell->node, NodeRef());
  return moved;
}

}  // namespace heddle::frontend
