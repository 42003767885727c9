#pragma once

#include <string>
#include <string_view>

namespace heddle::ir {

/// Whether a folder that is missing is made.
enum class Folder : bool { is_there, is_made };

/// Writes a file that is made anew: what has its name is removed first, and what a link names is
/// left alone, so that nobody who may write to the folder directs the text elsewhere. errno's
/// value; 0 for success.
int write_new_file(const std::string& path, std::string_view text, Folder folder = Folder::is_made);

}  // namespace heddle::ir
