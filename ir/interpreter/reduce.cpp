#include <algorithm>

#include "ir/interpreter/functions.h"
#include "ir/types/element.h"

namespace heddle::ir::interpreter {
namespace {

/// Combines in the order of host kernels (ir/scalar/reduce_tree.h), so that sums are bitwise equal
/// to theirs.
template <class R, class T>
typename R::State reduce_row(const T* row, std::size_t length) {
  namespace reduce = heddle_scalar::reduce;
  constexpr int bytes = sizeof(typename R::State), most_lanes = 64;
  constexpr std::size_t block_length = reduce::block_length(bytes);
  const int lanes = reduce::lanes_of(static_cast<long long>(length), bytes);
  reduce::Tree<R> tree;
  for (std::size_t block = 0; block < length; block += block_length) {
    typename R::State lane[most_lanes];
    for (auto& state : lane) state = R::identity();
    const std::size_t end = std::min(length, block + block_length);
    for (std::size_t i = block; i < end; ++i) {
      auto& state = lane[i % static_cast<std::size_t>(lanes)];
      state = R::combine(state, R::lift(row[i], static_cast<long long>(i)));
    }
    for (int turn = 0; turn < lanes; ++turn) tree.add(lane[reduce::lane_at(turn, lanes)]);
  }
  return tree.total();
}

template <class R, class T>
typename R::State reduce_column(const T* column, std::size_t length, std::size_t run_length) {
  heddle_scalar::reduce::Tree<R> tree;
  for (std::size_t run = 0; run < length; run += run_length) {
    auto state = R::identity();
    for (std::size_t i = run; i < std::min(length, run + run_length); ++i)
      state = R::combine(state, R::lift(column[i], static_cast<long long>(i)));
    tree.add(state);
  }
  return tree.total();
}

template <class R, class T>
void run_reduce(const std::byte* operand, std::byte* result, std::size_t rows, std::size_t length,
                std::size_t run_length) {
  const auto* from = reinterpret_cast<const T*>(operand);
  auto* to = reinterpret_cast<typename R::Result*>(result);
  for (std::size_t i = 0; i < rows; ++i, from += length) {
    to[i] = R::finish(run_length > 0 ? reduce_column<R>(from, length, run_length)
                                     : reduce_row<R>(from, length));
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
    throw InternalError(fmt::format("{} is not defined for {}", info(op).name, name_of(dtype)));
  }
  return function;
}

}  // namespace heddle::ir::interpreter
