#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// A value copied from host memory to the thread's device; errors name the place.
NodeRef upload(const void* data, ir::Type type, const Site& site = {});
/// A value that reads host memory where it lies, and holds `owner` meanwhile; where the thread's
/// device does not reach host memory, one copied from it.
NodeRef borrow(const void* data, ir::Type type, std::shared_ptr<const void> owner,
               const Site& site = {});
/// The bytes of an evaluated array in host memory, in C order; waits for them.
std::vector<std::byte> download(const Node& node);
/// The same into memory of the caller.
void download_to(const Node& node, void* out);

/// The elements of an array that is computed and lies in host memory; null for others.
const std::byte* elements_on_host(const Node& node);

/// Converts `count` elements as astype does.
void convert(const void* from, DType from_dtype, void* to, DType to_dtype, std::size_t count);
/// A number rounded to a dtype.
double rounded(DType dtype, double value);

}  // namespace heddle::frontend
