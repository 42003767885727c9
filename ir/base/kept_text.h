#pragma once

#include <string_view>

namespace heddle::ir {

/// A copy of a text that lives as long as the process, the same one for equal texts: names of
/// files, which places in graphs point at. Thread-safe.
const char* kept_text(std::string_view text);

/// The copy of a file's name that a compiler made a constant of. Fast where the thread has asked
/// for it before. The library that the constant lies in may be closed afterwards.
const char* kept_file_name(const char* name);

}  // namespace heddle::ir
