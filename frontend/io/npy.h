#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "heddle/array.h"

namespace heddle::frontend {

/// A .npy file: its header and, behind it, the elements in C order.
struct Npy {
  std::string header;
  std::vector<std::byte> data;
};
/// Evaluates and waits.
Npy npy_of(const Array& array, const SourceLocation& where);

/// Reads a .npy file from a stream, no further than its array goes. Throws FileError, and
/// OutOfMemory, naming the file.
Array read_npy(std::istream& stream, const std::string& name, const SourceLocation& where);

}  // namespace heddle::frontend
