#pragma once

#include <string>

#include "runtime/cache/files.h"

/// Who may have written a file. What is in entries, bundles and saved programs is executed.
namespace heddle::runtime::cache {

/// "owner eve (1001), mode 0664"
std::string owner_and_mode(const FileFacts& facts);

/// Why users besides this one and root may have written a file, or may put one into a folder: "it
/// may be written by its group users (100): owner ..."; empty where they may not. A group counts as
/// the user's own where its number is the user's, as systems give every user a group; a folder of
/// files that only their owners may replace (mode 1777) as closed.
std::string why_foreign(const FileFacts& facts);

/// The same of the folder that a file lies in, with its name.
std::string why_foreign_folder(const std::string& file);

/// Why a file cannot be read or found, for people: the error, and owner and mode of the file, or of
/// the first folder above that is closed to this user.
std::string describe_error(const std::string& path, int error);

}  // namespace heddle::runtime::cache
