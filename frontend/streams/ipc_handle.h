#pragma once

#include <string_view>

#include "runtime/device/process_sharing.h"

namespace heddle::frontend {

/// The handle that the bytes are. ValueError for another number of bytes; `what` begins its text.
runtime::IpcHandle ipc_handle_of(const char* what, std::string_view bytes);

}  // namespace heddle::frontend
