#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "heddle/source_location.h"

namespace heddle::frontend {

/// Writes a file, which appears whole or not at all: under a temporary name, which then becomes the
/// path. FileError, naming `op`.
void write_whole(std::string_view op, const std::string& path, const SourceLocation& where,
                 const std::function<void(std::ostream&)>& write);

}  // namespace heddle::frontend
