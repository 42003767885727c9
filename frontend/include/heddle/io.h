#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

/// How loadtxt reads.
struct LoadTextOptions {
  DType dtype = DType::f64;
  std::vector<std::string> comments = {"#"};  ///< what begins a comment, which ends with its line
  std::optional<char> delimiter = {};         ///< between fields; when absent any blanks
  std::optional<char> quote = {};             ///< around fields that hold delimiters
  std::int64_t skiprows = 0;                  ///< lines that are not read, comments among them
  std::optional<std::vector<std::int64_t>> usecols = {};  ///< which fields; negative from the end
  bool unpack = false;                                    ///< the result is transposed
  int ndmin = 0;  ///< at least so many axes are left: 0, 1 or 2. Others of extent 1 are dropped
  std::optional<std::int64_t> max_rows = {};  ///< that are not empty
};
/// numpy.loadtxt: rows of numbers, as text. Empty lines are left out, and fields are stripped of
/// blanks; integers are whole numbers, bools whole numbers other than 0, complex ones as "1+2j"
/// with or without parentheses. FileError where the file cannot be read; ValueError, with line and
/// field, for a field that is no number of the dtype, rows of different length, a field that is not
/// there, and options out of range.
Array loadtxt(const std::string& path, const LoadTextOptions& options = {},
              SourceLocation where = SourceLocation::current());
/// The same from a stream.
Array loadtxt(std::istream& stream, const LoadTextOptions& options = {},
              SourceLocation where = SourceLocation::current());

/// How savetxt writes.
struct SaveTextOptions {
  /// As printf's: one for all elements, one for each column, or a single one with a conversion for
  /// each column. %d %i %u %x %X %o %e %E %f %F %g %G, and %s for the fewest digits that read back.
  /// Complex numbers take one for both parts, " (re+imj)", or two conversions each.
  std::vector<std::string> formats = {"%.18e"};
  std::string delimiter = " ";
  std::string newline = "\n";
  std::string header = {};  ///< in front, with `comments` before each of its lines
  std::string footer = {};  ///< behind
  std::string comments = "# ";
};
/// numpy.savetxt: a vector, an element a line, or a matrix, as text; evaluates and waits. The file
/// appears whole or not at all. ShapeError for other arrays, ValueError for formats that do not fit
/// the columns and for NaN and infinities as whole numbers, DTypeError for floats in bases other
/// than ten; FileError.
void savetxt(const std::string& path, const Array& x, const SaveTextOptions& options = {},
             SourceLocation where = SourceLocation::current());
/// The same to a stream.
void savetxt(std::ostream& stream, const Array& x, const SaveTextOptions& options = {},
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
