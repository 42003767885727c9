#include <algorithm>
#include <numeric>

#include "ir/element.h"
#include "ir/interpreter/functions.h"

namespace heddle::ir::interpreter {
namespace {

template <class T>
void run_sort(const std::byte* operand, std::byte* result, std::size_t rows, std::size_t length) {
  const T* from = reinterpret_cast<const T*>(operand);
  T* to = reinterpret_cast<T*>(result);
  std::copy_n(from, rows * length, to);
  for (std::size_t row = 0; row < rows; ++row, to += length) {
    std::stable_sort(to, to + length, heddle_scalar::precedes<T>);
  }
}

template <class T>
void run_argsort(const std::byte* operand, std::byte* result, std::size_t rows,
                 std::size_t length) {
  const T* from = reinterpret_cast<const T*>(operand);
  auto* to = reinterpret_cast<long long*>(result);
  for (std::size_t row = 0; row < rows; ++row, from += length, to += length) {
    std::iota(to, to + length, 0LL);
    std::stable_sort(to, to + length, [from](long long a, long long b) {
      return heddle_scalar::precedes(from[a], from[b]);
    });
  }
}

template <class T, bool right>
void run_search(const std::byte* sorted, std::size_t length, const std::byte* values,
                std::byte* result, std::size_t count) {
  const T* from = reinterpret_cast<const T*>(sorted);
  const T* value = reinterpret_cast<const T*>(values);
  auto* places = reinterpret_cast<long long*>(result);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* end = from + length;
    const T* place = right ? std::upper_bound(from, end, value[i], heddle_scalar::precedes<T>)
                           : std::lower_bound(from, end, value[i], heddle_scalar::precedes<T>);
    places[i] = place - from;
  }
}

}  // namespace

SearchFunction search_function(Op op, DType dtype) {
  return with_element(dtype, [op]<class T>(std::type_identity<T>) -> SearchFunction {
    return op == Op::searchsorted_right ? &run_search<T, true> : &run_search<T, false>;
  });
}

SortFunction sort_function(Op op, DType dtype) {
  return with_element(dtype, [op]<class T>(std::type_identity<T>) -> SortFunction {
    return op == Op::argsort ? &run_argsort<T> : &run_sort<T>;
  });
}

}  // namespace heddle::ir::interpreter
