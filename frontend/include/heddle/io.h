#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heddle/array.h"

namespace heddle {

/// numpy.load of a .npy file (format 1, 2 and 3; any byte order; C or Fortran order). bfloat16 is
/// stored as the 2-byte void that ml_dtypes uses ('<V2'). FileError for anything else.
Array load(const std::string& path, SourceLocation where = SourceLocation::current());
/// numpy.save: writes a .npy file; ".npy" is appended to a path that does not end in it. Evaluates
/// and waits. The file is replaced atomically: it appears complete or not at all. FileError.
void save(const std::string& path, const Array& array,
          SourceLocation where = SourceLocation::current());

/// Arrays by their names.
using NamedArrays = std::map<std::string, Array>;
/// Reads a .npz file, an archive of .npy files as written by numpy.savez and
/// numpy.savez_compressed. FileError for anything else, and if libzip is not found.
NamedArrays load_npz(const std::string& path, SourceLocation where = SourceLocation::current());
/// numpy.savez: writes arrays into a .npz file, uncompressed; ".npz" is appended to a path that
/// does not end in it. Evaluates and waits. The file appears complete or not at all. ValueError for
/// no arrays; FileError, also if libzip is not found.
void savez(const std::string& path, const NamedArrays& arrays,
           SourceLocation where = SourceLocation::current());
/// numpy.savez_compressed: the same, deflated.
void savez_compressed(const std::string& path, const NamedArrays& arrays,
                      SourceLocation where = SourceLocation::current());

/// Options of loadtxt, with NumPy's names.
struct LoadTextOptions {
  DType dtype = DType::f64;
  std::vector<std::string> comments = {"#"};  ///< start a comment, up to the end of the line
  std::optional<char> delimiter = {};         ///< between fields; if absent, any whitespace
  std::optional<char> quote = {};             ///< around fields that contain delimiters
  std::int64_t skiprows = 0;                  ///< number of lines to skip, comments included
  std::optional<std::vector<std::int64_t>> usecols = {};  ///< fields to read; negative from the end
  bool unpack = false;                                    ///< transpose the result
  int ndmin = 0;  ///< minimum number of axes: 0, 1 or 2; further axes of extent 1 are dropped
  std::optional<std::int64_t> max_rows = {};  ///< maximum number of rows, empty lines not counted
};
/// numpy.loadtxt: reads rows of numbers from text. Empty lines are skipped, and whitespace around
/// fields is removed. Integers are whole numbers; a bool is a whole number, true unless 0; complex
/// numbers are written "1+2j", with or without parentheses. FileError if the file cannot be read.
/// ValueError, with line and field, for a field that is not a number of the dtype, rows of
/// different lengths, a missing field, and options out of range.
Array loadtxt(const std::string& path, const LoadTextOptions& options = {},
              SourceLocation where = SourceLocation::current());
/// The same from a stream.
Array loadtxt(std::istream& stream, const LoadTextOptions& options = {},
              SourceLocation where = SourceLocation::current());

/// Options of savetxt, with NumPy's names.
struct SaveTextOptions {
  /// printf formats: one for all elements, one for each column, or a single string with one
  /// conversion for each column. Conversions: %d %i %u %x %X %o %e %E %f %F %g %G, and %s for the
  /// shortest digits that read back exactly. A complex number takes one conversion for both parts,
  /// " (re+imj)", or two conversions.
  std::vector<std::string> formats = {"%.18e"};
  std::string delimiter = " ";
  std::string newline = "\n";
  std::string header = {};  ///< before the data, with `comments` at the start of each line
  std::string footer = {};  ///< after the data, in the same way
  std::string comments = "# ";
};
/// numpy.savetxt: writes a vector (one element a line) or a matrix as text. Evaluates and waits.
/// The file appears complete or not at all. ShapeError for other arrays; ValueError for formats
/// that do not fit the columns, and for NaN or infinity with an integer conversion; DTypeError for
/// floats in a base other than ten; FileError.
void savetxt(const std::string& path, const Array& x, const SaveTextOptions& options = {},
             SourceLocation where = SourceLocation::current());
/// The same to a stream.
void savetxt(std::ostream& stream, const Array& x, const SaveTextOptions& options = {},
             SourceLocation where = SourceLocation::current());

/// numpy's str(x), as print() shows it in NumPy 2. Evaluates and waits.
std::string to_string(const Array& array, SourceLocation where = SourceLocation::current());
/// numpy's repr(x): "array([1., 2.], dtype=float32)". Evaluates and waits.
std::string repr(const Array& array, SourceLocation where = SourceLocation::current());

/// Options of numpy.set_printoptions.
struct PrintOptions {
  int precision = 8;
  std::int64_t threshold = 1000;  ///< arrays with more elements are summarised
  int edgeitems = 3;              ///< elements shown at each end of an axis when summarised
  int linewidth = 75;
  bool suppress = false;  ///< no scientific notation for small numbers
};
void set_print_options(const PrintOptions& options);
PrintOptions print_options();

}  // namespace heddle
