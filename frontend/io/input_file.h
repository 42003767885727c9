#pragma once

#include <cstdint>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "heddle/source_location.h"

namespace heddle::frontend {

/// The reason why a path cannot be read as a file, such as "cannot be opened: No such file or
/// directory"; empty if it can. Pipes and devices are refused, since their end is unknown and
/// reading may block forever.
std::string why_not_input(const std::string& path);

/// Opens a file for reading. FileError, naming `op`, if it cannot be opened or is a folder, a pipe
/// or a device.
std::ifstream open_input(std::string_view op, const std::string& path, const SourceLocation& where);

/// Throws OutOfMemory, naming `op` and the file, if this process cannot allocate so many bytes.
/// Otherwise a false size in a file's header, or a sparse file, would be tried.
void require_memory(std::string_view op, const std::string& path, std::uint64_t bytes,
                    const SourceLocation& where);
[[noreturn]] void fail_for_memory(std::string_view op, const std::string& path,
                                  const SourceLocation& where);

/// Calls `read`, and converts the standard library's out-of-memory exceptions to OutOfMemory,
/// naming `op` and the file.
template <class Read>
auto with_memory(std::string_view op, const std::string& path, const SourceLocation& where,
                 const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  fail_for_memory(op, path, where);
}

}  // namespace heddle::frontend
