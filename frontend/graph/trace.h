#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/check.h"
#include "frontend/graph/generator_state.h"
#include "frontend/graph/node.h"
#include "ir/graph/graph.h"

namespace heddle::frontend {

/// The value of a weak trace node in a call with these scalar arguments. It may be an argument, a
/// constant, or an integer computed from few of them.
std::optional<Scalar> weak_value(const Node& node, std::span<const Scalar> arguments);

/// The recording of one function: its inputs and the captured arrays.
class Trace {
 public:
  /// What a trace is made for.
  enum class Purpose : std::uint8_t {
    function,  ///< a function, whose arguments have values
    region     ///< the body of a loop or a branch, with a counter perhaps
  };

  /// Values of enclosing traces are treated as captured values.
  explicit Trace(Trace* enclosing = nullptr, Purpose purpose = Purpose::function);

  std::uint64_t id() const { return id_; }
  const Trace* enclosing() const { return enclosing_; }
  bool is_region() const { return purpose_ == Purpose::region; }
  /// True if a value can only be used as a hidden input. False in a function for a traced scalar of
  /// an enclosing trace, which would lose its weak type.
  bool is_outside(const Node& node) const;
  /// The next array input.
  NodeRef add_input(ir::Type type);
  /// The counter of a loop with a known number of steps: a weak i64 that the host does not know.
  /// `symbol` stands for it in the starts of slices.
  NodeRef add_counter(ir::Dim symbol, ir::Dim length);
  /// The next scalar argument, as a weak value of float64, int64 or bool.
  NodeRef add_scalar(const Scalar& value);
  /// Converts the weak scalar `node` to a dtype; null if it is computed from others. Throws
  /// DTypeError, naming `op`, if it does not fit.
  NodeRef scalar_in(const NodeRef& node, DType dtype, Site site, std::string_view op);
  /// weak_value() for the current call. Recorded ops may depend on it only through an Assumption.
  std::optional<Scalar> value_of(const Node& node) const;
  /// Returns compare_with_range() the value of a weak node, if it has one. The trace is then valid
  /// only for calls whose value is on that side.
  int assume_range_side(const NodeRef& node, DType dtype);
  /// The trace is then valid only while the variable holds `value`, its value from outside. Regions
  /// pass this on to their function's trace; one that is recorded outside of functions runs at
  /// once.
  void assume_value(Cell* cell, const NodeRef& value);
  /// From here on, the cell's value is the given input.
  void know(Cell* cell, NodeRef input) { captured_[cell] = std::move(input); }
  /// A hidden scalar input: each call takes a new key from the generator.
  NodeRef add_sample_key(std::shared_ptr<GeneratorState> generator);
  /// The hidden input for a captured value that is held by a cell.
  const NodeRef& capture(Cell* cell);

  struct Input {
    enum class Kind : std::uint8_t { array, scalar, capture, draw, counter };
    Kind kind;
    /// array: its index; scalar: index of the scalar argument; capture: of the cell; draw: of the
    /// generator
    std::uint32_t argument;
    NodeRef node;
  };
  const std::vector<Input>& inputs() const { return inputs_; }
  /// The counter as it enters starts of slices.
  struct Counter {
    const Node* node;
    ir::Dim symbol, length;
  };
  const std::optional<Counter>& counter() const { return counter_; }
  /// The condition that a weak value is on one side of an integer dtype's range, or has no value.
  struct Assumption {
    NodeRef node;
    DType dtype;
    std::optional<int> side;
    bool holds(std::span<const Scalar> arguments) const;
    friend bool operator==(const Assumption&, const Assumption&) = default;
  };
  const std::vector<Assumption>& assumptions() const { return assumptions_; }
  /// The condition that a variable holds a value.
  struct HeldValue {
    CellRef cell;
    NodeRef value;
    bool holds() const { return cell->node == value; }
  };
  const std::vector<HeldValue>& held_values() const { return held_values_; }
  const std::vector<CellRef>& captures() const { return captures_; }
  const std::vector<std::shared_ptr<GeneratorState>>& draws() const { return draws_; }
  /// The status is checked after each run.
  void add_check(Check check) { checks_.push_back(std::move(check)); }
  const std::vector<Check>& checks() const { return checks_; }

  /// The number of the next operation that is recorded.
  std::uint32_t number_operation() { return operation_count_++; }

  /// The trace that this thread records into; null outside.
  static Trace* current() {
    return open_scopes_.load(std::memory_order_relaxed) == 0 ? nullptr : of_thread();
  }

 private:
  friend class TraceScope;
  static Trace* of_thread();
  /// Scopes of all threads. While there are none, no thread has a current trace.
  static inline std::atomic<std::uint32_t> open_scopes_{0};
  NodeRef parameter(DType dtype, ir::Shape shape, bool scalar);

  std::uint64_t id_;
  Trace* enclosing_;
  Purpose purpose_;
  std::optional<Counter> counter_;
  std::vector<Input> inputs_;
  std::vector<CellRef> captures_;
  std::vector<std::shared_ptr<GeneratorState>> draws_;
  std::unordered_map<Cell*, NodeRef> captured_;
  std::vector<Scalar> scalars_;
  std::vector<Assumption> assumptions_;
  std::vector<HeldValue> held_values_;
  std::vector<Check> checks_;
  std::uint32_t array_count_ = 0;
  std::uint32_t operation_count_ = 0;
};

/// Makes a trace the thread's current one; null: operations are not traced meanwhile.
class TraceScope {
 public:
  explicit TraceScope(Trace* trace);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* before_;
};

/// The trace's nodes on which `roots` depend: inputs and constants, then operations as they were
/// recorded.
std::vector<Node*> reachable(const std::vector<NodeRef>& roots);

/// Throws TraceError: `what` reads a value, which does not exist while tracing.
[[noreturn]] void value_in_trace(const char* what, const Site& site);

}  // namespace heddle::frontend
