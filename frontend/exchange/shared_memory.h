#pragma once

#include <string>

#include "frontend/exchange/exported_memory.h"
#include "frontend/exchange/foreign_memory.h"

namespace heddle::frontend {

/// The line of text with which another process opens the memory. DeviceError for memory without a
/// handle, ValueError without elements.
std::string handle_of(const ExportedMemory& exported, DType dtype);

/// The memory of a handle, which is closed by its release. ValueError for a text that is no handle;
/// DeviceError.
ForeignMemory memory_of_handle(const std::string& handle);

}  // namespace heddle::frontend
