#include "frontend/streams/ipc_handle.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::frontend {

runtime::IpcHandle ipc_handle_of(const char* what, std::string_view bytes) {
  runtime::IpcHandle handle{};
  if (bytes.size() != handle.size()) {
    throw ValueError(fmt::format("{}: a handle of another process has {} bytes, not {}", what,
                                 handle.size(), bytes.size()));
  }
  std::ranges::copy(bytes, handle.begin());
  return handle;
}

}  // namespace heddle::frontend
