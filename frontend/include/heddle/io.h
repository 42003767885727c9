#pragma once

#include <map>
#include <string>

#include "heddle/array.h"

namespace heddle {

/// Reads a .npy file (format 1, 2 and 3; any byte order; Fortran order too). bfloat16 is written
/// and read as the 2-byte void that ml_dtypes uses ('<V2'). FileError for anything else.
Array load(const std::string& path, SourceLocation where = SourceLocation::current());
/// Writes a .npy file that numpy.load reads; evaluates and waits. The file appears whole or not
/// at all. FileError.
void save(const std::string& path, const Array& array,
          SourceLocation where = SourceLocation::current());

/// Arrays by their names.
using NamedArrays = std::map<std::string, Array>;
/// Reads a .npz file, an archive of .npy files as numpy.savez and numpy.savez_compressed write
/// them. FileError for anything else, and where Heddle was built without libzip.
NamedArrays load_npz(const std::string& path, SourceLocation where = SourceLocation::current());
/// numpy.savez: writes arrays into a .npz file, uncompressed; evaluates and waits. The file appears
/// whole or not at all. ValueError for no arrays; FileError, also where Heddle was built without
/// libzip.
void savez(const std::string& path, const NamedArrays& arrays,
           SourceLocation where = SourceLocation::current());
/// numpy.savez_compressed: the same, deflated.
void savez_compressed(const std::string& path, const NamedArrays& arrays,
                      SourceLocation where = SourceLocation::current());

/// What print() shows in NumPy 2: str(x).
std::string to_string(const Array& array, SourceLocation where = SourceLocation::current());
/// repr(x): "array([1., 2.], dtype=float32)".
std::string repr(const Array& array, SourceLocation where = SourceLocation::current());

/// As numpy.set_printoptions.
struct PrintOptions {
  int precision = 8;
  std::int64_t threshold = 1000;  ///< more elements than this are summarised
  int edgeitems = 3;              ///< shown at each end of an axis when summarised
  int linewidth = 75;
  bool suppress = false;  ///< no scientific notation for small values
};
void set_print_options(const PrintOptions& options);
PrintOptions print_options();

}  // namespace heddle
