#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "heddle/source_location.h"

namespace heddle::frontend {

/// Writes a file, which appears whole or not at all: under a temporary name, which then becomes the
/// path. It is on the disk when this returns. FileError, naming `op`.
void write_whole(std::string_view op, const std::string& path, const SourceLocation& where,
                 const std::function<void(std::ostream&)>& write);

/// Waits until a file, and its name, are on the disk, where the file system can say so.
void make_lasting(const std::string& path);

}  // namespace heddle::frontend
