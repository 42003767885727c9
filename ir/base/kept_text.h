#pragma once

#include <string_view>

namespace heddle::ir {

/// A copy of `text` that lives as long as the process. Equal texts share one copy. Used for file
/// names, which graphs' source locations point to. Thread-safe.
const char* kept_text(std::string_view text);

/// kept_text() of a file name that is a string constant in a binary. Fast if the thread has asked
/// for it before. The library that contains the constant may be unloaded afterwards.
const char* interned_file_name(const char* name);

}  // namespace heddle::ir
