#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "heddle/source_location.h"

namespace heddle::frontend {

/// Writes a file atomically: it appears complete or not at all. Writes a temporary file and renames
/// it. The file is on disk when this returns. FileError, naming `op`.
void write_whole(std::string_view op, const std::string& path, const SourceLocation& where,
                 const std::function<void(std::ostream&)>& write);

/// The path with the suffix appended, unless it ends in it: the names of numpy.save.
std::string with_suffix(const std::string& path, std::string_view suffix);

/// Flushes a file and its directory entry to disk, if the file system supports it.
void sync_to_disk(const std::string& path);

}  // namespace heddle::frontend
