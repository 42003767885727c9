#pragma once

#include <cstdint>

#include "heddle/dtype.h"

namespace heddle::runtime {

/// Sorts each of `rows` rows of `length` keys into `out`, as ir::calls::sort defines. With
/// `indices`, `out` receives int64 indices instead, as ir::calls::argsort defines. `scratch` is as
/// large as `out`, or with `indices` has passes::scratch_bytes. Rows, and parts of a long row, are
/// sorted on several threads. Throws InternalError for a dtype without an order.
void sort_rows(DType dtype, bool indices, const void* keys, void* out, void* scratch,
               std::int64_t rows, std::int64_t length);

}  // namespace heddle::runtime
