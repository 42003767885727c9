#pragma once

#include <memory>
#include <utility>

#include <nanobind/nanobind.h>

#include "frontend/python/gil.h"
#include "ir/base/fork_gate.h"

namespace heddle::python {

namespace nb = nanobind;

/// A Python object that C++ threads may release. Releasing takes the GIL, so it must happen outside
/// of fork sections, since a forking thread may hold the GIL. Nothing is released after the
/// interpreter has ended.
using Held = std::shared_ptr<const nb::object>;
inline Held hold(nb::object object) {
  return {new nb::object(std::move(object)), [](const nb::object* held) {
            ir::outside_fork_sections([held] {
              if (Py_IsInitialized() == 0) return;
              const AcquireGil acquire;
              delete held;
            });
          }};
}

}  // namespace heddle::python
