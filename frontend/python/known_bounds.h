#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <nanobind/nanobind.h>

namespace heddle::python {

/// The least and the greatest of the integers in a list, with its nested lists, or in a NumPy
/// array: indices that can be checked before anything runs. nullopt if there are none, and for
/// anything else. As in NumPy, elements of uint64 beyond the range of int64 are negative.
std::optional<std::pair<std::int64_t, std::int64_t>> known_bounds(nanobind::handle indices);

}  // namespace heddle::python
