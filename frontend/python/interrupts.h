#pragma once

namespace heddle::python {

/// From now on Python's signal handlers run while the main thread waits for compilers. An exception
/// that they raise (KeyboardInterrupt) ends the wait. Call it from Python's main thread, or from a
/// thread that imports the module.
void raise_interrupts_in_waits();

}  // namespace heddle::python
