#pragma once

#include <optional>

#include "ir/types/call.h"
#include "ir/types/dim.h"

// Properties of the ops that run their regions in turn: control.scan, control.while,
// control.switch and control.elements (ir/calls/calls.h).

namespace heddle::ir {

/// The number of steps of a control.scan, or of a counted control.elements.
Dim scan_length(const CallData& scan);

/// Whether a control.elements takes `length` steps, rather than has a condition.
bool is_counted(const CallData& element_loop);

/// Whether a control.elements stacks its result, rather than returns a carry.
bool is_stacked(const CallData& element_loop);

/// The symbol that stands for the counter in the region of a control.scan: the starts of slices may
/// contain it. nullopt for other calls.
std::optional<SymbolId> scan_counter(const CallData& call);

}  // namespace heddle::ir
