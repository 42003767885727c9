#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Copies a value from host memory to the thread's device. Errors contain the site.
NodeRef upload(const void* data, ir::Type type, const Site& site = {});
/// A value that reads host memory in place and keeps `owner` alive. If the thread's device cannot
/// access host memory, the value is copied.
NodeRef borrow(const void* data, ir::Type type, std::shared_ptr<const void> owner,
               const Site& site = {});
/// Copies the bytes of an evaluated array to host memory, in C order; waits for them.
std::vector<std::byte> download(const Node& node);
/// The same into the caller's memory. Throws DeviceError while a graph is captured from the stream.
void download_to(const Node& node, void* out);
/// The same on a stream of the array's device.
void download_to(const Node& node, void* out, const runtime::Stream& stream);
/// The values of computed 0-d i64 arrays; waits once for neighbours on one device.
std::vector<std::int64_t> download_integers(const std::vector<NodeRef>& nodes);
/// Enqueues the copy on a stream of the array's device. It is done when the stream is, if not
/// earlier. Captured into a graph, the copy is made at each launch.
void download_later(const Node& node, void* out, const runtime::Stream& stream);

/// The elements of a computed array in host memory; null for other arrays.
const std::byte* elements_on_host(const Node& node);

/// Converts `count` elements as astype does.
void convert(const void* from, DType from_dtype, void* to, DType to_dtype, std::size_t count);
/// A number rounded to a dtype.
double rounded(DType dtype, double value);

}  // namespace heddle::frontend
