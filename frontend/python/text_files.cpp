#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "heddle/io.h"

#include "frontend/io/atomic_file.h"
#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"
#include "frontend/python/paths.h"

namespace heddle::python {
namespace {

/// The Python module that reads and writes files with this suffix; null for plain files.
const char* compression_of(const std::string& path) {
  if (path.ends_with(".gz")) return "gzip";
  if (path.ends_with(".bz2")) return "bz2";
  if (path.ends_with(".xz") || path.ends_with(".lzma")) return "lzma";
  return nullptr;
}

nb::object opened(const char* module, const std::string& path, const char* mode) {
  return nb::module_::import_(module).attr("open")(path.c_str(), mode);
}

/// The text of a file object, or of a sequence of lines.
std::string text_of(nb::handle source) {
  if (nb::hasattr(source, "read")) return bytes_of(source.attr("read")());
  std::string text;
  for (nb::handle each : nb::borrow<nb::object>(source)) {
    std::string line = bytes_of(each);
    while (line.ends_with('\n')) line.pop_back();
    text += line + '\n';
  }
  return text;
}

/// One character, or None.
std::optional<char> character(const Arguments& a, std::size_t i) {
  if (a.is_none(i)) return std::nullopt;
  const std::string text = a.text(i);
  if (text.size() != 1) a.mistyped(i, "one ASCII character");
  return text[0];
}

void check_encoding(const Arguments& a, std::size_t i) {
  if (a.is_none(i)) return;
  const std::string name = a.text(i);
  if (name == "utf-8" || name == "utf8" || name == "ascii" || name == "latin1" || name == "bytes")
    return;
  raise(PyExc_ValueError, fmt::format("the encoding {} is not supported; text is UTF-8", name));
}

LoadTextOptions options_of(const Arguments& a) {
  check_encoding(a, 9);
  LoadTextOptions options;
  options.dtype = a.dtype(1, DType::f64);
  options.comments.clear();
  if (nb::isinstance<nb::str>(a[2]) || nb::isinstance<nb::bytes>(a[2])) {
    options.comments.push_back(bytes_of(a[2]));
  } else if (!a.is_none(2)) {
    for (nb::handle each : nb::borrow<nb::object>(a[2])) options.comments.push_back(bytes_of(each));
  }
  options.delimiter = character(a, 3);
  options.skiprows = a.integer(5);
  if (!a.is_none(6)) options.usecols = a.integers(6);
  options.unpack = a.flag(7);
  const std::int64_t ndmin = a.integer(8);
  options.ndmin = ndmin < 0 || ndmin > 2 ? -1 : static_cast<int>(ndmin);
  options.max_rows = a.optional_integer(10);
  options.quote = character(a, 11);
  return options;
}

/// NumPy calls the converters, which are functions of the text of a field.
Array converted(const Arguments& a) {
  const nb::object read = nb::module_::import_("heddle._conversions").attr("loadtxt_converted");
  nb::list arguments;
  for (std::size_t i = 0; i < 12; ++i) arguments.append(a[i]);
  return from_python(read(*nb::tuple(arguments)), std::nullopt, a.where());
}

Array loaded(const Arguments& a) {
  if (!a.is_none(4)) return converted(a);
  const LoadTextOptions options = options_of(a);
  const auto path = path_of(a[0]);
  if (path && compression_of(*path) == nullptr) return loadtxt(*path, options, a.where());
  const nb::object file = path ? opened(compression_of(*path), *path, "rb") : nb::borrow(a[0]);
  std::istringstream stream(text_of(file));
  if (path) file.attr("close")();
  return loadtxt(stream, options, a.where());
}

SaveTextOptions saving_of(const Arguments& a, std::size_t columns) {
  check_encoding(a, 8);
  SaveTextOptions options;
  if (nb::isinstance<nb::str>(a[2])) {
    options.formats = {a.text(2)};
  } else {
    if (!PyTuple_Check(a[2].ptr()) && !PyList_Check(a[2].ptr()))
      raise(PyExc_ValueError, "savetxt: fmt must be a string or a list of strings");
    options.formats.clear();
    for (nb::handle each : nb::borrow<nb::object>(a[2])) options.formats.push_back(bytes_of(each));
    if (options.formats.size() != columns) {
      raise(PyExc_ValueError, fmt::format("savetxt: fmt has {} formats for {} columns",
                                          options.formats.size(), columns));
    }
  }
  options.delimiter = a.text(3);
  options.newline = a.text(4);
  options.header = a.text(5);
  options.footer = a.text(6);
  options.comments = a.text(7);
  return options;
}

/// Checks that the UTF-8 text can be written in the requested encoding.
std::string encoded(const Arguments& a, std::size_t i, std::string text) {
  const bool others = std::any_of(text.begin(), text.end(), [](char c) { return c < 0; });
  if (!others || a.is_none(i) || a.text(i).starts_with("utf")) return text;
  raise(PyExc_ValueError,
        fmt::format("savetxt: non-ASCII text can only be written as utf-8, not {}", a.text(i)));
}

/// Writes text to a file object that accepts str, or else bytes.
void write_to(const nb::object& file, const std::string& text) {
  try {
    file.attr("write")(nb::str(text.data(), text.size()));
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    file.attr("write")(nb::bytes(text.data(), text.size()));
  }
}

void saved(const Arguments& a) {
  compute(a.array(1));
  const Array& x = a.array(1);
  const std::size_t columns = x.ndim() == 2 ? static_cast<std::size_t>(x.shape(1)) : 1;
  const SaveTextOptions options = saving_of(a, columns);
  const auto path = path_of(a[0]);
  std::ostringstream stream;
  savetxt(stream, x, options, a.where());
  const std::string text = encoded(a, 8, stream.str());
  if (!path) return write_to(nb::borrow(a[0]), text);
  const char* const compression = compression_of(*path);
  const std::string content =
      compression == nullptr ? text
                             : bytes_of(nb::module_::import_(compression)
                                            .attr("compress")(nb::bytes(text.data(), text.size())));
  frontend::write_whole("savetxt", *path, a.where(), [&](std::ostream& file) { file << content; });
}

}  // namespace

void bind_text_files(Functions& functions) {
  functions.def(
      "loadtxt(fname: Any, dtype: DTypeLike | None = None, comments: str | Sequence[str] | None "
      "= '#', delimiter: str | None = None, converters: Callable | dict[int, Callable] | None "
      "= None, skiprows: int = 0, usecols: int | Sequence[int] | None = None, unpack: bool = "
      "False, ndmin: int = 0, encoding: str | "
      "None = None, max_rows: int | None = None, *, quotechar: str | None = None) -> Array",
      "An array of the numbers in a text file, one row for each line: numpy.loadtxt. fname is a "
      "path, an open file, or a sequence of lines. Paths that end in .gz, .bz2 or .xz are "
      "decompressed. converters, one function or a dict of them by column, are called by NumPy "
      "with "
      "the text of each field. Raises FileError, and ValueError, with line and field, for text "
      "that is not a "
      "number of the dtype and for rows of different lengths.\n\n"
      "Example: hd.loadtxt('points.csv', delimiter=',', skiprows=1)",
      [](const Arguments& a) { return loaded(a); });
  functions.def(
      "savetxt(fname: Any, X: Array, fmt: str | Sequence[str] = '%.18e', delimiter: str = ' ', "
      "newline: str = '\\n', header: str = '', footer: str = '', comments: str = '# ', encoding: "
      "str | None = None) -> None",
      "Writes a vector or a matrix as text to a path or an open file: numpy.savetxt. A failed call "
      "leaves no partial file. Paths that end in .gz, .bz2 or .xz are compressed. Raises "
      "ShapeError for other arrays, ValueError for formats that do not fit, FileError.\n\n"
      "Example: hd.savetxt('points.csv', x, fmt='%.6g', delimiter=',')",
      [](const Arguments& a) {
        saved(a);
        return nb::none();
      });
}

}  // namespace heddle::python
