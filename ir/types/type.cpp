#include "ir/types/type.h"

namespace heddle::ir {

std::string to_string(const Type& type) {
  return std::string(name_of(type.dtype)) + to_string(type.shape);
}

std::string describe(const Type& type) {
  return std::string(numpy_name_of(type.dtype)) + to_string(type.shape);
}

Dim byte_count(const Type& type) {
  return element_count(type.shape) * Dim(static_cast<std::int64_t>(size_of(type.dtype)));
}

void hash_into(Hasher& hasher, std::span<const Dim> dims) {
  hasher.number(dims.size());
  for (Dim dim : dims) {
    if (dim.is_constant()) {
      hasher.number(static_cast<std::uint64_t>(dim.constant()));
    } else {
      hasher.bytes(dim.to_string());
    }
  }
}

void hash_into(Hasher& hasher, const std::vector<std::int64_t>& integers) {
  hasher.number(integers.size());
  for (std::int64_t integer : integers) hasher.number(static_cast<std::uint64_t>(integer));
}

}  // namespace heddle::ir
