#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "passes/plan/kernel_plan.h"
#include "passes/program/step.h"

// What the passes ask of a call op. An op is one row in lowering.cpp.

namespace heddle::passes {

using ir::Graph;
using ir::ValueId;

/// A call that a rewrite meets: its node in the old graph, its operands in the new one.
struct OldCall {
  const Graph& graph;
  ValueId node;
  const std::vector<ValueId>& operands;
  const ir::CallData& data() const { return *graph.attributes(node).call; }
  ir::Location location() const { return graph.node(node).location; }
};

/// What a call's step is planned for.
struct CallTarget {
  const ir::Target& target;
  bool strict = false;
};

/// What a call that becomes a step asks of the program that is made.
class CallBuilder {
 public:
  CallBuilder(const Graph& graph, ValueId call, CallTarget target)
      : graph(graph), call(call), target(target) {}
  CallBuilder(const CallBuilder&) = delete;
  CallBuilder& operator=(const CallBuilder&) = delete;
  virtual ~CallBuilder() = default;

  /// Where a value is that is read.
  virtual CallBuffer array(ValueId value) = 0;
  /// Where result `index` is written. An unused result gets temporary memory.
  virtual CallBuffer result(std::size_t index) = 0;
  virtual BufferRef scratch(Dim bytes) = 0;
  /// Adds a kernel that the handler launches; its index in the program.
  virtual std::uint32_t kernel(KernelPlan plan) = 0;
  /// Switches that are off, by name.
  virtual const std::vector<std::string>& disabled() const = 0;

  const Graph& graph;
  const ValueId call;
  const CallTarget target;
};

/// A call as a step.
struct DescribedCall {
  CallStep step;
  Dim moved;  ///< bytes that it reads and writes
};

struct CallLowering {
  const ir::CallOp& (*op)() = nullptr;
  /// Values that stand for the results on a target: of the same call with operands as its step
  /// wants them, or of other ops. Null: the call as it is.
  std::vector<ValueId> (*lower)(Graph& graph, const OldCall& call,
                                const ir::Target& target) = nullptr;
  /// The arrays whose memory the step reads, one an operand. Null: of each operand what lies below
  /// reshapes.
  std::vector<ValueId> (*reads)(const Graph& graph, ValueId call,
                                const CallTarget& target) = nullptr;
  /// Makes the step. Null: the step's handler has the op's name; the step holds the arrays, the
  /// results, the op's attributes, and for ops on matrices "rows", "columns" and "batch".
  DescribedCall (*describe)(CallBuilder& builder) = nullptr;
  /// Floating-point operations of a step without `describe`. Null: not counted.
  Dim (*flops)(const Graph& graph, ValueId call) = nullptr;
};

/// The op's row; of an op that has none, one where all is null.
const CallLowering& lowering_of(const ir::CallOp& op);

/// Lowers every call of a graph for a target.
Graph lower_calls(const Graph& graph, const ir::Target& target);
/// The arrays whose memory a call's step reads, one an operand.
std::vector<ValueId> arrays_read(const Graph& graph, ValueId call, const CallTarget& target);
/// The step of a call.
DescribedCall describe_call(CallBuilder& builder);

/// The array whose memory is read for an operand in C order: reshapes of a C-ordered array are the
/// same.
ValueId whole_operand(const Graph& graph, ValueId operand);
/// Whether each extent is 1.
bool is_single(const ir::Shape& shape);

}  // namespace heddle::passes
