#pragma once

#include <string>
#include <string_view>

namespace heddle::ir {

/// Whether write_new_file() creates a missing folder.
enum class Folder : bool { is_there, is_made };

/// Creates a file and writes `text` to it. An existing file of that name is removed first, and a
/// symbolic link is not followed, so that nobody with write access to the folder can redirect the
/// text. Returns errno's value; 0 for success.
int write_new_file(const std::string& path, std::string_view text, Folder folder = Folder::is_made);

}  // namespace heddle::ir
