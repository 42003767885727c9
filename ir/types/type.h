#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heddle/dtype.h"

#include "ir/base/hash.h"
#include "ir/types/shape.h"

namespace heddle::ir {

struct Type {
  DType dtype;
  Shape shape;
  friend bool operator==(const Type&, const Type&) = default;
};
/// "f32[n,64]", as in a graph's text form.
std::string to_string(const Type& type);
/// "float32[n,64]", as in messages to the user.
std::string describe(const Type& type);
/// Size of the array in bytes. Throws ShapeError if a constant product overflows.
Dim byte_count(const Type& type);

void hash_into(Hasher& hasher, std::span<const Dim> dims);
void hash_into(Hasher& hasher, const std::vector<std::int64_t>& integers);

}  // namespace heddle::ir
