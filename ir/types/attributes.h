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

/// What an op needs beside its operands. Fields that an op does not name in ir/types/fields.h stay
/// default.
struct Attributes {
  std::vector<std::int64_t>
      axes;  ///< reductions (sorted, non-negative), scans, transpose, iota, concatenate
  bool keepdims = false;     ///< reductions
  Shape shape;               ///< reshape, broadcast_to, iota; the region of slice and slice_update
  std::vector<Dim> starts;   ///< slice, slice_update
  std::vector<Dim> steps;    ///< slice, slice_update; not 0, and of one sign for all symbols
  DType dtype = DType::f32;  ///< parameter, constant, iota, cast: the result's
  ElementBits bits;          ///< constant: the value
  std::uint32_t index = 0;   ///< parameter: its position; result: which of its call, from 1 on
  bool scalar = false;       ///< parameter: passed by value, 0-d
  CallRef call;              ///< call
  friend bool operator==(const Attributes&, const Attributes&) = default;
};
void hash_into(Hasher& hasher, const Attributes& attributes);
/// The op's name, or that of the call op.
std::string_view name_of(Op op, const Attributes& attributes);

}  // namespace heddle::ir
