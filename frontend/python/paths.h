#pragma once

#include <optional>
#include <string>

#include <nanobind/nanobind.h>

namespace heddle::python {

namespace nb = nanobind;

/// The bytes of a bytes object, or a str as UTF-8; TypeError for anything else.
std::string bytes_of(nb::handle value);
/// A path (a str or an object with __fspath__) in the file system's encoding; none for anything
/// else. ValueError for a path with a null character.
std::optional<std::string> path_of(nb::handle value);

}  // namespace heddle::python
