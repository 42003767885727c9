#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "passes/rewrite/repeats.h"

namespace heddle::passes {

/// The operations that outputs need, without parameters and constants, in the graph's order.
struct OperationSequence {
  explicit OperationSequence(const ir::Graph& graph);

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<ir::ValueId> nodes;
  std::vector<std::size_t> position;  ///< in `nodes`, by node; or none
  /// Equal for operations that differ only in their operands and in the starts of slices.
  std::vector<std::uint64_t> signatures;
};

/// Where an operation of a step finds an operand. Constants and starts belong to step 0.
struct StepOperand {
  enum class Kind {
    step,      ///< operation `operation` of the step `delay` steps before; 0: of the same step
    outside,   ///< `value`, in all steps
    constant,  ///< constant `value`
    counted    ///< the integer `first` + step * `growth`, in the dtype of constant `value`
  };
  Kind kind = Kind::outside;
  std::size_t operation = 0, delay = 0;
  ir::ValueId value{};
  std::int64_t first = 0, growth = 0;
};

/// Steps of the same operations, one after the other: step k consists of the sequence's elements
/// begin + k * operations.size() and following.
struct RepeatedSteps {
  struct Operation {
    std::vector<StepOperand> operands;
    ir::Dims starts;                   ///< in step 0
    std::vector<std::int64_t> growth;  ///< of each start, from step to step
  };
  std::size_t begin = 0, count = 0;
  std::vector<Operation> operations;
  /// The first steps have no steps before them. This is what they use instead of result `first` of
  /// the step that would be `second` steps before step 0.
  std::map<std::pair<std::size_t, std::size_t>, ir::ValueId> before;

  std::size_t end() const { return begin + count * operations.size(); }
  std::size_t at(std::size_t step, std::size_t operation) const {
    return begin + step * operations.size() + operation;
  }
};

/// A step uses results of at most so many steps before it.
inline constexpr std::size_t most_delay = 4;

/// The steps around the middle of a repeat that have one pattern of operands; with as few values as
/// possible that are needed from step to step. nullopt if there are not at least `min_steps`.
std::optional<RepeatedSteps> repeated_steps(const ir::Graph& graph,
                                            const OperationSequence& sequence, Repeat repeat,
                                            std::size_t min_steps);

}  // namespace heddle::passes
