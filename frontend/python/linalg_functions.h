#pragma once

#include "frontend/python/function.h"

// Functions of heddle.linalg, by topic.

namespace heddle::python {

void bind_equations(Functions& functions, nb::module_& module);        ///< solve, inv, det ...
void bind_factors(Functions& functions, nb::module_& module);          ///< qr, lu_factor ...
void bind_linalg_products(Functions& functions, nb::module_& module);  ///< matmul, multi_dot ...

}  // namespace heddle::python
