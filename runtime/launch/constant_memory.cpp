#include "runtime/launch/constant_memory.h"

#include "heddle/error.h"

namespace heddle::runtime {

ConstantMemory::ConstantMemory(const ConstantActions& constants, const Stream& stream)
    : constants_(constants),
      held_(allocate(static_cast<std::size_t>(constants.held.bytes), stream, constants.label)),
      scratch_(
          allocate(static_cast<std::size_t>(constants.scratch.bytes), stream, constants.label)) {}

std::byte* ConstantMemory::address(const passes::BufferRef& reference) const {
  if (reference.kind != passes::BufferRef::Kind::temporary)
    throw InternalError("a constant action uses memory of a call");
  const bool is_result = constants_.results[reference.index];
  const passes::Arena& arena = is_result ? constants_.held : constants_.scratch;
  return static_cast<std::byte*>((is_result ? held_ : scratch_)->pointer()) +
         arena.offsets[reference.index];
}

const ir::ElementBits& ConstantMemory::scalar(std::uint32_t) const {
  throw InternalError("a constant action reads a scalar of a call");
}

}  // namespace heddle::runtime
