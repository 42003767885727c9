#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heddle/dtype.h"

#include "ir/base/hash.h"
#include "ir/types/bits.h"
#include "ir/types/call.h"
#include "ir/types/type.h"

namespace heddle::ir {

/// The parameters of an op other than its operands. Fields that ir/types/fields.h does not list for
/// an op keep their default.
struct Attributes {
  std::vector<std::int64_t> axes;  ///< reductions (sorted, non-negative), scans, transpose, iota,
                                   ///< concatenate, gather, scatters
  bool keepdims = false;           ///< reductions
  Shape shape;                     ///< reshape, broadcast_to, iota, scatters; region of slice,
                                   ///< slice_update
  Dims starts;                     ///< slice, slice_update
  Dims steps;                ///< slice, slice_update; not 0, and of one sign for all values of the
                             ///< symbols
  DType dtype = DType::f32;  ///< parameter, constant, iota, cast: the result's dtype
  ElementBits bits;          ///< constant: the value
  std::uint32_t index = 0;   ///< parameter: its position; result: which result of its call, from 1
  bool scalar = false;       ///< parameter: passed by value, 0-d
  CallRef call;              ///< call
  friend bool operator==(const Attributes&, const Attributes&) = default;
};
void hash_into(Hasher& hasher, const Attributes& attributes);
/// The op's name; for a call, the name of its call op.
std::string_view name_of(Op op, const Attributes& attributes);

}  // namespace heddle::ir
