#include "frontend/python/known_bounds.h"

#include <algorithm>

#include "frontend/python/arguments.h"
#include "frontend/python/bindings.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

using Bounds = std::optional<std::pair<std::int64_t, std::int64_t>>;

void widen(Bounds& bounds, std::int64_t index) {
  if (!bounds) bounds.emplace(index, index);
  bounds->first = std::min(bounds->first, index);
  bounds->second = std::max(bounds->second, index);
}

/// Of NumPy's integers: one number or an array.
void widen_numpy(Bounds& bounds, nb::handle numbers) {
  const std::string kind = utf8_of(numbers.attr("dtype").attr("kind"));
  if ((kind != "i" && kind != "u") || to_integer(numbers.attr("size")) == 0) return;
  const nb::object signed_numbers = numbers.attr("astype")("int64");
  widen(bounds, to_integer(signed_numbers.attr("min")()));
  widen(bounds, to_integer(signed_numbers.attr("max")()));
}

void widen(Bounds& bounds, nb::handle indices) {
  if (nb::isinstance<nb::list>(indices) || nb::isinstance<nb::tuple>(indices)) {
    for (nb::handle each : nb::borrow<nb::object>(indices)) widen(bounds, each);
  } else if (PyRange_Check(indices.ptr()) != 0) {
    if (nb::len(indices) == 0) return;
    widen(bounds, to_integer(indices[0]));
    widen(bounds, to_integer(indices[-1]));
  } else if (PyLong_Check(indices.ptr()) != 0) {
    widen(bounds, to_integer(indices));
  } else if (is_numpy_array(indices) || is_numpy_scalar(indices)) {
    widen_numpy(bounds, indices);
  }
}

}  // namespace

Bounds known_bounds(nb::handle indices) {
  Bounds bounds;
  widen(bounds, indices);
  return bounds;
}

}  // namespace heddle::python
