#include "frontend/python/known_bounds.h"

#include <algorithm>

#include "frontend/python/arguments.h"
#include "frontend/python/bindings.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

using Bounds = std::optional<std::pair<std::int64_t, std::int64_t>>;

void widen(Bounds& bounds, nb::handle list) {
  for (nb::handle each : nb::borrow<nb::object>(list)) {
    if (PyLong_Check(each.ptr()) == 0) {
      if (nb::isinstance<nb::list>(each) || nb::isinstance<nb::tuple>(each)) widen(bounds, each);
      continue;
    }
    const std::int64_t index = to_integer(each);
    if (!bounds) bounds.emplace(index, index);
    bounds->first = std::min(bounds->first, index);
    bounds->second = std::max(bounds->second, index);
  }
}

}  // namespace

Bounds known_bounds(nb::handle indices) {
  if (nb::isinstance<nb::list>(indices) || nb::isinstance<nb::tuple>(indices)) {
    Bounds bounds;
    widen(bounds, indices);
    return bounds;
  }
  if (!is_numpy_array(indices) || to_integer(indices.attr("size")) == 0) return std::nullopt;
  const std::string kind = utf8_of(indices.attr("dtype").attr("kind"));
  if (kind != "i" && kind != "u") return std::nullopt;
  const nb::object signed_indices = indices.attr("astype")("int64", nb::arg("copy") = false);
  return std::pair(to_integer(signed_indices.attr("min")()),
                   to_integer(signed_indices.attr("max")()));
}

}  // namespace heddle::python
