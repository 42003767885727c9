#pragma once

#include <cstdint>

#include "heddle/dtype.h"

namespace heddle::runtime {

/// Sorts each of `rows` rows of `length` keys into `out`, as ir::calls::sort says; with `indices`
/// `out` takes int64 places instead, as ir::calls::argsort says. `scratch` is as large as `out`, or
/// with `indices` as passes::scratch_bytes says. Rows and, within a long one, parts are sorted on
/// several threads. DTypes without an order throw InternalError.
void sort_rows(DType dtype, bool indices, const void* keys, void* out, void* scratch,
               std::int64_t rows, std::int64_t length);

}  // namespace heddle::runtime
