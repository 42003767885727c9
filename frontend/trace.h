#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/array.h"

#include "frontend/node.h"
#include "ir/graph.h"

namespace heddle::frontend {

/// The recording of one function: its inputs, and the arrays from outside that it met.
class Trace {
 public:
  Trace();

  std::uint64_t id() const { return id_; }
  /// The next array input.
  NodeRef add_input(ir::Type type);
  /// The next scalar argument, as a weak value of float64, int64 or bool.
  NodeRef add_scalar(const Scalar& value);
  /// The weak scalar that `node` is, in a dtype. Throws DTypeError, naming `op`, if it does
  /// not fit.
  NodeRef scalar_in(const NodeRef& node, DType dtype, Site site, std::string_view op);
  /// What a weak scalar is at this call. Nothing may be traced by it that is not assumed.
  Scalar value_of(const Node& node) const;
  /// side_of() the value of a weak scalar. What is traced is then only for calls with values on
  /// that side.
  int assume_side(const Node& node, DType dtype);
  /// The hidden input for a value from outside that a cell holds.
  NodeRef capture(Cell* cell);

  struct Input {
    enum class Kind : std::uint8_t { array, scalar, capture };
    Kind kind;
    std::uint32_t argument;  ///< array: which; scalar: which scalar argument; capture: which cell
    NodeRef node;
  };
  const std::vector<Input>& inputs() const { return inputs_; }
  /// That a scalar argument lies on one side of an integer dtype.
  struct Assumption {
    std::uint32_t argument;
    DType dtype;
    int side;
    friend bool operator==(const Assumption&, const Assumption&) = default;
  };
  const std::vector<Assumption>& assumptions() const { return assumptions_; }
  const std::vector<CellRef>& captures() const { return captures_; }

  /// The trace that this thread records into; null outside.
  static Trace* current();

 private:
  friend class TraceScope;
  NodeRef parameter(DType dtype, ir::Shape shape, bool scalar);

  std::uint64_t id_;
  std::vector<Input> inputs_;
  std::vector<CellRef> captures_;
  std::unordered_map<Cell*, NodeRef> captured_;
  std::vector<Scalar> scalars_;
  std::vector<Assumption> assumptions_;
  std::uint32_t array_count_ = 0;
};

/// Makes a trace the thread's current one.
class TraceScope {
 public:
  explicit TraceScope(Trace& trace);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* before_;
};

/// Throws TraceError: `what` asks for a value, which is not there while tracing.
[[noreturn]] void value_in_trace(const char* what, const Site& site);

}  // namespace heddle::frontend
