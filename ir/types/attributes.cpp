#include "ir/types/attributes.h"

namespace heddle::ir {

void hash_into(Hasher& hasher, const Attributes& attributes) {
  hash_into(hasher, attributes.axes);
  hash_into(hasher, attributes.shape);
  hash_into(hasher, attributes.starts);
  hash_into(hasher, attributes.steps);
  hasher.number(static_cast<std::uint64_t>(attributes.dtype));
  hasher.number(attributes.bits.low).number(attributes.bits.high);
  hasher.number(attributes.index);
  hasher.number(static_cast<std::uint64_t>(attributes.keepdims) |
                static_cast<std::uint64_t>(attributes.scalar) << 1);
  if (attributes.call) hasher.hash(attributes.call.hash());
}

std::string_view name_of(Op op, const Attributes& attributes) {
  return attributes.call ? attributes.call->op->name : info(op).name;
}

}  // namespace heddle::ir
