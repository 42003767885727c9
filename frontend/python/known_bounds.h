#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <nanobind/nanobind.h>

namespace heddle::python {

/// The least and the greatest integer of indices that can be checked before anything runs: a number
/// of Python or NumPy, a range, a NumPy array, or a list of these and of lists. nullopt if there is
/// none, and for anything else. As in NumPy, elements of uint64 beyond the range of int64 are
/// negative.
std::optional<std::pair<std::int64_t, std::int64_t>> known_bounds(nanobind::handle indices);

}  // namespace heddle::python
