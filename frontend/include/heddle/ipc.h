#pragma once

#include <memory>
#include <string>

#include "heddle/array.h"

// Memory of a GPU that several processes of a machine use. Events for them are in heddle/stream.h.

namespace heddle {

/// An Array's memory for another process, which reads it.
struct SharedMemory {
  std::string handle;                 ///< a line of text for open_shared_memory()
  std::shared_ptr<const void> owner;  ///< hold it as long as the other process reads
};

/// Evaluates, and waits for the elements. DeviceError on the CPU, and for memory without a handle:
/// managed memory, memory of the driver's pool, memory of another process. ValueError without
/// elements; TraceError inside a trace.
SharedMemory share_memory(const Array& x, SourceLocation where = SourceLocation::current());

/// An Array that reads the memory of another process. That process keeps the memory, and its
/// elements as they are, until nothing here reads it any more. ValueError for a text that is no
/// handle. DeviceError if the GPU is not one of this process, the memory is gone, or this process
/// has made the handle.
Array open_shared_memory(const std::string& handle,
                         SourceLocation where = SourceLocation::current());

}  // namespace heddle
