#pragma once

#include <cstddef>

#include "runtime/device/stream.h"

namespace heddle::runtime {

/// Memory that a copy captured from the stream reads at each launch of the graph. Memory of a
/// PinnedBlock is its own, so that its owner can feed new data to the graph; of other memory of the
/// host it is a copy. The graph keeps it. Throws OutOfMemory, DeviceError.
const void* kept_by_captured_graph(const void* from, std::size_t bytes, const Stream& stream);

}  // namespace heddle::runtime
