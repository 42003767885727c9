#pragma once

#include <string>

#include "runtime/cache/files.h"

/// Checks who may have written a file. The content of entries, bundles and saved programs is
/// executed.
namespace heddle::runtime::cache {

/// "owner eve (1001), mode 0664"
std::string owner_and_mode(const FileFacts& facts);

/// Why users other than this one and root may have written a file, or may put a file into a folder:
/// "it may be written by its group users (100): owner ..."; empty if they may not. A group whose
/// number equals the user's counts as the user's own, because many systems give every user a
/// private group. A folder with the sticky bit (mode 1777) counts as closed: only owners may
/// replace files in it.
std::string why_foreign(const FileFacts& facts);

/// The same for the folder that contains a file, with the folder's name.
std::string why_foreign_folder(const std::string& file);

/// Why a file cannot be read or found, for messages: the error, with owner and mode of the file, or
/// of the first parent folder that this user cannot enter.
std::string describe_error(const std::string& path, int error);

}  // namespace heddle::runtime::cache
