#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/trace.h"

namespace heddle::frontend {

/// A function of a loop or a branch, traced.
class TracedBody {
 public:
  using Function = std::function<std::vector<Array>(std::vector<Array> inputs)>;

  /// Traces `function` on inputs of these types. With `counter`, the first input is the counter.
  /// Throws what the function throws, and TraceError, naming `op`, if it draws random numbers.
  TracedBody(std::string_view op, const Function& function, const std::vector<ir::Type>& inputs,
             const SourceLocation& where, std::optional<std::pair<ir::Dim, ir::Dim>> counter = {});

  const std::vector<NodeRef>& results() const { return results_; }
  /// Replaces a result, within the trace.
  void set_result(std::size_t i, const std::function<NodeRef(const NodeRef&)>& change);
  const std::vector<CellRef>& captures() const { return trace_->captures(); }
  /// What may fail in the function.
  const std::vector<Check>& checks() const { return trace_->checks(); }

  /// Makes the statuses of checks() carries, which keep the first failure: inputs and results after
  /// the first `carries` ones.
  void carry_statuses(std::size_t carries);
  /// Further inputs, which the function does not use: the statuses of a loop's body.
  void ignore_inputs(std::size_t count);
  /// Appends statuses to the results: -1 for `before` and `after` other ones.
  void return_statuses(std::size_t before, std::size_t after);

  /// The region. Its parameters are the counter (as extent and as value), if there is one, then
  /// the outside values, which must include the captured ones, then the inputs.
  ir::Region region(const std::vector<NodeRef>& outside) const;

 private:
  std::unique_ptr<Trace> trace_;
  std::vector<NodeRef> results_;
  /// Of the inputs, the last `statuses_` come after the first `carries_` in the region.
  std::size_t carries_ = 0, statuses_ = 0;
};

/// The values that functions use from outside, each once: operands of the call.
std::vector<NodeRef> outside_values(std::initializer_list<const TracedBody*> bodies);
std::vector<NodeRef> outside_values(const std::vector<TracedBody>& bodies);

}  // namespace heddle::frontend
