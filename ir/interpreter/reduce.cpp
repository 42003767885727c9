#include "ir/element.h"
#include "ir/interpreter/functions.h"

namespace heddle::ir::interpreter {
namespace {

/// Like counting in binary: partial[d] stands for 2^k elements, each k at most once, the larger
/// ones below. Only log2(length) states are kept.
template <class R, class T>
typename R::State reduce_row(const T* row, std::size_t length) {
  typename R::State partial[64];
  std::size_t depth = 0;
  for (std::size_t i = 0; i < length; ++i) {
    auto state = R::lift(row[i], static_cast<long long>(i));
    for (std::size_t carry = i; (carry & 1) != 0; carry >>= 1) {
      state = R::combine(partial[--depth], state);
    }
    partial[depth++] = state;
  }
  if (depth == 0) return R::identity();
  auto total = partial[--depth];
  while (depth > 0) total = R::combine(partial[--depth], total);
  return total;
}

template <class R, class T>
void run_reduce(const std::byte* operand, std::byte* result, std::size_t rows, std::size_t length) {
  const auto* from = reinterpret_cast<const T*>(operand);
  auto* to = reinterpret_cast<typename R::Result*>(result);
  for (std::size_t i = 0; i < rows; ++i) {
    to[i] = R::finish(reduce_row<R>(from + i * length, length));
  }
}

template <class T>
ReduceFunction reduce_function_of(Op op) {
  constexpr DTypeSet type = set_of(dtype_of<T>);
  switch (op) {
#define HD_REDUCTION(name, result, dtypes, numpy)            \
  case Op::name:                                             \
    if constexpr (((dtypes) & type) != 0) {                  \
      return &run_reduce<heddle_scalar::reduce::name<T>, T>; \
    } else {                                                 \
      return nullptr;                                        \
    }
#include "heddle/reductions.def"
#undef HD_REDUCTION
    default:
      return nullptr;
  }
}

}  // namespace

ReduceFunction reduce_function(Op op, DType dtype) {
  const ReduceFunction function = with_element(
      dtype, [op]<class T>(std::type_identity<T>) { return reduce_function_of<T>(op); });
  if (function == nullptr) {
    throw InternalError(fmt::format("{} has no meaning for {}", info(op).name, name_of(dtype)));
  }
  return function;
}

}  // namespace heddle::ir::interpreter
