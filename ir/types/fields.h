#pragma once

#include "ir/types/op.h"

namespace heddle::ir {

/// The fields of Attributes that an op uses; all others keep their default.
struct AttributeFields {
  bool axes = false;
  bool keepdims = false;
  bool shape = false;
  bool region = false;  ///< starts and steps
  bool dtype = false;
  bool bits = false;
  bool parameter = false;  ///< index and scalar
  bool call = false;
  bool result = false;  ///< index
};

constexpr AttributeFields fields_of(Op op, OpKind kind) {
  switch (op) {
    case Op::parameter:
      return {.shape = true, .dtype = true, .parameter = true};
    case Op::constant:
      return {.dtype = true, .bits = true};
    case Op::iota:
      return {.axes = true, .shape = true, .dtype = true};
    case Op::cast:
      return {.dtype = true};
    case Op::reshape:
    case Op::broadcast_to:
      return {.shape = true};
    case Op::transpose:
    case Op::concatenate:
      return {.axes = true};
    case Op::slice:
    case Op::slice_update:
      return {.shape = true, .region = true};
    case Op::gather:
      return {.axes = true};
    case Op::scatter_add:
    case Op::scatter_max:
      return {.axes = true, .shape = true};
    case Op::call:
      return {.call = true};
    case Op::result:
      return {.result = true};
    default:
      break;
  }
  if (kind == OpKind::scan) return {.axes = true};
  if (kind == OpKind::reduction) return {.axes = true, .keepdims = true};
  return {};
}

inline AttributeFields fields_of(Op op) { return fields_of(op, kind_of(op)); }

}  // namespace heddle::ir
