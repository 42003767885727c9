#pragma once

namespace heddle::frontend {

/// Evaluates what the calling thread has recorded, so that `what` orders or waits for it. Throws
/// TraceError inside a trace.
void evaluate_recorded(const char* what);
/// The same where nothing may be thrown. Values that cannot be computed stay recorded.
void try_evaluate_recorded() noexcept;

}  // namespace heddle::frontend
