#pragma once

namespace heddle::python {

/// From now on Python's signal handlers run while the main thread waits for compilers, and what
/// they raise (KeyboardInterrupt) ends the wait. Called by Python's main thread or one that
/// imports.
void raise_interrupts_in_waits();

}  // namespace heddle::python
