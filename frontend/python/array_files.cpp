#include <cstring>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/io.h"

#include "frontend/array/access.h"
#include "frontend/io/input_file.h"
#include "frontend/python/bindings.h"
#include "frontend/python/device.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"
#include "frontend/python/paths.h"

namespace heddle::python {
namespace {

nb::object numpys(const char* function) { return nb::module_::import_("numpy").attr(function); }

/// An open file, recognised by having `method`. TypeError for anything else.
nb::object file_object(const Arguments& a, std::size_t i, const char* method) {
  if (!nb::hasattr(a[i], method)) a.mistyped(i, "a path or a file");
  return nb::borrow(a[i]);
}

/// The arrays of a .npz file, as an object with the interface of numpy.load's result.
nb::object archive(const nb::dict& arrays) {
  return nb::module_::import_("heddle._archive").attr("NpzFile")(arrays);
}

nb::object loaded_object(const nb::object& file, const SourceLocation& where) {
  const nb::object found = numpys("load")(file);
  if (is_numpy_array(found)) return wrap(from_python(found, std::nullopt, where));
  nb::dict arrays;
  for (nb::handle name : found.attr("files"))
    arrays[name] = wrap(from_python(found[name], std::nullopt, where));
  return archive(arrays);
}

/// Detects the format from the first bytes, as numpy.load does.
nb::object loaded_file(const std::string& path, const SourceLocation& where) {
  char start[4] = {};
  frontend::open_input("load", path, where).read(start, 4);
  if (std::memcmp(start, "PK\3\4", 4) != 0) return wrap(heddle::load(path, where));
  nb::dict arrays;
  for (auto& [name, array] : heddle::load_npz(path, where)) arrays[name.c_str()] = wrap(array);
  return archive(arrays);
}

nb::object save_array(const Arguments& a) {
  const Array value = asarray(a.operand(1));
  if (const auto path = path_of(a[0])) {
    compute(value);
    heddle::save(*path, value, a.where());
  } else {
    numpys("save")(file_object(a, 0, "write"), to_numpy(value, a.where()));
  }
  return nb::none();
}

NamedArrays named_arrays(const Arguments& a) {
  NamedArrays arrays;
  for (const Array& each : a.arrays(1)) arrays[fmt::format("arr_{}", arrays.size())] = each;
  for (const auto& [key, value] : nb::borrow<nb::dict>(a[2])) {
    const std::string name = nb::str(key).c_str();
    const ArrayObject* array = as_array(value);
    const Array made =
        array != nullptr ? array->read(a.where()) : from_python(value, std::nullopt, a.where());
    if (!arrays.emplace(name, made).second)
      raise(PyExc_ValueError, fmt::format("savez: two arrays have the name {}", name));
  }
  return arrays;
}

template <void (*save)(const std::string&, const NamedArrays&, SourceLocation)>
nb::object save_archive(const Arguments& a) {
  const NamedArrays arrays = named_arrays(a);
  if (const auto path = path_of(a[0])) {
    for (const auto& [name, array] : arrays) compute(array);
    save(*path, arrays, a.where());
    return nb::none();
  }
  nb::dict values;
  for (const auto& [name, array] : arrays) values[name.c_str()] = to_numpy(array, a.where());
  numpys(a.name().c_str())(file_object(a, 0, "write"), **values);
  return nb::none();
}

}  // namespace

void bind_array_files(Functions& functions) {
  functions.def("save(file: Any, arr: Operand, allow_pickle: bool = True) -> None",
                "Writes an array to a .npy file or to an open file: numpy.save. \".npy\" is "
                "appended to a path that does not end in it. A failed call leaves no partial "
                "file. Raises FileError.",
                [](const Arguments& a) { return save_array(a); });
  functions.def(
      "load(file: Any, mmap_mode: str | None = None, allow_pickle: bool = False) -> Array | "
      "dict[str, Array]",
      "The Array of a .npy file, or the arrays of a .npz file by name: numpy.load. `file` is a "
      "path or an open file. The result for a .npz file is a dict that also has NumPy's `files` "
      "and works in a with statement. The whole file is read, also with mmap_mode 'r' or 'c'.\n\n"
      "Raises FileError, and ValueError for a mmap_mode that writes.",
      [](const Arguments& a) {
        if (!a.is_none(1) && a.text(1) != "r" && a.text(1) != "c")
          raise(PyExc_ValueError,
                "load: writes would not reach the file; mmap_mode must be None, 'r' or 'c'");
        if (const auto path = path_of(a[0])) return loaded_file(*path, a.where());
        return loaded_object(file_object(a, 0, "read"), a.where());
      });
  functions.def("savez(file: Any, /, *args: Operand, **kwds: Operand) -> None",
                "Writes arrays to a .npz file or to an open file: numpy.savez. Their names are the "
                "keywords, or arr_0, arr_1 and so on. \".npz\" is appended to a path that does "
                "not end in it. A failed call leaves no partial file. Raises ValueError without "
                "arrays, FileError.\n\n"
                "Example: hd.savez('weights.npz', w=w, b=b)",
                [](const Arguments& a) { return save_archive<heddle::savez>(a); });
  functions.def("savez_compressed(file: Any, /, *args: Operand, **kwds: Operand) -> None",
                "Like savez, with compressed arrays: numpy.savez_compressed.",
                [](const Arguments& a) { return save_archive<heddle::savez_compressed>(a); });
}

}  // namespace heddle::python
