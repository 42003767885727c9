#pragma once

#include <optional>

#include "ir/types/call.h"
#include "ir/types/dim.h"

// Properties of the ops that run their regions in turn: control.scan, control.while and
// control.switch (ir/calls/calls.h).

namespace heddle::ir {

/// The number of steps of a control.scan.
Dim scan_length(const CallData& scan);

/// The symbol that stands for the counter in the region of a control.scan: the starts of slices may
/// contain it. nullopt for other calls.
std::optional<SymbolId> scan_counter(const CallData& call);

}  // namespace heddle::ir
