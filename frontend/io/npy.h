#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "heddle/array.h"

namespace heddle::frontend {

/// The contents of a .npy file: the header, then the elements in C order.
struct Npy {
  std::string header;
  std::vector<std::byte> data;
};
/// Evaluates and waits.
Npy npy_of(const Array& array, const SourceLocation& where);

/// Reads a .npy file from a stream, only up to the end of its array. Throws FileError and
/// OutOfMemory, naming the file.
Array read_npy(std::istream& stream, const std::string& name, const SourceLocation& where);

}  // namespace heddle::frontend
