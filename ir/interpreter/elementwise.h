#pragma once

#include <utility>

#include "ir/interpreter/functions.h"
#include "ir/types/element.h"

// The elementwise ops on operands of type T. Each elementwise_*.cpp instantiates them for a few
// dtypes.

namespace heddle::ir::interpreter {

#define HD_OP(name, ...)                       \
  struct call_##name {                         \
    template <class... T>                      \
    static auto call(T... operands) {          \
      return heddle_scalar::name(operands...); \
    }                                          \
  };
#include "heddle/ops.def"
#undef HD_OP

template <class T>
const T* elements(const std::byte* data) {
  return reinterpret_cast<const T*>(data);
}

template <class Call, class T, std::size_t... k>
void run_draw(const std::byte* const* operands, std::byte* result, std::size_t count,
              std::index_sequence<k...>) {
  const auto* key = elements<unsigned long long>(operands[0]);
  const auto* number = elements<unsigned long long>(operands[1]);
  T* r = reinterpret_cast<T*>(result);
  for (std::size_t i = 0; i < count; ++i)
    r[i] = Call::call(key[i], number[i], elements<T>(operands[2 + k])[i]...);
}

template <class Call, int arity, TypeRule rule, class T>
void run_elementwise(const std::byte* const* operands, std::byte* result, std::size_t count) {
  using A = std::conditional_t<rule == TypeRule::select, bool, T>;
  using B = std::conditional_t<rule == TypeRule::load_exponent, int, T>;
  const A* a = elements<A>(operands[0]);
  if constexpr (rule == TypeRule::draw) {
    run_draw<Call, T>(operands, result, count, std::make_index_sequence<arity - 2>());
  } else if constexpr (arity == 1) {
    auto* r = reinterpret_cast<decltype(Call::call(a[0]))*>(result);
    for (std::size_t i = 0; i < count; ++i) r[i] = Call::call(a[i]);
  } else if constexpr (arity == 2) {
    const B* b = elements<B>(operands[1]);
    auto* r = reinterpret_cast<decltype(Call::call(a[0], b[0]))*>(result);
    for (std::size_t i = 0; i < count; ++i) r[i] = Call::call(a[i], b[i]);
  } else {
    static_assert(arity == 3);
    const T* b = elements<T>(operands[1]);
    const T* c = elements<T>(operands[2]);
    auto* r = reinterpret_cast<T*>(result);
    for (std::size_t i = 0; i < count; ++i) r[i] = Call::call(a[i], b[i], c[i]);
  }
}

/// Null if the op's table does not allow T.
template <class T>
ElementwiseFunction elementwise_function_of(Op op) {
  constexpr DTypeSet type = set_of(dtype_of<T>);
  switch (op) {
#define HD_OP(name, arity, rule, dtypes, ...)                         \
  case Op::name:                                                      \
    if constexpr (((dtypes) & type) != 0) {                           \
      return &run_elementwise<call_##name, arity, TypeRule::rule, T>; \
    } else {                                                          \
      return nullptr;                                                 \
    }
#include "heddle/ops.def"
#undef HD_OP
    default:
      return nullptr;
  }
}

ElementwiseFunction boolean_function(Op op);
ElementwiseFunction signed_function(Op op, DType dtype);
ElementwiseFunction unsigned_function(Op op, DType dtype);
ElementwiseFunction half_function(Op op, DType dtype);
ElementwiseFunction float_function(Op op, DType dtype);
ElementwiseFunction complex_function(Op op, DType dtype);

}  // namespace heddle::ir::interpreter
