#include "ir/interpreter/functions.h"
#include "ir/types/element.h"

namespace heddle::ir::interpreter {
namespace {

template <class From, class To>
void run_cast(const std::byte* const* operands, std::byte* result, std::size_t count) {
  const auto* from = reinterpret_cast<const From*>(operands[0]);
  auto* to = reinterpret_cast<To*>(result);
  for (std::size_t i = 0; i < count; ++i) to[i] = heddle_scalar::cast<To>(from[i]);
}

template <class T>
void run_iota(const std::byte* const*, std::byte* result, std::size_t count) {
  auto* to = reinterpret_cast<T*>(result);
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = heddle_scalar::cast<T>(static_cast<long long>(i));
  }
}

}  // namespace

ElementwiseFunction cast_function(DType from, DType to) {
  return with_element(from, [&]<class From>(std::type_identity<From>) {
    return with_element(to, []<class To>(std::type_identity<To>) -> ElementwiseFunction {
      return &run_cast<From, To>;
    });
  });
}

ElementwiseFunction iota_function(DType dtype) {
  return with_element(
      dtype, []<class T>(std::type_identity<T>) -> ElementwiseFunction { return &run_iota<T>; });
}

}  // namespace heddle::ir::interpreter
