#pragma once

#include <cstdint>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "heddle/source_location.h"

namespace heddle::frontend {

/// Why a path cannot be read as a file: "cannot be opened: No such file or directory", "is a FIFO";
/// empty where it can. Pipes and devices have no end that can be known, and may wait for ever.
std::string why_not_input(const std::string& path);

/// Opens a file for reading. FileError, naming `op`, where it cannot be opened or is a folder, a
/// pipe or a device.
std::ifstream open_input(std::string_view op, const std::string& path, const SourceLocation& where);

/// OutOfMemory, naming `op` and the file, unless this process may still take so many bytes: what a
/// file says of itself, or is by its size on a disk that holds none of it, is not tried.
void require_memory(std::string_view op, const std::string& path, std::uint64_t bytes,
                    const SourceLocation& where);
[[noreturn]] void fail_for_memory(std::string_view op, const std::string& path,
                                  const SourceLocation& where);

/// Calls `read`, and turns what the standard library throws where there is no memory into
/// OutOfMemory, naming `op` and the file.
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
