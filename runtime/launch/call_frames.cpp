#include "runtime/launch/call_frames.h"

namespace heddle::runtime {

BufferRef ProgramCallBuffers::allocate(std::size_t bytes, const Label& label) const {
  BufferRef memory = runtime::allocate(bytes, stream(), label);
  if (capture_.active()) capture_.keep({memory});
  return memory;
}

FallbackBuffers::FallbackBuffers(const CallBuffers& outer, const std::vector<std::size_t>& bytes,
                                 const Label& label)
    : CallBuffers(outer.stream()), outer_(outer) {
  for (const std::size_t each : bytes) buffers_.push_back(outer.allocate(each, label));
}

std::byte* FallbackBuffers::address(const passes::BufferRef& buffer) const {
  if (buffer.kind != passes::BufferRef::Kind::fallback) return outer_.address(buffer);
  return static_cast<std::byte*>(buffers_[buffer.index]->pointer());
}

}  // namespace heddle::runtime
