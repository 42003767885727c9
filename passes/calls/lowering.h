#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "passes/groups/group.h"
#include "passes/plan/items.h"
#include "passes/plan/kernel_plan.h"
#include "passes/program/step.h"

// Properties of call ops that the passes need. Each op has one row in lowering.cpp.

namespace heddle::passes {

using ir::Graph;
using ir::ValueId;

/// A call during a rewrite: its node in the old graph, its operands in the new one.
struct OldCall {
  const Graph& graph;
  ValueId node;
  const std::vector<ValueId>& operands;
  const ir::CallData& data() const { return *graph.attributes(node).call; }
  ir::Location location() const { return graph.node(node).location; }
};

/// The target and rounding mode that a call's step is planned for.
struct CallTarget {
  const ir::Target& target;
  bool strict = false;
  std::optional<ir::SymbolId> counter = {};  ///< of the loop whose region the graph is
};

/// An input of a region's program.
struct BodyInput {
  bool donated = false;  ///< the program may overwrite its memory
  bool aligned = false;  ///< to 16 bytes
};

/// What the description of a call's step needs from the program under construction.
class CallBuilder {
 public:
  CallBuilder(const Graph& graph, ValueId call, CallTarget target)
      : graph(graph), call(call), target(target) {}
  CallBuilder(const CallBuilder&) = delete;
  CallBuilder& operator=(const CallBuilder&) = delete;
  virtual ~CallBuilder() = default;

  /// The buffer of a value that the step reads.
  virtual CallBuffer array(ValueId value) = 0;
  /// The buffer for result `index`. An unused result gets temporary memory.
  virtual CallBuffer result(std::size_t index) = 0;
  virtual BufferRef scratch(Dim bytes) = 0;
  /// Adds a kernel that the handler launches. Returns its index in the program.
  virtual std::uint32_t kernel(KernelPlan plan) = 0;
  /// Whether memory that the step reads or writes is 16-byte aligned.
  virtual bool is_aligned(const BufferRef& buffer) const = 0;
  /// Plans a region as a program of its own, with an input for each parameter. Its kernels are
  /// added to those of the whole program. `aligned_outputs` says of each result whether its memory
  /// is 16-byte aligned.
  virtual std::shared_ptr<const Program> body(const ir::Region& region,
                                              const std::vector<BodyInput>& inputs,
                                              const std::vector<bool>& aligned_outputs) = 0;
  /// Names of the switches that are off.
  virtual const std::vector<std::string>& disabled() const = 0;

  const Graph& graph;
  const ValueId call;
  const CallTarget target;
};

/// The step of a call.
struct DescribedCall {
  CallStep step;
  Dim moved;  ///< bytes read and written
};

/// Lowers a group of a region to scalar instructions (passes/lower/lower.h).
using LowerGroup = std::function<KernelPlan(const Graph& region, const Group& group)>;

struct CallLowering {
  const ir::CallOp& (*op)() = nullptr;
  /// Returns values that replace the call's results on a target: results of the same call with
  /// operands in the form that its step needs, or of other ops. Null: the call stays as it is.
  std::vector<ValueId> (*lower)(Graph& graph, const OldCall& call,
                                const ir::Target& target) = nullptr;
  /// The arrays that the step reads from memory, one for each operand. Null: each operand, below
  /// reshapes.
  std::vector<ValueId> (*reads)(const Graph& graph, ValueId call,
                                const CallTarget& target) = nullptr;
  /// Builds the step. Null: the handler has the op's name, and the step has the arrays, the
  /// results, the op's attributes, and for ops with core axes the values "rows", "columns" and
  /// "batch"; of operands after the first "rows_1", "columns_1" and so on.
  DescribedCall (*describe)(CallBuilder& builder) = nullptr;
  /// How the call works on one item of its batch, if its step is a generated kernel that fuses with
  /// elementwise ops before and after it. Null, or nullopt: the call is a step of its own.
  std::optional<ItemCall> (*item)(const Graph& graph, ValueId call,
                                  const ir::Target& target) = nullptr;
  /// The call's kernel, if one kernel computes the call and fuses with nothing. The space holds its
  /// addresses. Null: the call is a step of the runtime's, or of `item`.
  KernelPlan (*kernel)(const Graph& graph, ValueId call, IndexSpace& space,
                       const LowerGroup& lower) = nullptr;
  /// Number of floating-point operations, for steps without `describe`. Null: not counted.
  Dim (*flops)(const Graph& graph, ValueId call) = nullptr;
  /// Only the `lower` of another op makes this call; no function of the frontend records it.
  bool only_lowered = false;
};

/// The op's row. For an op without a row: a row with null functions.
const CallLowering& lowering_of(const ir::CallOp& op);

/// The ItemCall of a value that is a call with one; else nullopt.
std::optional<ItemCall> item_call(const Graph& graph, ValueId value, const ir::Target& target);

/// The kernel of a call with a `kernel`; else nullopt.
std::optional<KernelPlan> call_kernel(const Graph& graph, ValueId call, IndexSpace& space,
                                      const LowerGroup& lower);

/// Lowers every call of a graph for a target.
Graph lower_calls(const Graph& graph, const ir::Target& target);
/// The arrays that a call's step reads from memory, one for each operand.
std::vector<ValueId> arrays_read(const Graph& graph, ValueId call, const CallTarget& target);
/// The step of a call.
DescribedCall describe_call(CallBuilder& builder);

/// The array in memory whose elements, in C order, are those of the operand: the value below
/// reshapes.
ValueId strip_reshapes(const Graph& graph, ValueId operand);
/// Whether each extent is 1.
bool is_single(const ir::Shape& shape);

}  // namespace heddle::passes
