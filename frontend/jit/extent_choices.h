#pragma once

#include <optional>
#include <vector>

#include "frontend/graph/open_extents.h"
#include "frontend/jit/jit_state.h"
#include "ir/types/dim.h"

namespace heddle::frontend {

/// What a traced function knows of extents that JitOptions::dynamic says may change, because its
/// ops depend on it: values of symbols, or that one is at least another. Other calls with the same
/// signature have other functions.
class ExtentChoices {
 public:
  /// Decides what `open` asks for as it is in this call, and puts it into the types of the inputs.
  /// False if the call does not say, because symbols are those of specs.
  bool decide(const OpenExtents& open, const JitOptions& options, CallState& call);
  /// Whether the extents of another call are such, too.
  bool hold(const JitOptions& options, const CallState& call) const;
  bool empty() const { return steps_.empty(); }

 private:
  /// `symbol` is replaced by `by`, a constant; or by the sum of `by` and `rest`, a symbol.
  struct Step {
    ir::SymbolId symbol;
    ir::Dim by;
    std::optional<ir::SymbolId> rest;
  };
  /// The values of all symbols, with those of `rest`. Nullopt if a step is not as in this call.
  std::optional<ir::SymbolBindings> values(const JitOptions& options, const CallState& call) const;
  void take(Step step, CallState& call);

  std::vector<Step> steps_;
};

/// trace_function(), again and again until no op asks for extents that the call knows.
TracedFunction trace_call(const JitOptions& options, CallState& call, const TraceBody& body);

}  // namespace heddle::frontend
