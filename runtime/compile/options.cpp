#include "runtime/compile/options.h"

#include <cstdint>

namespace heddle::runtime {

void hash_into(ir::Hasher& hasher, const CompileOptions& options, const Device& device) {
  hasher.number(static_cast<std::uint64_t>(device.kind))
      .number(static_cast<std::uint64_t>(device.ordinal));
  hasher.number(options.strict).number(options.approximate);
  for (const std::vector<bool>* flags : {&options.donated, &options.aligned}) {
    hasher.number(flags->size());
    for (const bool flag : *flags) hasher.number(flag);
  }
  hasher.number(static_cast<std::uint64_t>(options.host_level)).number(options.deferred);
  for (const std::string& name : options.disabled) hasher.bytes(name);
}

}  // namespace heddle::runtime
